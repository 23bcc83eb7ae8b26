//! The verbs of the presence room, one file and one transaction each, and the functions they share:
//! identifying projects, telling live agents from gone ones.

mod activity;
mod caller;
mod free_name;
mod hook_session;
mod join;
mod last_heard;
mod leave;
mod project;
mod rename;
mod replacement;
mod roster;
mod start;
mod stuck;
mod who;

pub(crate) use caller::require_confirmed;
pub(crate) use caller::require_person;
pub(crate) use caller::who_calls;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::PlacedDirectory;
use crate::host::RootCommit;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages;
use crate::presence::Agent;
use crate::presence::AgentView;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::presence::belongings::Belongings;
use crate::presence::rules;
use crate::project::Project;
use crate::project::ProjectId;
use crate::project::normalise_origin;
use crate::side_files::SideFiles;

/// A project, as far as it can be identified.
pub(super) struct Identified {
    pub(super) project: Project,
    /// Whether the project was never seen before and is certain, so that it can be recorded.
    pub(super) is_news: bool,
}

/// Identifies the project of a place. May start `git`, so do not call this while holding the write lock.
pub(super) fn identify(
    host: &dyn Host,
    store: &dyn PresenceStore,
    place: &PlacedDirectory,
) -> Result<Identified, StoreError> {
    if let Some(project) = store.project_of(&place.repository)? {
        return Ok(Identified { project, is_news: false });
    }
    let has_address = place.origin.as_deref().and_then(normalise_origin).is_some();
    let root_commit = match place.is_git && !has_address {
        true => host.root_commit(&place.worktree),
        false => RootCommit::Absent,
    };
    let is_news = root_commit != RootCommit::Unknown;
    Ok(Identified { project: by_facts(place, root_commit), is_news })
}

fn by_facts(place: &PlacedDirectory, root_commit: RootCommit) -> Project {
    // The project is named after the main worktree, not after a side worktree.
    let main = match place.repository.parent() {
        Some(main) if place.repository.ends_with(".git") => main,
        _ => &place.worktree,
    };
    let root_commit = match root_commit {
        RootCommit::Found(commit) => Some(commit),
        RootCommit::Absent | RootCommit::Unknown => None,
    };
    Project::identify(place.origin.as_deref(), root_commit.as_deref(), main)
}

