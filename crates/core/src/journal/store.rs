//! The port of the journal: what an engine must do to append, read and replay entries.

use super::Counter;
use super::Entry;
use super::EntryId;
use super::NewEntry;
use super::Number;
use super::Recorded;
use super::Seq;
use super::TailRequest;
use super::Verification;
use crate::Timestamp;
use crate::engine::StoreError;

/// Writing and reading the journal.
pub trait JournalStore {
    /// Appends the entry and applies its changes.
    fn record(&mut self, entry: &NewEntry) -> Result<Recorded, StoreError>;

    /// The number that the next one of its kind will have.
    fn next_number(&self, counter: &Counter) -> Result<Number, StoreError>;

    /// Entries in order, oldest first.
    fn entries(&self, request: &TailRequest) -> Result<Vec<Entry>, StoreError>;

    /// The entry with this id.
    fn entry(&self, id: EntryId) -> Result<Option<Entry>, StoreError>;

    fn last_seq(&self) -> Result<Seq, StoreError>;

    /// The id of an entry, where there is one of that number.
    fn id_of(&self, seq: Seq) -> Result<Option<EntryId>, StoreError>;

    /// Whatever the engine finds wrong with its own files; empty is sound.
    fn integrity(&self) -> Result<Vec<String>, StoreError>;

    /// Replays the journal beside the tables and compares.
    fn verify(&self) -> Result<Verification, StoreError>;

    /// Empties the rooms' tables and replays the journal into them.
    fn rebuild(&mut self) -> Result<usize, StoreError>;

    /// The last entry older than `before`, short of the last of all, which is
    /// never dropped.
    fn last_before(&self, before: Timestamp) -> Result<Seq, StoreError>;

    /// The changes in entries up to `through` that no row depends on any more, by
    /// entry and place.
    fn droppable(&self, through: Seq) -> Result<Vec<(Seq, usize)>, StoreError>;

    /// Drops changes, and entries of which nothing is left; how many of these.
    fn drop_changes(&mut self, changes: &[(Seq, usize)]) -> Result<usize, StoreError>;

    /// When retention last ran.
    fn last_pruned(&self) -> Result<Option<Timestamp>, StoreError>;

    fn set_last_pruned(&mut self, at: Timestamp) -> Result<(), StoreError>;
}
