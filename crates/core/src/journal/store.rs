//! The port of the journal: what an engine must do to append, read and replay entries.

use super::Entry;
use super::EntryId;
use super::NewEntry;
use super::Number;
use super::NumberSeries;
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

    /// Returns the number that the next thing of this series will get.
    fn next_number(&self, series: &NumberSeries) -> Result<Number, StoreError>;

    /// Reads entries in order, oldest first.
    fn entries(&self, request: &TailRequest) -> Result<Vec<Entry>, StoreError>;

    /// Reads the entry with this id.
    fn entry(&self, id: EntryId) -> Result<Option<Entry>, StoreError>;

    fn last_seq(&self) -> Result<Seq, StoreError>;

    /// Returns the id of the entry with this sequence number, if there is one.
    fn id_of(&self, seq: Seq) -> Result<Option<EntryId>, StoreError>;

    /// Lists the faults that the engine finds in its own files.
    fn integrity(&self) -> Result<Vec<String>, StoreError>;

    /// Replays the journal beside the tables and compares.
    fn verify(&self) -> Result<Verification, StoreError>;

    /// Empties the rooms' tables and replays the journal into them.
    fn rebuild(&mut self) -> Result<usize, StoreError>;

    /// Finds the last entry older than `before`, except the last of all, which is never dropped.
    fn last_before(&self, before: Timestamp) -> Result<Seq, StoreError>;

    /// Lists the changes in entries up to `through` that no row depends on any more, by entry and place.
    fn droppable(&self, through: Seq) -> Result<Vec<(Seq, usize)>, StoreError>;

    /// Drops changes, and entries of which nothing is left; returns the number of dropped entries.
    fn drop_changes(&mut self, changes: &[(Seq, usize)]) -> Result<usize, StoreError>;

    /// Returns the time at which retention last ran.
    fn last_pruned(&self) -> Result<Option<Timestamp>, StoreError>;

    fn set_last_pruned(&mut self, at: Timestamp) -> Result<(), StoreError>;
}
