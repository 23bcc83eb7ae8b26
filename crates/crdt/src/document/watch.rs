//! Observes which entries a merge into a CRDT document changes.
//!
//! yrs reports changed entries only to observers of a map, so every root has an observer. **The
//! observers record only while a merge runs.**

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use yrs::Any;
use yrs::Observable;
use yrs::Out;
use yrs::ReadTxn;
use yrs::TransactionMut;
use yrs::WriteTxn;
use yrs::types::EntryChange;

#[derive(Default)]
pub(super) struct Watch {
    roots: HashSet<Arc<str>>,
    /// The changes recorded so far; `None` while no merge runs.
    changed: Arc<Mutex<Option<Vec<Changed>>>>,
}

pub(super) struct Changed {
    pub(super) entity: Arc<str>,
    pub(super) key: Arc<str>,
    pub(super) before: Option<Any>,
    pub(super) after: Option<Any>,
}

impl Watch {
    /// Observes all roots of a document.
    pub(super) fn new(txn: &mut TransactionMut<'_>) -> Self {
        let mut watch = Self::default();
        let there: Vec<String> = txn.root_refs().map(|(name, _)| name.to_owned()).collect();
        watch.cover(txn, there.iter().map(String::as_str));
        watch
    }

    /// Observes further roots, which are new or about to be created.
    pub(super) fn cover<'a>(&mut self, txn: &mut TransactionMut<'_>, names: impl Iterator<Item = &'a str>) {
        for name in names {
            if self.roots.contains(name) {
                continue;
            }
            let name: Arc<str> = name.into();
            let (changed, entity) = (Arc::clone(&self.changed), Arc::clone(&name));
            txn.get_or_insert_map(Arc::clone(&name)).observe("merge", move |txn, event| {
                let mut changed = changed.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(changed) = changed.as_mut() {
                    changed.extend(
                        event.keys(txn).iter().map(|(key, change)| Changed::new(&entity, key, change)),
                    );
                }
            });
            self.roots.insert(name);
        }
    }

    pub(super) fn start(&self) {
        *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }

    /// Stops recording and returns the changes, in no order.
    pub(super) fn stop(&self) -> Vec<Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}

impl Changed {
    fn new(entity: &Arc<str>, key: &Arc<str>, change: &EntryChange) -> Self {
        let (before, after) = match change {
            EntryChange::Inserted(new) => (None, any(new)),
            EntryChange::Updated(old, new) => (any(old), any(new)),
            EntryChange::Removed(old) => (any(old), None),
        };
        Self { entity: Arc::clone(entity), key: Arc::clone(key), before, after }
    }
}

fn any(out: &Out) -> Option<Any> {
    if let Out::Any(any) = out { Some(any.clone()) } else { None }
}
