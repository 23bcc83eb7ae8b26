//! Connects agent CLIs, for `init`, `uninit`, `up` and `doctor`: finds whether each CLI is connected, changes
//! its settings, and gives them back.
//!
//! The files are other people's: merged, never rewritten; replaced in one step, never half written; and the
//! file from before is kept. **What `init` changed, `uninit` gives back byte for byte, if nobody else changed
//! it since.**

mod files;
pub(crate) mod git_merge;
mod offer;
mod plan;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_agents::Insertion;
use consort_agents::InsertionState;
use consort_agents::Level;
use consort_core::text;
use consort_host::env;
use serde::Serialize;

use crate::world::World;

pub(crate) use files::TheirFile;
pub(crate) use files::private_dir;
pub(crate) use files::write_own;
pub(crate) use offer::Consent;
pub(crate) use offer::OfferedCli;
pub(crate) use offer::Parts;
pub(crate) use offer::agree;
pub(crate) use offer::offer;
pub(crate) use plan::FilePlan;
use plan::plan_connect;
pub(crate) use plan::plan_disconnect;

/// The state of one agent CLI: whether it is installed, and whether it is connected at each level.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConnectionState {
    pub(crate) kind: &'static str,
    pub(crate) title: &'static str,
    /// The path of its program, if it is on `PATH`.
    pub(crate) program: Option<PathBuf>,
    pub(crate) user: State,
    pub(crate) project: State,
    /// Whether its sessions can call our MCP server.
    pub(crate) mcp: bool,
    /// Its settings files, for the user and in this project.
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
    /// The settings cannot be parsed, or not be added to; the text says why.
    Malformed(String),
}

impl ConnectionState {
    /// Returns the file that only a person can mend, if there is one.
    pub(crate) fn file_to_mend(&self) -> Option<&Path> {
        let is_in_the_way = |state: &State| matches!(state, State::Malformed(_) | State::SwitchedOff);
        let states = [&self.user, &self.project];
        states.iter().position(|state| is_in_the_way(state)).map(|at| self.files[at].as_path())
    }

    /// Tells whether the CLI is neither installed nor connected.
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

/// Finds the state of every known agent CLI.
pub(crate) fn connection_states(world: &World, worktree: &Path) -> Vec<ConnectionState> {
    let state = |insertion: &Insertion, level: Level<'_>| {
        let (file, format) = (TheirFile::at(level, &insertion.file), &insertion.format);
        let text = match file.read() {
            Ok(text) => text.filter(|text| !text.trim().is_empty()),
            Err(error) => return State::Malformed(error.in_a_line()),
        };
        let Some(text) = text else { return State::Absent };
        let ours = hook_program(level);
        // Connecting is tried on the text too: a file that would fail is reported before `init`.
        let found = format.insertion_state(&text, &ours);
        match found.and_then(|found| format.connect(Some(&text), &ours).map(|_| found)) {
            Ok(InsertionState::Absent) => State::Absent,
            Ok(InsertionState::Outdated) => State::Outdated,
            Ok(InsertionState::SwitchedOff) => State::SwitchedOff,
            Ok(InsertionState::Current) => State::Current,
            Err(error) => State::Malformed(format!("{}, {error}", file.path().display())),
        }
    };
    consort_agents::ALL
        .iter()
        .map(|cli| {
            let config_dir = world.config_dir(*cli);
            let levels = [Level::User(&config_dir), Level::Project(worktree)];
            let hooks = levels.map(|level| cli.hooks(level));
            let files = [0, 1].map(|at| TheirFile::at(levels[at], &hooks[at].file).path());
            let is_there = |insertion: &Insertion, level| {
                matches!(state(insertion, level), State::Current | State::Outdated)
            };
            let mcp = |level| cli.mcp(level, &env::get).is_some_and(|insertion| is_there(&insertion, level));
            ConnectionState {
                kind: cli.kind(),
                title: cli.title(),
                program: find_program(cli.program()),
                user: state(&hooks[0], levels[0]),
                // In the home directory both are one file.
                project: if files[0] == files[1] { State::Absent } else { state(&hooks[1], levels[1]) },
                mcp: levels.into_iter().any(mcp),
                files,
            }
        })
        .collect()
}

/// Returns the program that our hooks call: our path, so that no other program of our name is run instead; in
/// a file that others share, our name.
pub(crate) fn hook_program(level: Level<'_>) -> String {
    match (level, std::env::current_exe().and_then(fs::canonicalize)) {
        (Level::User(_), Ok(this)) => this.to_string_lossy().into_owned(),
        _ => "consort".to_owned(),
    }
}

/// Tells whether an insertion is in its file.
pub(crate) fn is_there(insertion: &Insertion, level: Level<'_>) -> bool {
    let text = TheirFile::at(level, &insertion.file).read().ok().flatten().unwrap_or_default();
    let found = || insertion.format.insertion_state(&text, &hook_program(level));
    !text.trim().is_empty() && found().is_ok_and(|found| found != InsertionState::Absent)
}

/// Tells whether commands of a CLI run behind the shield.
pub(crate) fn is_shielded(cli: &dyn AgentCli, level: Level<'_>) -> bool {
    let insertions = cli.shield(level);
    !insertions.is_empty() && insertions.iter().all(|insertion| is_there(insertion, level))
}

/// The hint where there is no agent CLI to connect.
pub(crate) const NEXT_WITHOUT_ANY: &str =
    "install an agent CLI (claude, codex, gemini, …); then `consort init` connects it";

/// Tells whether our insertion in a file calls a program that is there. A program of our name that is
/// somebody else's counts too.
pub(crate) fn is_alive(insertion: &Insertion, level: Level<'_>) -> bool {
    let ours = hook_program(level);
    let text = TheirFile::at(level, &insertion.file).read().ok().flatten();
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return false };
    let is_there = |program: &String| match program.contains('/') {
        true => is_program(Path::new(program)),
        false => find_program(program).is_some(),
    };
    match insertion.format.insertion_state(&text, &ours) {
        Ok(InsertionState::Absent) | Err(_) => false,
        Ok(_) => {
            let programs = insertion.format.programs(&text, &ours);
            programs.is_empty() || programs.iter().any(is_there)
        }
    }
}

/// Returns the message and the hint for a name that no agent CLI has.
pub(crate) fn no_such_cli(kind: &str) -> (String, String) {
    let all: Vec<&str> = consort_agents::ALL.iter().map(|cli| cli.kind()).collect();
    let hint = match text::nearest(kind, all.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of: {}", all.join(", ")),
    };
    (format!("there is no agent CLI `{}`", text::foreign(kind, 60)), hint)
}

/// Finds the first program of that name on `PATH`.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::get("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| is_program(path))
}

/// Finds all programs of that name on `PATH`, with links resolved and each once.
pub(crate) fn find_programs(name: &str) -> Vec<PathBuf> {
    let path = env::get("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(name)).filter(|path| is_program(path));
    let mut programs = Vec::new();
    for program in found.filter_map(|path| fs::canonicalize(path).ok()) {
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
