//! Edits, or removes entities from, the encoded bytes of a document without loading all of it.

use std::collections::BTreeSet;

use super::Document;
use crate::edit::Edit;
use crate::edit::Stamp;
use crate::error::CrdtError;
use crate::wire;

impl Document {
    /// Removes from an update everything that these entities say: values and members' names. Their
    /// entries stay, because later updates build on them.
    pub fn scrub_update(update: &[u8], entities: &BTreeSet<&str>) -> Result<Vec<u8>, CrdtError> {
        wire::scrub(update, entities)
    }

    /// Returns the [`Self::state`] that [`Self::edit`] would lead to from `state`, batch by batch.
    /// Loads only the edited entities, which is many times as fast. Returns `None` if that is not
    /// possible: then the whole document has to be loaded.
    pub fn edited_state(state: &[u8], batches: &[(Vec<Edit>, Stamp)]) -> Result<Option<Vec<u8>>, CrdtError> {
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
