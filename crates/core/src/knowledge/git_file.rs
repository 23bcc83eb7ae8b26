//! The port to the file in which a project's knowledge travels through git, and the notes about it
//! that are kept here.
//!
//! **Every verb that reads takes in first what git has brought, and every verb that records asks
//! for the file to be written**: doors cannot forget either.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde::Serialize;

use super::KnowledgeCursor;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

/// The file `.consort/knowledge.yjs` of a worktree.
pub trait GitFile: Send + Sync {
    /// Returns the state of the file, by one stat; `None` if there is no such file.
    fn stamp(&self, worktree: &Path) -> Option<GitFileStamp>;

    /// Records what the file says and is not known yet, in a process of its own, since a stranger
    /// may have made the file; or says why not.
    fn take_in(&self, worktree: &Path) -> TakenIn;

    /// Returns the update of another replica without what these entities say.
    fn scrub(&self, update: &str, entities: &BTreeSet<String>) -> Option<String>;

    /// Notes that something was recorded: the file should be written again, if such a file is
    /// wanted.
    fn request_write(&self, worktree: &Path);
}

/// A stamp that tells one state of the file from another without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFileStamp {
    pub text: String,
    pub length: u64,
}

/// The outcome of taking in the file before a read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenIn {
    /// There is no file, or it was taken in before.
    Before,
    Now,
    /// The file is too long for a hook, or took too long: the next command takes it in.
    Later,
    Failed(String),
}

/// A note about the file of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFileMark {
    /// The stamp of the state that was taken in or written.
    pub stamp: String,
    /// Whether the file could not be understood. Commands say so each time, hooks do not try again.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_bad: bool,
    /// The place in the journal up to which the file has everything that was recorded, if it has
    /// nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<KnowledgeCursor>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl dyn SideFiles + '_ {
    /// Returns what is noted of the file of a worktree.
    pub fn git_file_mark(&self, worktree: &Path) -> Option<GitFileMark> {
        serde_json::from_str(&self.text(&format!("git file {}", worktree.display()))?).ok()
    }

    /// Replaces what is noted of the file of a worktree.
    pub fn set_git_file_mark(&self, worktree: &Path, mark: &GitFileMark) {
        let text = serde_json::to_string(mark).unwrap_or_default();
        self.set_text(&format!("git file {}", worktree.display()), &text);
    }

    /// Returns the sessions that began before their project's file was taken in, each with the most
    /// tokens that it may be told.
    pub fn sessions_without_digest(&self, project: &ProjectId) -> Vec<(SessionId, usize)> {
        let text = self.text(&format!("waiting {project}")).unwrap_or_default();
        let one = |line: &str| {
            let (tokens, session) = line.split_once(' ')?;
            Some((SessionId::new(session.to_owned()).ok()?, tokens.parse().ok()?))
        };
        text.lines().filter_map(one).collect()
    }

    /// Replaces the list of sessions that wait for their digest.
    pub fn set_sessions_without_digest(&self, project: &ProjectId, sessions: &[(SessionId, usize)]) {
        let lines: String =
            sessions.iter().map(|(session, tokens)| format!("{tokens} {session}\n")).collect();
        self.set_text(&format!("waiting {project}"), &lines);
    }
}