impl App {
    /// Records the projects of these directories that were never seen before. Verbs do this first, because it
    /// may run `git`, which must not happen while others wait for the write lock.
    pub(crate) fn settle_projects(
        &mut self,
        dirs: impl IntoIterator<Item = PathBuf>,
    ) -> Result<(), StoreError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        for dir in dirs {
            let place = self.host.place(&dir);
            if seen.contains(&place.repository) {
                continue;
            }
            seen.push(place.repository.clone());
            let Identified { project, is_news } = identify(&*self.host, &*self.engine.read()?, &place)?;
            if is_news {
                let now = self.host.now();
                let tx = self.engine.write()?;
                if tx.project_of(&place.repository)?.is_none() {
                    let (id, host) = (project.id.clone(), &*self.host);
                    let seen = vec![repository_seen(host, place.repository, project)];
                    Self::conclude(host, tx, now, Some(id), Actor::Consort, seen)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the project of a directory without running `git`, for a caller that holds the write lock.
pub(crate) fn project_without_git(
    host: &dyn Host,
    store: &dyn PresenceStore,
    dir: &Path,
) -> Result<ProjectId, StoreError> {
    let place = host.place(dir);
    let settled = store.project_of(&place.repository)?;
    // A project that could not be identified for certain is identified by its path for now.
    Ok(settled.unwrap_or_else(|| by_facts(&place, RootCommit::Unknown)).id)
}

/// Reads the holds, task and unread letters of a session.
fn belongings(tx: &dyn Tx, session: &SessionId) -> Result<Belongings, StoreError> {
    let mailbox = Actor::Agent(session.clone());
    let unread = tx.unread(&mailbox)?;
    Ok(Belongings {
        owner: session.clone(),
        holds: tx.holds_of(&mailbox)?,
        task: tx.task_of(session)?,
        unread: unread.iter().map(|letter| letter.message.id).collect(),
    })
}

/// Returns the changes that give an agent the letters addressed to its name that wait for gone agents of that
/// name in its project.
fn left_for(tx: &dyn Tx, agent: &Agent) -> Result<Vec<Change>, StoreError> {
    let to = Actor::Agent(agent.session.clone());
    let is_kin = |gone: &Agent| gone.project.id == agent.project.id && gone.session != agent.session;
    let mut changes = Vec::new();
    for gone in tx.gone_by_name(agent.name.as_str())?.into_iter().filter(is_kin) {
        let from = Actor::Agent(gone.session);
        let letters = messages::meant_for_the_name(&tx.unread(&from)?);
        changes.extend(messages::inherited(from, to.clone(), letters));
    }
    Ok(changes)
}

fn repository_seen(host: &dyn Host, repository: PathBuf, project: Project) -> Change {
    let machine = host.name();
    Change::Presence(PresenceChange::RepositorySeen { machine, repository, project })
}

/// Splits agents into live and gone: by their process if it can be seen from here, else by when the agent was
/// last known to live.
pub(crate) fn partition_alive(
    host: &dyn Host,
    files: &dyn SideFiles,
    mut present: Vec<Agent>,
) -> (Vec<Agent>, Vec<(Agent, LeaveReason)>) {
    let now = host.now();
    // One process may host many sessions: check each process once.
    let mut asked: BTreeMap<u32, (String, bool)> = BTreeMap::new();
    let mut why_gone = |agent: &Agent| {
        if host.is_here(&agent.location.machine) {
            let process = &agent.location.process;
            let lives = match asked.get(&process.pid) {
                Some((start, lives)) if *start == process.start => *lives,
                _ => {
                    let lives = host.is_alive(process);
                    asked.insert(process.pid, (process.start.clone(), lives));
                    lives
                }
            };
            (!lives).then_some(LeaveReason::Died)
        } else if let Some(lives) = host.is_alive_elsewhere(&agent.location.machine, &agent.location.process)
        {
            (!lives).then_some(LeaveReason::Died)
        } else {
            let renewed = files.last_alive(&agent.session).unwrap_or(agent.joined_at);
            (now.since(renewed) >= rules::SILENCE).then_some(LeaveReason::Silent)
        }
    };
    let mut reasons = Vec::new();
    let is_gone = |agent: &mut Agent| {
        let reason = why_gone(agent);
        reasons.extend(reason);
        reason.is_some()
    };
    let gone: Vec<Agent> = present.extract_if(.., is_gone).collect();
    (present, gone.into_iter().zip(reasons).collect())
}

/// Tells whether an agent is alive, by the rules of [`partition_alive`].
pub(crate) fn is_alive(host: &dyn Host, files: &dyn SideFiles, agent: &Agent) -> bool {
    partition_alive(host, files, vec![agent.clone()]).1.is_empty()
}

/// Returns a test that tells of a session whether it left before `before`, or is no longer recorded.
pub(crate) fn gone_before(
    store: &dyn PresenceStore,
    before: Timestamp,
) -> Result<impl Fn(&SessionId) -> Result<bool, StoreError> + '_, StoreError> {
    let left: BTreeSet<SessionId> = store.left_before(before)?.into_iter().collect();
    Ok(move |session: &SessionId| Ok(left.contains(session) || store.agent(session)?.is_none()))
}

/// Returns the views of agents: with their last reported activity, and the branches checked out now.
pub(crate) fn agent_views(host: &dyn Host, files: &dyn SideFiles, agents: Vec<Agent>) -> Vec<AgentView> {
    // Many agents may be in one worktree: look up its branch once.
    let mut branches: BTreeMap<OsString, Option<String>> = BTreeMap::new();
    let see = |mut agent: Agent| {
        if host.is_here(&agent.location.machine) {
            let worktree = &agent.location.worktree;
            // Keyed by bytes: comparing paths part by part would take longer than all the rest.
            let now = match branches.get(worktree.as_os_str()) {
                Some(known) => known.clone(),
                None => {
                    let now = host.branch(worktree);
                    branches.insert(worktree.as_os_str().to_owned(), now.clone());
                    now
                }
            };
            agent.branch = now.or(agent.branch);
        }
        let activity = files.activity(&agent.session);
        rules::see(agent, activity)
    };
    agents.into_iter().map(see).collect()
}

/// Returns the changes that drop the records of sessions that left before `before`.
pub(crate) fn forget_before(store: &dyn PresenceStore, before: Timestamp) -> Result<Vec<Change>, StoreError> {
    let sessions = store.left_before(before)?.into_iter();
    Ok(sessions.map(|session| Change::Presence(PresenceChange::Forgotten { session })).collect())
}

pub(super) fn random_number(host: &dyn Host) -> u64 {
    host.random().iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
