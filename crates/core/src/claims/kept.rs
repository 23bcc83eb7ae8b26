//! A file as its holder wrote it last.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::presence::SessionId;
use crate::text;

/// Which content a file had when its holder wrote it last, as a note beside the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    pub session: SessionId,
    pub at: Timestamp,
    pub worktree: PathBuf,
    /// Relative to the worktree.
    pub path: String,
    /// What it is kept under; absent if it is not to be given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub is_executable: bool,
}

/// What becomes of a file that is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreOutcome {
    pub at: Timestamp,
    pub path: String,
    /// Who wrote it.
    pub by: String,
    pub kept_at: Timestamp,
    /// What is there; absent if there is no such file.
    pub before: Option<Vec<u8>>,
    pub after: Vec<u8>,
    pub restored: bool,
    /// What was there is kept under this name.
    pub replaced: Option<String>,
}

impl RestoreOutcome {
    /// What tells whether the file is still the one that was looked at.
    pub fn state(&self) -> Option<u64> {
        self.before.as_deref().map(text::checksum)
    }
}
