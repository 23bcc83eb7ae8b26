//! Errors of the CRDT: invalid edits, and damaged or hostile updates.

use std::error::Error;

/// Why bytes are no document.
#[derive(Debug, thiserror::Error)]
pub enum CrdtError {
    /// Not what Yjs would write, or cut off.
    #[error("malformed at byte {at}: {what}")]
    Malformed { at: usize, what: &'static str },
    /// Yjs may write this, but no document of this layout contains it.
    #[error("not of this layout at byte {at}: {what}")]
    Foreign { at: usize, what: &'static str },
    #[error("more than {limit} {what}")]
    TooMuch { what: &'static str, limit: usize },
    /// It builds on what is not here: ask the sender for what is missing since
    /// [`Document::vector`](crate::Document::vector).
    #[error("edits of writer {writer} are missing before {clock}")]
    Gap { writer: u64, clock: u32 },
    #[error("writer {writer} has more than 53 bits")]
    Writer { writer: u64 },
    #[error("refused by the document")]
    Refused(#[source] Box<dyn Error + Send + Sync>),
}
