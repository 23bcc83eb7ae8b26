//! Makes edits in, and takes entities out of, the bytes of a document that nobody has loaded.

use std::collections::BTreeSet;

use super::Document;
use crate::edit::Change;
use crate::edit::Edit;
use crate::edit::Stamp;
use crate::error::CrdtError;
use crate::key;
use crate::wire;
use crate::wire::Limits;

impl Document {
    /// An update, in which nothing is left of what these entities say. Its entries stay,
    /// for later ones build on them.
    pub fn scrub(update: &[u8], entities: &BTreeSet<&str>) -> Result<Vec<u8>, CrdtError> {
        wire::scrub(update, entities)
    }

    /// The [`Self::state`] that [`Self::edit`] would lead to, from the one before.
    /// `None` where an edit replaces or removes something, or may: then the document
    /// has to be loaded. Loading takes many times as long as reading the bytes.
    pub fn append(state: &[u8], edits: &[Edit], stamp: &Stamp) -> Result<Option<Vec<u8>>, CrdtError> {
        let entities: BTreeSet<&str> = edits.iter().map(|edit| edit.entity.as_str()).collect();
        let survey = wire::survey_keys(state, &Limits::default(), &entities)?;
        let mut written = BTreeSet::new();
        for Edit { entity, change } in edits {
            let keys = survey.keys.get(entity.as_str());
            let (key, is_taken) = match change {
                Change::Set { field, .. } => {
                    let key = key::register(field, stamp.writer);
                    let is_taken = keys.is_some_and(|keys| keys.contains(key.as_str()));
                    (key, is_taken)
                }
                Change::Add { set, member, .. } => {
                    // Other writers' keys of a member would have to go.
                    let beginning = key::member_beginning(set, member);
                    let is_taken = keys
                        .is_some_and(|keys| keys.iter().any(|known| known.starts_with(beginning.as_str())));
                    (key::member(set, member, stamp.writer), is_taken)
                }
                Change::Remove { .. } => return Ok(None),
            };
            if is_taken || !written.insert((entity.as_str(), key)) {
                return Ok(None);
            }
        }
        if edits.is_empty() {
            return Ok(Some(state.to_vec()));
        }
        let mut alone = Self::with_pen(stamp.writer);
        alone.edit(edits, stamp)?;
        let added = alone.state();
        let brought = wire::survey(&added, &Limits::default())?;
        match brought.sections.as_slice() {
            [new] => wire::append(state, &survey.sections, &added, new).map(Some),
            _ => Ok(None),
        }
    }
}
