//! The ports of the knowledge room: what an engine must offer of the journal, and the index that is
//! queried.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Kind;
use super::Known;
use super::Row;
use super::Scope;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Entry;
use crate::journal::EntryId;
use crate::journal::KeptChange;
use crate::journal::Seq;

/// The entries about knowledge in the journal, and the name of this replica.
pub trait KnowledgeStore {
    /// Returns the entries about knowledge after entry `after`, oldest first.
    fn knowledge_after(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, StoreError>;

    /// Returns the entries about knowledge that were recorded later than a moment, oldest first.
    fn knowledge_said_after(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Returns the entries about knowledge that were recorded up to a moment, oldest first.
    fn knowledge_said_until(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Tells whether more was recorded after a moment than before it, in all rooms.
    fn is_mostly_after(&self, at: Timestamp) -> Result<bool, StoreError>;

    /// Returns the entries about knowledge up to a moment that say something of these entities,
    /// oldest first.
    fn knowledge_about(&self, ids: &BTreeSet<String>, until: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Replaces the changes of an entry: only to remove what is to be forgotten.
    fn rewrite_entry(&mut self, seq: Seq, changes: &[KeptChange]) -> Result<(), StoreError>;

    /// Returns the name of this replica. `fresh` becomes its name if it has none yet, or if the
    /// store has come from another machine.
    fn replica(&mut self, host: &str, fresh: u64) -> Result<u64, StoreError>;
}

/// What an index took in: the scopes, each with whether something about files was in it.
pub type ChangedScopes = BTreeMap<Scope, bool>;

/// The index that is read: made from the journal, and safe to lose.
pub trait KnowledgeIndex {
    /// Returns how far the journal was taken in, and the last entry about knowledge in it.
    fn last(&self) -> Result<(Seq, Option<(Seq, EntryId)>), StoreError>;

    /// Takes entries in, and notes that everything up to `through` was taken in with them.
    fn ingest(&mut self, entries: &[Entry], through: Seq) -> Result<ChangedScopes, StoreError>;

    /// Puts side by side what is read together, for a caller that has taken much in; if that fails,
    /// reads are only slower.
    fn tidy(&mut self);

    /// Forgets everything, to be taken in again.
    fn forget(&mut self) -> Result<(), StoreError>;

    fn known(&self, scope: &Scope, kind: Kind, name: &str) -> Result<Option<Known>, StoreError>;

    /// Returns the relationships that a name is an end of.
    fn links(&self, scope: &Scope, name: &str) -> Result<Vec<Known>, StoreError>;

    fn names(&self, scope: &Scope, kind: Kind) -> Result<Vec<String>, StoreError>;

    /// Visits all records of a kind, in the order of their names.
    fn each(&self, scope: &Scope, kind: Kind, visit: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError>;

    /// Returns the digest lines for a session that starts, heaviest first.
    fn most_important(&self, scope: &Scope, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Returns the files whose records are not stale.
    fn fresh_files(&self, scope: &Scope) -> Result<Vec<String>, StoreError>;

    /// Returns the records that have these words, best first; in every scope if none is named.
    fn search(
        &self,
        scope: Option<&Scope>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(Scope, Known)>, StoreError>;

    /// Returns the entry in which a batch of that key was recorded.
    fn recorded(&self, scope: &Scope, key: &str) -> Result<Option<Seq>, StoreError>;

    /// Returns the records about a file: its own, and those that name it in `locations` or links.
    fn about_file(&self, scope: &Scope, path: &str) -> Result<Vec<Known>, StoreError>;
}
