//! Merges updates of other replicas into a CRDT document.

use std::collections::BTreeMap;
use std::sync::Arc;

use yrs::ReadTxn;
use yrs::Transact;
use yrs::WriteTxn;

use super::Document;
use super::decode;
use super::read;
use super::watch::Changed;
use super::watch::Watch;
use crate::edit::Change;
use crate::edit::Edit;
use crate::edit::Stamp;
use crate::edit::StampedEdit;
use crate::entry::Entry;
use crate::error::CrdtError;
use crate::key;
use crate::key::Slot;
use crate::wire;
use crate::wire::Limits;

/// The effect of an update on the document.
pub(crate) struct Merged {
    pub(crate) changes: Vec<StampedEdit>,
    /// Whether any of the update was unknown here.
    pub(crate) is_news: bool,
}

impl Document {
    /// Applies a Yjs update (version 1) and returns what it changed, by entity, field, set and
    /// member: every register entry that is new or newer, even if another writer's entry wins;
    /// every member whose value has changed or that is gone. A removal has no stamp in Yjs, so it
    /// carries the stamp of the value it removed.
    ///
    /// An update that builds on edits which are not here is refused as
    /// [`CrdtError::Gap`], and changes nothing.
    pub fn merge(&mut self, update: &[u8]) -> Result<Vec<StampedEdit>, CrdtError> {
        self.ingest(update).map(|merged| merged.changes)
    }

    pub(crate) fn ingest(&mut self, update: &[u8]) -> Result<Merged, CrdtError> {
        let survey = wire::survey(update, &Limits::default())?;
        survey.follows(&self.known())?;
        let decoded = decode(update)?;
        let mut txn = self.doc.transact_mut();
        let watch = self.watch.get_or_insert_with(|| Watch::new(&mut txn));
        watch.cover(&mut txn, survey.roots.iter().copied());
        watch.start();
        let applied = txn.apply_update(decoded);
        txn.commit();
        let changed = watch.stop();
        applied.map_err(|error| CrdtError::Refused(error.into()))?;
        let is_news = !txn.insert_set().is_empty() || !txn.delete_set().is_empty();
        // Only entries that wait for each other in a circle are left: drop them.
        txn.prune_pending();
        let changes = told(&txn, changed);
        Ok(Merged { changes, is_news })
    }
}

/// The changed entries of one slot: for each writer, its entry before and after.
type Writers = BTreeMap<u64, (Option<Entry>, Option<Entry>)>;

fn told(txn: &impl ReadTxn, changed: Vec<Changed>) -> Vec<StampedEdit> {
    let mut entities: BTreeMap<Arc<str>, BTreeMap<Slot, Writers>> = BTreeMap::new();
    for Changed { entity, key, before, after } in changed {
        if let Some(key) = key::parse(&key) {
            let change = (before.as_ref().and_then(Entry::read), after.as_ref().and_then(Entry::read));
            entities.entry(entity).or_default().entry(key.slot).or_default().insert(key.writer, change);
        }
    }
    entities.into_iter().flat_map(|(id, slots)| told_of(txn, &id, slots)).collect()
}

fn told_of(txn: &impl ReadTxn, id: &str, slots: BTreeMap<Slot, Writers>) -> Vec<StampedEdit> {
    // Only members need the entries that did not change.
    let has_members = slots.keys().any(|slot| matches!(slot, Slot::SetMember { .. }));
    let mut kept: BTreeMap<Slot, Vec<(u64, Entry)>> = BTreeMap::new();
    if let Some(map) = txn.get_map(id)
        && has_members
    {
        for (slot, writer, entry) in read::entries(txn, &map) {
            if slots.get(&slot).is_some_and(|writers| !writers.contains_key(&writer)) {
                kept.entry(slot).or_default().push((writer, entry));
            }
        }
    }
    let mut told = Vec::new();
    for (slot, writers) in slots {
        match slot {
            Slot::Register(field) => {
                for (writer, (before, after)) in writers {
                    let is_older = |now: &Entry| before.as_ref().is_some_and(|before| before.at > now.at);
                    if let Some(entry) = after.filter(|now| !is_older(now)) {
                        let change = Change::Set { field: field.clone(), value: entry.value };
                        told.push(stamped(id, change, entry.at, writer, entry.by));
                    }
                }
            }
            Slot::SetMember { set, member } => {
                let slot = Slot::SetMember { set: set.clone(), member: member.clone() };
                let kept = kept.remove(&slot).unwrap_or_default();
                let (old, new): (Vec<_>, Vec<_>) = writers
                    .into_iter()
                    .map(|(writer, (old, new))| (old.map(|old| (writer, old)), new.map(|new| (writer, new))))
                    .unzip();
                let before = newest(kept.iter().cloned().chain(old.into_iter().flatten()));
                let after = newest(kept.into_iter().chain(new.into_iter().flatten()));
                match (before, after) {
                    (before, Some(after)) if before.as_ref() != Some(&after) => {
                        let (writer, entry) = after;
                        let change = Change::Add { set, member, value: entry.value };
                        told.push(stamped(id, change, entry.at, writer, entry.by));
                    }
                    (Some((writer, entry)), None) => {
                        told.push(stamped(id, Change::Remove { set, member }, entry.at, writer, entry.by));
                    }
                    _ => {}
                }
            }
        }
    }
    told
}

fn newest(entries: impl Iterator<Item = (u64, Entry)>) -> Option<(u64, Entry)> {
    entries.max_by_key(|(writer, entry)| (entry.at, *writer))
}

fn stamped(id: &str, change: Change, at: i64, writer: u64, by: serde_json::Value) -> StampedEdit {
    StampedEdit { edit: Edit { entity: id.to_owned(), change }, stamp: Stamp { at, writer, by } }
}
