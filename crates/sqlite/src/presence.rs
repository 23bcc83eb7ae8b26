//! SQL of the presence room: `agents`, and the repositories among the facts. The current activity of
//! agents is not in the database.

use std::borrow::Cow;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::host::Process;
use consort_core::presence::Agent;
use consort_core::presence::LeaveReason;
use consort_core::presence::Location;
use consort_core::presence::PresenceChange;
use consort_core::presence::PresenceStore;
use consort_core::presence::SessionId;
use consort_core::presence::Terminal;
use consort_core::project::Project;
use consort_core::project::ProjectId;
use consort_core::side_files::escaped;
use consort_core::side_files::unescaped;
use consort_core::tasks::SpecRef;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;
use rusqlite::params;
use rusqlite::types::ValueRef;
use serde::Deserialize;
use serde::Serialize;

use crate::SqliteTx;
use crate::apply::Subject;
use crate::apply::json;
use crate::apply::parse;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;

/// The columns of an agent.
const AGENT: &str = "session, name, pid, rest, left_at, left_reason";
const PID: usize = 2;
const REST: usize = 3;
const LEFT_AT: usize = 4;
const LEFT_REASON: usize = 5;

pub(crate) const REPOSITORY: &str = "repository";

/// The data that few agents have.
#[derive(Default, PartialEq, Serialize, Deserialize)]
struct More {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec: Option<SpecRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spec_file: Option<PathBuf>,
    #[serde(default)]
    terminal: Terminal,
}

pub(crate) fn apply(connection: &Connection, at: Timestamp, change: &PresenceChange) -> rusqlite::Result<()> {
    match change {
        PresenceChange::RepositorySeen { repository, project, .. } => {
            let path = path_text(repository);
            if project_of(connection, &path)?.is_none() {
                facts::put(connection, REPOSITORY, &path, project.id.as_str(), &project.name)?;
            }
            Ok(0)
        }
        PresenceChange::Joined(agent) => put(connection, agent),
        PresenceChange::Renamed { session, name, .. } => connection
            .execute("UPDATE agents SET name = ?2 WHERE session = ?1", [session.as_str(), name.as_str()]),
        PresenceChange::Left { session, reason } => connection
            .prepare_cached("UPDATE agents SET left_at = ?2, left_reason = ?3 WHERE session = ?1")?
            .execute(params![session.as_str(), at.0, json(reason)?]),
        PresenceChange::Forgotten { session } => {
            connection.execute("DELETE FROM agents WHERE session = ?1", [session.as_str()])
        }
    }
    .map(drop)
}

pub(crate) fn put(connection: &Connection, agent: &Agent) -> rusqlite::Result<usize> {
    let Location { machine, process, cwd, worktree, terminal, spec_file } = agent.location.clone();
    let more = More { spec: agent.spec.clone(), spec_file, terminal };
    let (cwd, worktree) = (path_text(&cwd), path_text(&worktree));
    let more = if more == More::default() { String::new() } else { json(&more)? };
    let or_nothing = |text: &Option<String>| text.clone().unwrap_or_default();
    // The cells in the order in which `read_agent` takes them.
    let rest = join_cells(vec![
        &agent.kind,
        agent.project.id.as_str(),
        &agent.project.name,
        &or_nothing(&agent.branch),
        &or_nothing(&agent.model),
        &agent.joined_at.0.to_string(),
        &machine,
        &process.start,
        &or_nothing(&process.tty),
        &process.program,
        &cwd,
        &worktree,
        &more,
    ]);
    connection.prepare_cached("REPLACE INTO agents VALUES (?1, ?2, ?3, ?4, NULL, NULL)")?.execute(params![
        agent.session.as_str(),
        agent.name.as_str(),
        process.pid,
        rest
    ])
}

/// Joins into one text the data of an agent that is only ever read as a whole: a hook at the start of a
/// session reads that of every agent.
pub(crate) fn join_cells(cells: Vec<&str>) -> String {
    cells.into_iter().map(escaped).collect::<Vec<_>>().join("\t")
}

/// Returns the row that a change is about.
pub(crate) fn subject(change: &PresenceChange) -> Subject {
    match change {
        PresenceChange::RepositorySeen { repository, .. } => ("repositories", path_text(repository)),
        PresenceChange::Joined(agent) => ("agents", agent.session.to_string()),
        PresenceChange::Renamed { session, .. }
        | PresenceChange::Left { session, .. }
        | PresenceChange::Forgotten { session } => ("agents", session.to_string()),
    }
}

pub(crate) fn present(connection: &Connection) -> rusqlite::Result<Vec<Agent>> {
    let sql = format!("SELECT {AGENT} FROM agents WHERE left_at IS NULL");
    // Room for most: a list that grows is copied again and again, and agents are large.
    let mut agents = Vec::with_capacity(64);
    for agent in connection.prepare_cached(&sql)?.query_map([], read_agent)? {
        agents.push(agent?);
    }
    Ok(agents)
}

