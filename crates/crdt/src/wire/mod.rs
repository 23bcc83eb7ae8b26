//! The binary format of a Yjs update (version 1): checks, cuts and sorts it without the document.
//!
//! Updates from files and peers are read here once, strictly, before the document sees them;
//! updates that leave are put into one order.

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

/// The limits on an update that somebody else made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    /// Entries and runs of removed entries; each takes some hundred bytes of memory, however short it is.
    pub items: usize,
    /// Arrays and objects inside one another; the decoder of yrs recurses for each.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 256 << 20, items: 4_000_000, depth: MAX_DEPTH }
    }
}

/// Deepest nesting of a value: the 127 levels that `serde_json` reads, and the entry around them.
pub(crate) const MAX_DEPTH: usize = 128;

/// Checks that `update` is one that a document of this layout could have sent, as
/// far as its bytes alone tell.
pub fn check(update: &[u8], limits: &Limits) -> Result<(), CrdtError> {
    survey(update, limits).map(drop)
}
