//! Connecting agent CLIs: changing their settings, and giving them back.
//!
//! Other people's files: merged, never rewritten; replaced in one step, never
//! half written; and what was there before is kept. **What `init` changed,
//! `uninit` gives back byte for byte, if nobody else changed it since.**

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_agents::Connection;
use consort_agents::Level;
use consort_agents::Part;
use consort_agents::Piece;
use consort_agents::SettingsError;
use consort_core::explain::Explain;
use consort_core::explain::Kind;
use consort_core::text;
use consort_host::env;
use serde::Serialize;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

/// What a record holds: the file from before, or that there was none and which
/// directory was made for it, and what we made of it.
const ORIGINAL: &str = "original";
const NO_ORIGINAL: &str = "no-original";
const WRITTEN: &str = "written";

/// How one agent CLI stands to us at one level.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Standing {
    pub(crate) kind: &'static str,
    pub(crate) title: &'static str,
    /// Where its program is, if it is on `PATH`.
    pub(crate) program: Option<PathBuf>,
    pub(crate) user: State,
    pub(crate) project: State,
    /// Whether its sessions can call our MCP server.
    pub(crate) mcp: bool,
    /// Where its settings are, for the user and in this project.
    pub(crate) files: [PathBuf; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Absent,
    Outdated,
    /// Connected, but the CLI is told to run no hooks.
    SwitchedOff,
    Current,
    /// The settings cannot be understood.
    Malformed(String),
}

impl Standing {
    /// The file that only a person can mend.
    pub(crate) fn to_be_edited(&self) -> Option<&Path> {
        let is_in_the_way = |state: &State| matches!(state, State::Malformed(_) | State::SwitchedOff);
        let states = [&self.user, &self.project];
        states.iter().position(|state| is_in_the_way(state)).map(|at| self.files[at].as_path())
    }

    /// Neither installed nor connected.
    pub(crate) fn is_missing(&self) -> bool {
        self.program.is_none() && self.user == State::Absent && self.project == State::Absent
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.user == State::Current || self.project == State::Current
    }

    fn and_mcp(&self) -> &'static str {
        if self.mcp { ", with MCP" } else { "" }
    }

    pub(crate) fn sentence(&self) -> String {
        match (&self.program, &self.user, &self.project) {
            (_, State::Malformed(why), _) | (_, _, State::Malformed(why)) => {
                format!("its settings cannot be understood: {why}")
            }
            (_, State::SwitchedOff, _) | (_, _, State::SwitchedOff) => {
                "connected, but its settings switch all hooks off".into()
            }
            (_, State::Current, _) => format!("connected{}", self.and_mcp()),
            (_, _, State::Current) => format!("connected in this project{}", self.and_mcp()),
            (_, State::Outdated, _) => {
                "connected to a consort elsewhere or of another version: `consort init` renews it".into()
            }
            (_, _, State::Outdated) => {
                "connected to a consort elsewhere or of another version: `consort init --project` renews it"
                    .into()
            }
            (Some(_), ..) => "not connected: `consort init` connects it".into(),
            (None, ..) => "not installed".into(),
        }
    }
}

/// How every known agent CLI stands to us.
pub(crate) fn standings(world: &World, worktree: &Path) -> Vec<Standing> {
    let state = |piece: &Piece, level: Level<'_>| {
        let (ours, path, wiring) = (hook_program(level), resolve(&piece.file), &piece.wiring);
        let text = match read(&path) {
            Ok(text) => text.filter(|text| !text.trim().is_empty()),
            Err(error) => {
                return State::Malformed(error.render().lines().take(2).collect::<Vec<_>>().join("; "));
            }
        };
        let Some(text) = text else { return State::Absent };
        // What could not be connected is worth knowing before it is tried.
        let found = wiring.connection(&text, &ours);
        match found.and_then(|found| wiring.connect(Some(&text), &ours).map(|_| found)) {
            Ok(Connection::Absent) => State::Absent,
            Ok(Connection::Outdated) => State::Outdated,
            Ok(Connection::SwitchedOff) => State::SwitchedOff,
            Ok(Connection::Current) => State::Current,
            Err(error) => State::Malformed(format!("{}, {error}", path.display())),
        }
    };
    consort_agents::ALL
        .iter()
        .map(|cli| {
            let config_dir = world.config_dir(*cli);
            let levels = [Level::User(&config_dir), Level::Project(worktree)];
            let hooks = levels.map(|level| cli.hooks(level));
            let files = [resolve(&hooks[0].file), resolve(&hooks[1].file)];
            let is_there =
                |piece: &Piece, level| matches!(state(piece, level), State::Current | State::Outdated);
            let mcp = |level| cli.mcp(level).is_some_and(|piece| is_there(&piece, level));
            Standing {
                kind: cli.kind(),
                title: cli.title(),
                program: find_program(cli.program()),
                user: state(&hooks[0], levels[0]),
                // In one's home they are one file.
                project: if files[0] == files[1] { State::Absent } else { state(&hooks[1], levels[1]) },
                mcp: levels.into_iter().any(mcp),
                files,
            }
        })
        .collect()
}

