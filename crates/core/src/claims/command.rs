//! Data about commands that may write: the call, the command while it runs, the changes found
//! after it, and a session that waits.

use std::path::Path;
use std::path::PathBuf;

use super::HoldView;
use crate::Timestamp;
use crate::host::Process;
use crate::presence::SessionId;

/// The condition on a path without which a program does not write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathCondition {
    #[default]
    Nothing,
    /// Nothing is there: `mkdir`, `cp -n`.
    Absent,
    /// Something is there: `rm -r`, `chmod`.
    Present,
    /// Something is there that is no directory: `rm`, `sed -i`.
    File,
    /// Nothing is uncommitted in its worktree: `npm version`.
    Clean,
    /// Its directory is there, which was missing when the command was read: `> deep/file`.
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
    /// The beginning of its text, for messages to the holders of files that it changes.
    pub text: String,
}

/// The way in which a command ends, and whether its writes are looked for then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Its text tells all it writes: nothing is looked for.
    Known,
    /// It ends with its tool call, or with its turn.
    Tool,
    /// It outlives its tool call; its CLI reports the end, at the end of a turn.
    Background,
    /// It ends with its tool call: the session's turns say nothing of a subagent's command.
    Subagent,
}

/// The wait of a session for others to release their holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWait {
    pub since: Timestamp,
    /// The process that waits for the session.
    pub process: Process,
    pub holders: Vec<SessionId>,
    /// The resources it waits for, in words.
    pub what: String,
}

/// A file that another has reserved and that changed while a command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trespass {
    /// Relative to its worktree.
    pub path: String,
    pub place: PathBuf,
    pub is_gone: bool,
    /// Whether the holder ran a command at the same time, so that the author is unknown.
    pub is_unsure: bool,
    /// Whether the content that the holder wrote last can be restored.
    pub is_kept: bool,
    pub held: HoldView,
}
