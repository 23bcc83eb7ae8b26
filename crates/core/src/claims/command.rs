//! A command that may write something, from its call to what is found after it; and one that waits.

use std::path::Path;
use std::path::PathBuf;

use super::HoldView;
use crate::Timestamp;
use crate::host::Process;
use crate::presence::SessionId;

/// What must be at a path for a program to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needs {
    #[default]
    Nothing,
    /// Nothing there: `mkdir`, `cp -n`.
    Absent,
    /// Something there: `rm -r`, `chmod`.
    Present,
    /// Something there that is no directory: `rm`, `sed -i`.
    File,
    /// Nothing changed in its worktree: `npm version`.
    Clean,
    /// Its directory, which is not there now: `> deep/file`.
    Directory,
}

/// A call of a tool that runs a command.
#[derive(Clone, Copy, Debug)]
pub struct CommandCall<'a> {
    pub id: &'a str,
    pub cwd: &'a Path,
    pub command: &'a str,
    pub kind: CommandKind,
}

/// A command that may write something, while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningCommand {
    /// The checksum of its tool call's id.
    pub call: u64,
    pub at: Timestamp,
    pub kind: CommandKind,
    /// The name of the list of files that others had reserved when it began.
    pub listing: Option<String>,
    pub cwd: PathBuf,
    /// Its beginning, for those whose files it changes.
    pub text: String,
}

/// What tells the end of a command, and whether anyone looks then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Its text tells all it writes: nobody looks.
    Known,
    /// The end of its tool call, or of its turn.
    Tool,
    /// Its CLI at the end of a turn: it outlives its tool call.
    Background,
    /// The end of its tool call: turns of the session say nothing of it.
    Subagent,
}

/// A session that waits for others to let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub since: Timestamp,
    /// What waits for it.
    pub process: Process,
    pub holders: Vec<SessionId>,
    /// For what, in words.
    pub what: String,
}

/// A file that another has reserved and that is not as it was before a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trespass {
    /// Relative to its worktree.
    pub path: String,
    pub place: PathBuf,
    pub is_gone: bool,
    /// The holder ran a command at the same time.
    pub is_unsure: bool,
    /// What the holder wrote last can be given back.
    pub is_kept: bool,
    pub held: HoldView,
}