/// A settings file, and what it is about to become.
pub(crate) struct Plan {
    /// The file itself: a link among someone's dotfiles stays a link.
    pub(crate) path: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// What `uninit` is to give back.
    original: Option<String>,
    record: PathBuf,
    pub(crate) is_for_project: bool,
}

impl Plan {
    pub(crate) fn changes_nothing(&self) -> bool {
        self.before == self.after
    }

    /// What would change, as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let (before, after) = (self.before.as_deref().unwrap_or(""), self.after.as_deref().unwrap_or(""));
        let name = self.path.display().to_string();
        let old = if self.before.is_some() { name.as_str() } else { "/dev/null" };
        let new = if self.after.is_some() { name.as_str() } else { "/dev/null" };
        similar::TextDiff::from_lines(before, after).unified_diff().header(old, new).to_string()
    }

    /// Makes it so, unless the file changed since it was read.
    pub(crate) fn carry_out(&self) -> CommandResult {
        if read(&self.path)? != self.before {
            return Err(CommandError::user(
                format!("{} was changed by someone else just now", self.path.display()),
                "run the command again; nothing was changed",
            ));
        }
        match &self.after {
            Some(after) => {
                if self.is_connecting() {
                    self.keep_record(after)?;
                }
                write_atomically(&self.path, after.as_bytes())?;
            }
            None => {
                // What somebody has added to it is not ours to lose.
                let written = fs::read_to_string(self.record.join(WRITTEN)).ok();
                if let Some(before) = self.before.as_ref().filter(|before| written.as_ref() != Some(*before))
                {
                    write_atomically(&self.record.with_extension("removed"), before.as_bytes())?;
                }
                fs::remove_file(&self.path)
                    .map_err(|error| CommandError::file("cannot remove", &self.path, error))?;
                let made = fs::read_to_string(self.record.join(NO_ORIGINAL)).unwrap_or_default();
                let made = Some(Path::new(&made)).filter(|made| made.is_absolute());
                let ours = |dir: &&Path| made.is_some_and(|made| dir.starts_with(made));
                for dir in self.path.ancestors().skip(1).take_while(ours) {
                    // Only if it is empty.
                    let _ = fs::remove_dir(dir);
                }
            }
        }
        if !self.is_connecting() {
            let _ = fs::remove_dir_all(&self.record);
        }
        Ok(())
    }

    /// Where the file from before is kept.
    pub(crate) fn backup(&self) -> PathBuf {
        self.record.join(ORIGINAL)
    }

    fn is_connecting(&self) -> bool {
        self.after != self.original
    }

    fn keep_record(&self, written: &str) -> CommandResult {
        // Begun anew and finished last by `written`: a record cut short is none.
        let _ = fs::remove_dir_all(&self.record);
        private_dir(&self.record)?;
        match &self.original {
            Some(original) => write_atomically(&self.backup(), original.as_bytes())?,
            None => {
                let missing = self.path.ancestors().skip(1).take_while(|dir| !dir.exists());
                let made = missing.last().map_or(&[][..], |dir| dir.as_os_str().as_encoded_bytes());
                write_atomically(&self.record.join(NO_ORIGINAL), made)?;
            }
        }
        write_atomically(&self.record.join("path"), self.path.as_os_str().as_encoded_bytes())?;
        write_atomically(&self.record.join(WRITTEN), written.as_bytes())
    }
}

/// What connecting would do to a CLI's files: what is wanted is added, and what
/// is there already renewed.
pub(crate) fn plan_connect(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
    wanted: &[Part],
) -> Result<Vec<Plan>, CommandError> {
    let ours = hook_program(level);
    plans(world, cli, level, |plan, pieces| {
        for piece in pieces {
            let cannot = |error| malformed(&plan.path, error);
            let found = plan.before.as_deref().filter(|text| !text.trim().is_empty());
            let found = found.map(|text| piece.wiring.connection(text, &ours)).transpose();
            if wanted.contains(&piece.part)
                || !matches!(found.map_err(cannot)?, None | Some(Connection::Absent))
            {
                plan.after = Some(piece.wiring.connect(plan.after.as_deref(), &ours).map_err(cannot)?);
            }
        }
        Ok(())
    })
}

/// What disconnecting would do to a CLI's files.
pub(crate) fn plan_disconnect(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
) -> Result<Vec<Plan>, CommandError> {
    let mut plans = plans(world, cli, level, |plan, _| {
        plan.after = plan.original.clone();
        Ok(())
    })?;
    // What was made first goes last: the others may be in its directory.
    plans.reverse();
    Ok(plans)
}

