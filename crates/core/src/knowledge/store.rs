//! The ports of the knowledge room: what an engine must store besides the journal, and
//! the index that is queried.

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

/// What the store keeps of knowledge besides the journal.
pub trait KnowledgeStore {
    /// Entries about knowledge after that one, oldest first.
    fn knowledge_after(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, StoreError>;

    /// Entries about knowledge that were recorded later than that moment, oldest first.
    fn knowledge_said_after(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Entries about knowledge that were recorded up to that moment, oldest first.
    fn knowledge_said_until(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Whether more was recorded after that moment than before, of anything.
    fn is_mostly_after(&self, at: Timestamp) -> Result<bool, StoreError>;

    /// Entries about knowledge up to that moment that say something of these entities,
    /// oldest first.
    fn knowledge_about(&self, ids: &BTreeSet<String>, until: Timestamp) -> Result<Vec<Entry>, StoreError>;

    /// Replaces the changes of an entry: only to take out what is to be forgotten.
    fn rewrite_entry(&mut self, seq: Seq, changes: &[KeptChange]) -> Result<(), StoreError>;

    /// What this replica is called. `fresh` names it where it has no name yet, or
    /// where the store has come from another machine.
    fn replica(&mut self, host: &str, fresh: u64) -> Result<u64, StoreError>;
}

/// The scopes of which something was taken in, and whether that was about files.
pub type Renewed = BTreeMap<Scope, bool>;

/// What is read: made from the journal, and safe to lose.
pub trait KnowledgeIndex {
    /// How far the journal was taken in, and the last entry about knowledge in it.
    fn last(&self) -> Result<(Seq, Option<(Seq, EntryId)>), StoreError>;

    /// Takes entries in, and with them all up to `through`.
    fn ingest(&mut self, entries: &[Entry], through: Seq) -> Result<Renewed, StoreError>;

    /// Puts side by side what is read together, for a caller that has taken much in;
    /// where it cannot, it is only slower.
    fn tidy(&mut self);

    /// Forgets everything, to be taken in anew.
    fn forget(&mut self) -> Result<(), StoreError>;

    fn known(&self, scope: &Scope, kind: Kind, name: &str) -> Result<Option<Known>, StoreError>;

    /// The relationships that a name is an end of.
    fn links(&self, scope: &Scope, name: &str) -> Result<Vec<Known>, StoreError>;

    fn names(&self, scope: &Scope, kind: Kind) -> Result<Vec<String>, StoreError>;

    /// Visits everything of a kind, in the order of its names.
    fn each(&self, scope: &Scope, kind: Kind, visit: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError>;

    /// What a session that starts is told, heaviest first.
    fn most_important(&self, scope: &Scope, limit: usize) -> Result<Vec<String>, StoreError>;

    /// The files that are known as they are.
    fn fresh_files(&self, scope: &Scope) -> Result<Vec<String>, StoreError>;

    /// What has these words, best first; in every scope where none is named.
    fn search(
        &self,
        scope: Option<&Scope>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(Scope, Known)>, StoreError>;

    /// The entry in which a batch of that key was recorded.
    fn recorded(&self, scope: &Scope, key: &str) -> Result<Option<Seq>, StoreError>;

    /// What is about a file: by its path, and as it stands in `locations` and links.
    fn about_file(&self, scope: &Scope, path: &str) -> Result<Vec<Known>, StoreError>;
}
