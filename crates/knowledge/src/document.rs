//! Converts knowledge between journal entries and the CRDT document that other replicas read:
//! through git, and over the network.
//!
//! The document is made from the journal, always the same, and never the source of truth.

use std::collections::BTreeSet;

use consort_core::Timestamp;
use consort_core::journal::Change;
use consort_core::journal::Entry;
use consort_core::knowledge::Edit;
use consort_core::knowledge::EditChange;
use consort_core::knowledge::KnowledgeChange;
use consort_core::knowledge::Source;
use consort_core::knowledge::StampedEdit;
pub use consort_crdt::CrdtError;
pub use consort_crdt::Document;
use consort_crdt::Stamp;

/// Makes the document from journal entries, oldest first.
pub fn from_entries(entries: &[Entry]) -> Result<Document, CrdtError> {
    let mut document = Document::new();
    extend(&mut document, entries)?;
    Ok(document)
}

/// Applies the entries that follow those the document was made from.
pub fn extend(document: &mut Document, entries: &[Entry]) -> Result<(), CrdtError> {
    for entry in entries {
        for change in &entry.changes {
            let Change::Knowledge(change) = &change.change else { continue };
            ingest(document, entry.at, change)?;
        }
    }
    Ok(())
}

fn ingest(document: &mut Document, at: Timestamp, change: &KnowledgeChange) -> Result<(), CrdtError> {
    match batch(at, change) {
        Batch::Own(edits, stamp) => document.edit(&edits, &stamp),
        Batch::Foreign(update) => document.merge(&bytes(update)).map(drop),
    }
}

/// A change in the form in which the document takes it.
enum Batch<'c> {
    Own(Vec<consort_crdt::Edit>, Stamp),
    /// An update of another replica, in hex.
    Foreign(&'c str),
}

fn batch(at: Timestamp, change: &KnowledgeChange) -> Batch<'_> {
    match change {
        KnowledgeChange::Edited { writer, by, edits, at: said, .. } => {
            let by = serde_json::to_value(by).unwrap_or_default();
            let stamp = Stamp { at: said.unwrap_or(at).0, writer: *writer, by };
            Batch::Own(edits.iter().map(outward).collect(), stamp)
        }
        KnowledgeChange::Merged { update, .. } => Batch::Foreign(update),
    }
}

/// Returns the state that a document's state becomes by the entries that follow, without loading
/// the document; `None` if the entries contain updates of another replica, or forget knowledge.
pub fn edited_state(state: &[u8], entries: &[Entry]) -> Result<Option<Vec<u8>>, CrdtError> {
    let mut batches = Vec::new();
    for entry in entries {
        for change in &entry.changes {
            let Change::Knowledge(change) = &change.change else { continue };
            match batch(entry.at, change) {
                _ if change.forgets() => return Ok(None),
                Batch::Own(edits, stamp) => batches.push((edits, stamp)),
                Batch::Foreign(_) => return Ok(None),
            }
        }
    }
    Document::edited_state(state, &batches)
}

/// Merges another replica's update; returns the edits that were new.
pub fn merge(document: &mut Document, update: &[u8]) -> Result<Vec<StampedEdit>, CrdtError> {
    Ok(document.merge(update)?.into_iter().map(to_edit).collect())
}

/// Merges another replica's update; returns the part of it that was not known (of a whole file
/// perhaps one record of thousands), and the edits that were new.
pub fn merge_new(document: &mut Document, update: &[u8]) -> Result<(Vec<u8>, Vec<StampedEdit>), CrdtError> {
    let before = document.state_vector();
    let edits = merge(document, update)?;
    Ok((document.update_since(&before)?, edits))
}

fn outward(edit: &Edit) -> consort_crdt::Edit {
    let change = match edit.change.clone() {
        EditChange::Set { field, value } => consort_crdt::Change::Set { field, value },
        EditChange::Add { set, member, value } => consort_crdt::Change::Add { set, member, value },
        EditChange::Remove { set, member } => consort_crdt::Change::Remove { set, member },
    };
    consort_crdt::Edit { entity: edit.entity.clone(), change }
}

/// Converts an edit of the document into one of the knowledge room.
pub fn to_edit(stamped: consort_crdt::StampedEdit) -> StampedEdit {
    let consort_crdt::StampedEdit { edit, stamp } = stamped;
    let change = match edit.change {
        consort_crdt::Change::Set { field, value } => EditChange::Set { field, value },
        consort_crdt::Change::Add { set, member, value } => EditChange::Add { set, member, value },
        consort_crdt::Change::Remove { set, member } => EditChange::Remove { set, member },
    };
    let by: Source = serde_json::from_value(stamp.by).unwrap_or_default();
    StampedEdit {
        edit: Edit { entity: edit.entity, change },
        at: Timestamp(stamp.at),
        writer: stamp.writer,
        by,
    }
}

/// Removes everything that these entities say from another replica's update, in hex as an entry has it.
pub fn scrub_update(update: &str, entities: &BTreeSet<String>) -> Option<String> {
    let entities = entities.iter().map(String::as_str).collect();
    Document::scrub_update(&bytes(update), &entities).ok().map(|update| hex(&update))
}

/// Encodes bytes in hex for an entry of the journal, which is JSON.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from(b"0123456789abcdef"[usize::from(four)]);
    // A whole file of another replica may have thirteen million bytes.
    let mut hex = String::with_capacity(2 * bytes.len());
    bytes.iter().for_each(|byte| hex.extend([digit(byte >> 4), digit(byte & 15)]));
    hex
}

fn bytes(hex: &str) -> Vec<u8> {
    let four = |digit: u8| char::from(digit).to_digit(16);
    let byte = |pair: &[u8]| u8::try_from(four(pair[0])? * 16 + four(pair[1])?).ok();
    hex.as_bytes().chunks_exact(2).filter_map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_what_they_were() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&hex(&all)), all);
        assert_eq!(hex(&[0x0f, 0xa0]), "0fa0");
        assert_eq!(bytes("0fzzA0"), [0x0f, 0xa0]);
    }
}
