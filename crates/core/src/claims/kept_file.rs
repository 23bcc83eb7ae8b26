//! Data about the content that a file's holder wrote last, and about restoring it.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::presence::SessionId;
use crate::text;

/// A note beside the store about the content that a file had when its holder wrote it last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    pub session: SessionId,
    pub at: Timestamp,
    pub worktree: PathBuf,
    /// Relative to the worktree.
    pub path: String,
    /// The name that the content is kept under; absent if it is not to be restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default)]
    pub is_executable: bool,
}

/// The outcome of restoring a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreOutcome {
    pub at: Timestamp,
    pub path: String,
    /// The agent that wrote the kept content.
    pub by: String,
    pub kept_at: Timestamp,
    /// The content before; absent if there was no such file.
    pub before: Option<Vec<u8>>,
    pub after: Vec<u8>,
    pub restored: bool,
    /// The name that the content before is kept under.
    pub replaced: Option<String>,
}

impl RestoreOutcome {
    /// Returns a checksum of the content before, which tells whether the file is still the one
    /// that was looked at.
    pub fn checksum_before(&self) -> Option<u64> {
        self.before.as_deref().map(text::stable_hash)
    }
}