impl PresenceStore for SqliteTx<'_> {
    fn present(&self) -> Result<Vec<Agent>, StoreError> {
        self.ask(present)
    }

    fn left_since(
        &self,
        since: Timestamp,
        most: usize,
    ) -> Result<Vec<(Agent, Timestamp, LeaveReason)>, StoreError> {
        let sql = format!("SELECT {AGENT} FROM agents WHERE left_at >= ?1 ORDER BY left_at DESC LIMIT ?2");
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| {
            let reason = read_reason(row)?.unwrap_or(LeaveReason::Ended);
            Ok((read_agent(row)?, Timestamp(row.get(LEFT_AT)?), reason))
        };
        self.ask(|tx| tx.prepare(&sql)?.query_map([since.0, most], read)?.collect())
    }

    fn left_before(&self, before: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let sql = "SELECT session FROM agents WHERE left_at < ?1 ORDER BY session";
        let read = |row: &Row<'_>| Ok(row.get::<_, String>(0)?.into());
        self.ask(|tx| tx.prepare(sql)?.query_map([before.0], read)?.collect())
    }

    fn agent(&self, session: &SessionId) -> Result<Option<(Agent, Option<LeaveReason>)>, StoreError> {
        let sql = format!("SELECT {AGENT} FROM agents WHERE session = ?1");
        let read = |row: &Row<'_>| Ok((read_agent(row)?, read_reason(row)?));
        self.ask(|tx| tx.prepare_cached(&sql)?.query_row([session.as_str()], read).optional())
    }

    fn by_name(&self, name: &str) -> Result<Option<Agent>, StoreError> {
        let sql = format!("SELECT {AGENT} FROM agents WHERE name = ?1 AND left_at IS NULL");
        self.ask(|tx| tx.prepare_cached(&sql)?.query_row([name], read_agent).optional())
    }

    fn gone_by_name(&self, name: &str) -> Result<Vec<Agent>, StoreError> {
        let sql = format!(
            "SELECT {AGENT} FROM agents WHERE name = ?1 AND left_at IS NOT NULL ORDER BY left_at, session"
        );
        self.ask(|tx| tx.prepare_cached(&sql)?.query_map([name], read_agent)?.collect())
    }

    fn by_pids(&self, pids: &[u32]) -> Result<Vec<(Agent, bool)>, StoreError> {
        // A handful of rows, all in one index: a scan beats another index that every join would maintain.
        // A bit for each process id, modulo 64, sifts out nearly all rows at the price of one short
        // statement.
        let sieve = pids.iter().fold(0i64, |sieve, pid| sieve | 1 << (pid & 63));
        let sql = format!("SELECT {AGENT} FROM agents WHERE (?1 >> (pid & 63)) & 1");
        self.ask(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            let (mut rows, mut agents) = (statement.query([sieve])?, Vec::new());
            while let Some(row) = rows.next()? {
                let is_here = row.get_ref(LEFT_AT)? == ValueRef::Null;
                if pids.contains(&row.get(PID)?) && (is_here || read_reason(row)? == Some(LeaveReason::Asked))
                {
                    agents.push((read_agent(row)?, is_here));
                }
            }
            Ok(agents)
        })
    }

    fn repositories(&self, project: &ProjectId) -> Result<Vec<PathBuf>, StoreError> {
        let read = |fact: &Fact<'_>| Ok((fact.owner()? == project.as_str()).then_some(fact.key()?.into()));
        self.ask(|tx| facts::list(tx, REPOSITORY, Keys::All, read))
    }

    fn project_of(&self, repository: &Path) -> Result<Option<Project>, StoreError> {
        self.ask(|tx| project_of(tx, &path_text(repository)))
    }

    fn projects(&self) -> Result<Vec<Project>, StoreError> {
        let mut projects = self.ask(|tx| facts::list(tx, REPOSITORY, Keys::All, read_project))?;
        projects.sort_by(|one, other| (&one.id, &one.name).cmp(&(&other.id, &other.name)));
        projects.dedup();
        Ok(projects)
    }
}

fn read_agent(row: &Row<'_>) -> rusqlite::Result<Agent> {
    let mut rest = row.get_ref(REST)?.as_str()?;
    let is_escaped = rest.contains('%');
    let mut next = || {
        // Most cells are a few bytes long: `split` takes three times as long to find their ends.
        let end = rest.bytes().position(|byte| byte == b'\t').unwrap_or(rest.len());
        let cell = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        if is_escaped { unescaped(cell) } else { cell.into() }
    };
    let some = |cell: Cow<'_, str>| (!cell.is_empty()).then(|| cell.into_owned());
    let (kind, project, project_name) = (next().into_owned(), next().into_owned(), next().into_owned());
    let (branch, model, joined_at) = (some(next()), some(next()), next().parse().unwrap_or_default());
    let (machine, start) = (next().into_owned(), next().into_owned());
    let (tty, program) = (some(next()), next().into_owned());
    let (cwd, worktree, more) = (next().into_owned(), next().into_owned(), next());
    let more = match &*more {
        "" => More::default(),
        more => parse(more, REST)?,
    };
    let More { spec, spec_file, terminal } = more;
    Ok(Agent {
        session: row.get::<_, String>(0)?.into(),
        name: row.get::<_, String>(1)?.into(),
        kind,
        project: Project { id: project.into(), name: project_name },
        branch,
        model,
        joined_at: Timestamp(joined_at),
        spec,
        location: Location {
            machine,
            process: Process { pid: row.get(PID)?, start, tty, program },
            cwd: cwd.into(),
            worktree: worktree.into(),
            terminal,
            spec_file,
        },
    })
}

fn project_of(connection: &Connection, repository: &str) -> rusqlite::Result<Option<Project>> {
    Ok(facts::list(connection, REPOSITORY, Keys::Is(repository), read_project)?.pop())
}

fn read_project(fact: &Fact<'_>) -> rusqlite::Result<Option<Project>> {
    Ok(Some(Project { id: fact.owner()?.into(), name: fact.value()?.to_owned() }))
}

fn read_reason(row: &Row<'_>) -> rusqlite::Result<Option<LeaveReason>> {
    // A reason that only a newer consort knows counts as an end.
    let reason = row.get_ref(LEFT_REASON)?.as_str_or_null()?;
    Ok(reason.map(|text| parse(text, LEFT_REASON).unwrap_or(LeaveReason::Ended)))
}

/// Makes a path the text that is stored; a path that is not UTF-8 gets its lossy spelling.
fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
