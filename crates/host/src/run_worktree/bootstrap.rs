//! Prepares a new worktree beyond what git brings: copies ignored files, and runs a set-up command.

use std::ffi::OsString;
use std::io::Read as _;
use std::io::Seek as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_files::NoFollowTree;

use super::RunTree;
use super::error::WorktreeError;
use super::git::Git;
use super::snapshot;

/// Most bytes of a set-up command's output that are kept, from its end.
const KEPT_OUTPUT: u64 = 64 << 10;

/// The preparations of a new worktree.
#[derive(Clone, Debug, Default)]
pub struct Bootstrap {
    /// The files and directories to copy from the person's worktree, by their path from its top: ignored
    /// ones, which are not in git. A missing one is left out.
    pub copy: Vec<String>,
    pub set_up: Option<SetUpCommand>,
}

/// A command to run in a new worktree.
#[derive(Clone, Debug)]
pub struct SetUpCommand {
    /// The text for `sh -c`.
    pub command: String,
    /// The whole environment of the command.
    pub environment: Vec<(OsString, OsString)>,
    pub time_limit: Duration,
}

/// The result of a set-up command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUpResult {
    pub end: SetUpEnd,
    /// The end of what it printed, on both outputs.
    pub output: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUpEnd {
    Done,
    /// An exit with that code; `None` if a signal ended the command.
    Failed(Option<i32>),
    /// The end by us of the command and all processes of its group.
    TimedOut,
}

/// Copies the files, runs the command, and makes their changes part of the baseline: they are not the
/// run's work.
pub(super) fn prepare(
    from: &Path,
    tree: &mut RunTree,
    bootstrap: &Bootstrap,
) -> Result<Option<SetUpResult>, WorktreeError> {
    let (from, to) = (NoFollowTree::new(from), NoFollowTree::new(&tree.path));
    for name in &bootstrap.copy {
        from.copy_to(&to, Path::new(name))
            .map_err(|error| WorktreeError::Copy { name: name.clone(), why: error.to_string() })?;
    }
    let set_up = match &bootstrap.set_up {
        Some(command) => Some(run(command, tree)?),
        None => None,
    };
    if bootstrap.copy.is_empty() && set_up.is_none() {
        return Ok(None);
    }
    let git = Git::of(tree);
    let index = tree.git_dir.join("consort-index");
    let taken = snapshot::take(&git, &index, None);
    let _ = std::fs::remove_file(&index);
    let (files, head) = (taken?.tree, git.id("HEAD^{commit}")?);
    if files != git.tree_of(&head)? {
        let made = git.commit(&files, Some(&head), "What the set-up of the run has changed\n")?;
        git.ask(&["update-ref", "HEAD", &made, &head])?;
        git.ask(&["read-tree", &made])?;
        git.run(&["update-index", "-q", "--refresh"], b"")?;
        tree.baseline = made;
    } else {
        tree.baseline = head;
    }
    Ok(set_up)
}

fn run(set_up: &SetUpCommand, tree: &RunTree) -> Result<SetUpResult, WorktreeError> {
    let log: PathBuf = tree.git_dir.join("consort-set-up.log");
    let at_log = || WorktreeError::file(&log);
    let mut output =
        std::fs::OpenOptions::new().read(true).append(true).create(true).open(&log).map_err(at_log())?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(&set_up.command).current_dir(&tree.path);
    command.env_clear().envs(set_up.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).process_group(0);
    command.stdout(output.try_clone().map_err(at_log())?).stderr(output.try_clone().map_err(at_log())?);
    let mut child = command.spawn().map_err(WorktreeError::file(Path::new("/bin/sh")))?;
    let begun = Instant::now();
    let end = loop {
        match child.try_wait().map_err(at_log())? {
            Some(status) if status.success() => break SetUpEnd::Done,
            Some(status) => break SetUpEnd::Failed(status.code()),
            None if begun.elapsed() < set_up.time_limit => std::thread::sleep(Duration::from_millis(10)),
            None => {
                // The child is not reaped yet, so the id of its group is still its own.
                let group = rustix::process::Pid::from_raw(child.id() as i32);
                let end = |group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                let _ = group.map(end);
                let _ = child.wait();
                break SetUpEnd::TimedOut;
            }
        }
    };
    let length = output.metadata().map_err(at_log())?.len();
    let start = std::io::SeekFrom::Start(length.saturating_sub(KEPT_OUTPUT));
    let mut said = Vec::new();
    output.seek(start).and_then(|_| output.read_to_end(&mut said)).map_err(at_log())?;
    Ok(SetUpResult { end, output: String::from_utf8_lossy(&said).into_owned() })
}
