//! Starts an agent as the process of a pane: a file of ours says what to start, and a small command in the
//! pane becomes it. So no variable and no prompt is ever an argument that everyone on the machine can read,
//! and none is too long for tmux.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use consort_host::env;
use serde::Deserialize;
use serde::Serialize;

use crate::connect;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

/// The variables that describe a pane's own terminal, and keep their values there.
const TERMINAL: &[&str] = &["TERM", "TMUX", "TMUX_PANE", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLORTERM"];

/// A program to be started in a pane.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
}

impl Launch {
    /// Makes a launch with the environment of this process, without the variables of its own session or
    /// terminal.
    pub(crate) fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let is_kept = |name: &str| !consort_agents::is_of_session(name) && !TERMINAL.contains(&name);
        let all = std::env::vars_os().filter_map(text);
        Self { program, arguments, environment: all.filter(|(name, _)| is_kept(name)).collect() }
    }

    /// Writes the launch to a file, and returns the command by which the pane starts it.
    pub(crate) fn command(&self, world: &World, id: &str) -> Result<Vec<String>, CommandError> {
        let dir = world.paths.data.join("launch");
        connect::private_dir(&dir)?;
        let file = dir.join(id);
        let text = serde_json::to_string(self).unwrap_or_default();
        connect::write_own(&file, text.as_bytes(), &world.temporary_files())?;
        let consort = std::env::current_exe().unwrap_or_else(|_| "consort".into());
        let words = [consort.as_path(), Path::new("pane"), Path::new("start"), &file];
        Ok(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
    }
}

/// Becomes the program that the file describes, and removes the file.
pub(crate) fn become_program(file: &Path) -> CommandResult {
    let cannot = |error| CommandError::file("cannot read", file, error);
    let me = rustix::process::getuid().as_raw();
    let is_ours = fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.uid() == me);
    // A tmux server may have another environment than the process that opened the pane, and so another data
    // directory.
    let is_private = |dir: &Path| {
        let found = fs::symlink_metadata(dir);
        found.is_ok_and(|found| found.is_dir() && found.uid() == me && found.mode() & 0o077 == 0)
    };
    if !is_ours || !file.parent().is_some_and(|dir| dir.ends_with("launch") && is_private(dir)) {
        return Err(CommandError::user("that is nothing to start", "`consort open <cli>` opens an agent"));
    }
    let text = fs::read_to_string(file).map_err(cannot)?;
    fs::remove_file(file).map_err(cannot)?;
    let launch: Launch = serde_json::from_str(&text)
        .map_err(|error| CommandError::user(error.to_string(), "`consort open <cli>` opens an agent"))?;
    keep_pane();
    let mut command = Command::new(&launch.program);
    command.args(&launch.arguments).env_clear().envs(&launch.environment);
    command.envs(TERMINAL.iter().filter_map(|name| Some((*name, env::get(name)?))));
    Err(CommandError::file("cannot start", &launch.program, command.exec()))
}

/// Has tmux keep this pane when its program ends, however soon that is.
fn keep_pane() {
    let terminal = env::terminal();
    if let (Some(server), Some(pane)) = (terminal.tmux, terminal.pane) {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(server).args(["set-option", "-p", "-t", &pane, "remain-on-exit", "on"]);
        let _ = tmux.output();
    }
}
