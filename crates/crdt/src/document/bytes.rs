//! Makes edits in, and takes entities out of, the bytes of a document that nobody has loaded.

use std::collections::BTreeSet;

use super::Document;
use crate::edit::Edit;
use crate::edit::Stamp;
use crate::error::CrdtError;
use crate::wire;

impl Document {
    /// An update, in which nothing is left of what these entities say. Its entries stay,
    /// for later ones build on them.
    pub fn scrub(update: &[u8], entities: &BTreeSet<&str>) -> Result<Vec<u8>, CrdtError> {
        wire::scrub(update, entities)
    }

    /// The [`Self::state`] that [`Self::edit`] would lead to, batch by batch, from the one
    /// before. Only the entities that are edited are loaded, which is many times as quick.
    /// `None` where that cannot be done: then the document has to be loaded.
    pub fn edited(state: &[u8], batches: &[(Vec<Edit>, Stamp)]) -> Result<Option<Vec<u8>>, CrdtError> {
        let edits = batches.iter().flat_map(|(edits, _)| edits);
        let entities: BTreeSet<&str> = edits.map(|edit| edit.entity.as_str()).collect();
        let Some(part) = wire::Part::cut(state, &entities)? else { return Ok(None) };
        let writer = batches.first().map_or(0, |(_, stamp)| stamp.writer);
        let mut document = Self::load_for(&part.update, writer)?;
        for (edits, stamp) in batches {
            document.edit(edits, stamp)?;
        }
        part.put_back(&document.state())
    }
}
