//! Errors of the CRDT: invalid edits, and damaged or hostile updates.

use std::error::Error;

/// The reason why an edit or an update is refused.
#[derive(Debug, thiserror::Error)]
pub enum CrdtError {
    /// Bytes that Yjs would not write, or that are cut off.
    #[error("malformed at byte {at}: {what}")]
    Malformed { at: usize, what: &'static str },
    /// Bytes that Yjs may write, but that no document of this layout contains.
    #[error("not of this layout at byte {at}: {what}")]
    Foreign { at: usize, what: &'static str },
    #[error("more than {limit} {what}")]
    TooMuch { what: &'static str, limit: usize },
    /// The update builds on edits that are not here: ask the sender for everything since
    /// [`Document::state_vector`](crate::Document::state_vector).
    #[error("edits of writer {writer} are missing before {clock}")]
    Gap { writer: u64, clock: u32 },
    #[error("writer {writer} has more than 53 bits")]
    Writer { writer: u64 },
    #[error("refused by the document")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
}
