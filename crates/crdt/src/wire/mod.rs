//! The binary format of a Yjs update (version 1), checked and sorted without the
//! document.
//!
//! Yjs updates come from files and peers. They are read here once, strictly,
//! before the document sees them, and put into one order when they leave.

mod canonical;
mod part;
mod reader;
mod scrub;
mod state_vector;
mod survey;
mod walk;

pub(crate) use canonical::canonical;
pub(crate) use part::Part;
pub(crate) use reader::Reader;
pub(crate) use reader::write_blob;
pub(crate) use reader::write_uint;
pub(crate) use scrub::scrub;
pub(crate) use state_vector::read_vector;
pub(crate) use state_vector::write_vector;
pub(crate) use survey::survey;

use crate::error::CrdtError;

/// How much an update may ask of the one who reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Entries and runs of removed ones; each takes some hundred bytes of
    /// memory, however short it is.
    pub items: usize,
    /// Arrays and objects inside one another. The reader underneath recurses.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 << 20, items: 4_000_000, depth: MAX_DEPTH }
    }
}

/// The 127 that `serde_json` reads, and the entry around them.
pub(crate) const MAX_DEPTH: usize = 128;

/// Whether `update` is what a document of this layout could have sent, as far
/// as its bytes alone tell.
pub fn check(update: &[u8], limits: &Limits) -> Result<(), CrdtError> {
    survey(update, limits).map(drop)
}
