//! Writes edits into a CRDT document in the name of one writer.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::collections::HashMap;

use yrs::Any;
use yrs::Map;
use yrs::MapRef;
use yrs::Out;
use yrs::ReadTxn;
use yrs::Transact;
use yrs::TransactionMut;
use yrs::WriteTxn;

use super::Document;
use crate::edit::Change;
use crate::edit::Edit;
use crate::edit::Stamp;
use crate::entry;
use crate::entry::Entry;
use crate::error::CrdtError;
use crate::key;
use crate::key::Slot;
use crate::value::depth;
use crate::value::to_any;
use crate::wire::MAX_DEPTH;

/// Most edits in one transaction: its time is quadratic in the number of new types.
const CHUNK: usize = 1_000;

impl Document {
    /// Makes all of `edits` in order, or none of them.
    pub fn edit(&mut self, edits: &[Edit], stamp: &Stamp) -> Result<(), CrdtError> {
        // yrs has no rollback, so everything that can be wrong is checked first.
        for edit in edits {
            if let Change::Set { value, .. } | Change::Add { value, .. } = &edit.change
                && depth(value) >= MAX_DEPTH
            {
                return Err(CrdtError::TooMuch { what: "levels", limit: MAX_DEPTH - 1 });
            }
        }
        if depth(&stamp.by) >= MAX_DEPTH {
            return Err(CrdtError::TooMuch { what: "levels", limit: MAX_DEPTH - 1 });
        }
        self.switch_writer(stamp.writer)?;
        let mut pen = Pen { stamp, by: to_any(&stamp.by), holders: HashMap::new() };
        for chunk in edits.chunks(CHUNK) {
            let mut txn = self.doc.transact_mut();
            for edit in chunk {
                pen.write(&mut txn, edit);
            }
            if let Some(watch) = &mut self.watch {
                watch.cover(&mut txn, chunk.iter().map(|edit| edit.entity.as_str()));
            }
        }
        Ok(())
    }
}

/// The writers that have a key for each member, by set and member.
type Holders = BTreeMap<(String, String), BTreeSet<u64>>;

struct Pen<'a> {
    stamp: &'a Stamp,
    by: Any,
    /// The holders of each entity whose sets were edited.
    holders: HashMap<&'a str, Holders>,
}

impl<'a> Pen<'a> {
    fn write(&mut self, txn: &mut TransactionMut<'_>, edit: &'a Edit) {
        let map = txn.get_or_insert_map(edit.entity.as_str());
        let (at, writer) = (self.stamp.at, self.stamp.writer);
        match &edit.change {
            Change::Set { field, value } => {
                let key = key::register(field, writer);
                // After the clock was set back, the writer's own later entry stays.
                let is_older = match map.get(txn, &key) {
                    Some(Out::Any(now)) => Entry::read_at(&now).is_some_and(|now| now > at),
                    _ => false,
                };
                if !is_older {
                    map.insert(txn, key, entry::write(at, value, &self.by));
                }
            }
            Change::Add { set, member, value } => {
                self.clear(txn, &map, &edit.entity, set, member, Some(writer));
                map.insert(txn, key::member(set, member, writer), entry::write(at, value, &self.by));
            }
            Change::Remove { set, member } => self.clear(txn, &map, &edit.entity, set, member, None),
        }
    }

    /// Removes every writer's key of a member, except that of `heir`, who is about to write it again.
    fn clear(
        &mut self,
        txn: &mut TransactionMut<'_>,
        map: &MapRef,
        entity: &'a str,
        set: &str,
        member: &str,
        heir: Option<u64>,
    ) {
        let holders = self.holders.entry(entity).or_insert_with(|| holders(txn, map));
        let place = (set.to_owned(), member.to_owned());
        for writer in holders.remove(&place).unwrap_or_default() {
            if Some(writer) != heir {
                map.remove(txn, &key::member(set, member, writer));
            }
        }
        holders.extend(heir.map(|heir| (place, BTreeSet::from([heir]))));
    }
}

fn holders(txn: &impl ReadTxn, map: &MapRef) -> Holders {
    let mut holders = Holders::new();
    for name in map.keys(txn) {
        if let Some(key) = key::parse(name)
            && let Slot::SetMember { set, member } = key.slot
        {
            holders.entry((set, member)).or_default().insert(key.writer);
        }
    }
    holders
}
