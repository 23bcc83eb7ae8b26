//! Reads entities and their entries out of a CRDT document.

use std::collections::BTreeMap;

use yrs::Map;
use yrs::MapRef;
use yrs::Out;
use yrs::ReadTxn;
use yrs::Transact;

use super::Document;
use crate::entity::Entity;
use crate::entity::Register;
use crate::entity::SetMember;
use crate::entry::Entry;
use crate::key;
use crate::key::Key;
use crate::key::Slot;

impl Document {
    /// Reads an entity; `None` if nothing is known of it, or all of it was removed.
    pub fn entity(&self, id: &str) -> Option<Entity> {
        let txn = self.doc.transact();
        let entity = entity(&txn, &txn.get_map(id)?);
        (!entity.is_empty()).then_some(entity)
    }

    /// Reads all entities, by id.
    pub fn entities(&self) -> BTreeMap<String, Entity> {
        let txn = self.doc.transact();
        let read = |id: &str| Some((id.to_owned(), entity(&txn, &txn.get_map(id)?)));
        let all = txn.root_refs().filter_map(|(id, _)| read(id));
        all.filter(|(_, entity)| !entity.is_empty()).collect()
    }
}

/// Returns the newest entry of every slot, with its writer.
pub(super) fn newest(entries: impl Iterator<Item = (Slot, u64, Entry)>) -> BTreeMap<Slot, (u64, Entry)> {
    let mut newest: BTreeMap<Slot, (u64, Entry)> = BTreeMap::new();
    for (slot, writer, entry) in entries {
        match newest.get(&slot) {
            Some((other, kept)) if (kept.at, *other) > (entry.at, writer) => {}
            _ => drop(newest.insert(slot, (writer, entry))),
        }
    }
    newest
}

/// Returns all entries of a map whose key and value are of our form.
pub(super) fn entries(txn: &impl ReadTxn, map: &MapRef) -> Vec<(Slot, u64, Entry)> {
    let read = |(name, value): (&str, Out)| {
        let Key { slot, writer } = key::parse(name)?;
        let Out::Any(any) = value else { return None };
        Some((slot, writer, Entry::read(&any)?))
    };
    map.iter(txn).filter_map(read).collect()
}

fn entity(txn: &impl ReadTxn, map: &MapRef) -> Entity {
    let mut entity = Entity::default();
    for (slot, (writer, Entry { at, value, by })) in newest(entries(txn, map).into_iter()) {
        match slot {
            Slot::Register(field) => drop(entity.registers.insert(field, Register { value, at, writer, by })),
            Slot::SetMember { set, member } => {
                entity.sets.entry(set).or_default().insert(member, SetMember { value, at, by });
            }
        }
    }
    entity
}
