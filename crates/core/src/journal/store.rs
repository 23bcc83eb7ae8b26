//! What an engine must do for the journal.

use super::Entry;
use super::EntryId;
use super::NewEntry;
use super::Seq;
use super::TailRequest;
use super::Verification;
use crate::Timestamp;
use crate::engine::StoreError;

/// Writing and reading the journal.
pub trait JournalStore {
    /// Appends the entry and applies its changes.
    fn record(&mut self, entry: &NewEntry) -> Result<Seq, StoreError>;

    /// Entries in order, oldest first.
    fn entries(&self, request: &TailRequest) -> Result<Vec<Entry>, StoreError>;

    /// The entry with this id, if it is among the latest few thousand.
    fn recent(&self, id: EntryId) -> Result<Option<Entry>, StoreError>;

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

    /// The entries up to `through` that no row depends on any more.
    fn droppable(&self, through: Seq) -> Result<Vec<Seq>, StoreError>;

    fn drop_entries(&mut self, entries: &[Seq]) -> Result<usize, StoreError>;

    /// When retention last ran.
    fn last_pruned(&self) -> Result<Option<Timestamp>, StoreError>;

    fn set_last_pruned(&mut self, at: Timestamp) -> Result<(), StoreError>;
}