/// A plan for each of a CLI's files that may have something of ours.
fn plans(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
    change: impl Fn(&mut Plan, &[Piece]) -> CommandResult,
) -> Result<Vec<Plan>, CommandError> {
    let mut files: Vec<(PathBuf, Vec<Piece>)> = Vec::new();
    for piece in cli.pieces(level) {
        let path = resolve(&piece.file);
        match files.iter_mut().find(|(file, _)| *file == path) {
            Some((_, pieces)) => pieces.push(piece),
            None => files.push((path, vec![piece])),
        }
    }
    let one = |(path, pieces): (PathBuf, Vec<Piece>)| {
        let mut plan = plan(world, path, &pieces, level)?;
        change(&mut plan, &pieces)?;
        Ok(plan)
    };
    files.into_iter().map(one).collect()
}

fn plan(world: &World, path: PathBuf, pieces: &[Piece], level: Level<'_>) -> Result<Plan, CommandError> {
    let before = read(&path)?;
    let record = world.paths.backups().join(record_name(&path));
    let untouched = before.is_some() && fs::read_to_string(record.join(WRITTEN)).ok() == before;
    let kept = fs::read_to_string(record.join(ORIGINAL)).ok();
    let original = match &before {
        None => None,
        // Nobody touched it since: what was there before is what it was.
        Some(_) if untouched && kept.is_some() => kept,
        Some(_) if untouched && record.join(NO_ORIGINAL).exists() => None,
        Some(before) if before.trim().is_empty() => Some(before.clone()),
        Some(before) => {
            without(before, pieces, &hook_program(level)).map_err(|error| malformed(&path, error))?
        }
    };
    let is_for_project = matches!(level, Level::Project(_));
    Ok(Plan { path, after: before.clone(), before, original, record, is_for_project })
}

/// A file without what is ours; `None` where nothing is left of it.
fn without(text: &str, pieces: &[Piece], ours: &str) -> Result<Option<String>, SettingsError> {
    let mut left = Some(text.to_owned());
    for piece in pieces {
        let Some(text) = left.as_deref().filter(|text| !text.trim().is_empty()) else { break };
        left = piece.wiring.disconnect(text, ours)?;
    }
    Ok(left)
}

/// Replaces a file in one step; its permissions stay, its directory is made. A
/// new one has the permissions that any new file of this person has.
pub(crate) fn write_atomically(path: &Path, contents: &[u8]) -> CommandResult {
    let path = &resolve(path);
    let write = || -> std::io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;
        let permissions = fs::metadata(path).map(|metadata| metadata.permissions()).ok();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = parent.join(format!(".{name}.consort-{}", std::process::id()));
        let result = (|| {
            let mut file = fs::File::create(&temporary)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            file.write_all(contents)?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        })();
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    };
    write().map_err(|error| CommandError::file("cannot write", path, error))
}

/// How our hooks call us: by name where that finds this very program, by path
/// otherwise. In a file that others share, by name always.
pub(crate) fn hook_program(level: Level<'_>) -> String {
    let by_name = "consort".to_owned();
    let Ok(this) = std::env::current_exe().and_then(fs::canonicalize) else { return by_name };
    let found = find_program("consort").and_then(|found| fs::canonicalize(found).ok());
    match level {
        Level::User(_) if found.as_ref() != Some(&this) => this.to_string_lossy().into_owned(),
        _ => by_name,
    }
}

/// The first program of that name on `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    let path = env::get("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(is_program)
}

/// The file behind a path: what links point to, even if that is not there yet.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    match (path.parent(), path.file_name(), fs::read_link(path)) {
        (Some(parent), _, Ok(target)) => parent.join(target),
        (Some(parent), Some(name), Err(_)) => resolve(parent).join(name),
        _ => path.to_owned(),
    }
}

fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::file("cannot read", path, error)),
    }
}

pub(crate) fn private_dir(path: &Path) -> CommandResult {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| CommandError::file("cannot make", path, error))
}

/// A file name for a path: readable, and its own.
fn record_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}-{:016x}", text::checksum(path.as_os_str().as_encoded_bytes()))
}

/// A settings file we cannot change because we cannot understand it.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be changed", path = path.display())]
struct Malformed {
    path: PathBuf,
    source: SettingsError,
}

impl Explain for Malformed {
    fn kind(&self) -> Kind {
        Kind::User
    }

    fn hints(&self) -> Vec<String> {
        vec!["mend the file, then try again; nothing was changed".into()]
    }
}

fn malformed(path: &Path, source: SettingsError) -> CommandError {
    Malformed { path: path.to_owned(), source }.into()
}
