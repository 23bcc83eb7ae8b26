//! Verbs of the journal: tail, verify, rebuild, retention.

use super::Actor;
use super::Change;
use super::Entry;
use super::EntryId;
use super::JournalChange;
use super::Seq;
use super::TailRequest;
use super::Verification;
use crate::App;
use crate::Timestamp;
use crate::app::commit;
use crate::config::Retention;
use crate::engine::StoreError;
use crate::messages;
use crate::presence;

/// Most changes that one transaction of retention drops.
const STEP: usize = 500;

/// Time between two runs of retention.
const RETENTION_PAUSE: i64 = Timestamp::DAY;

impl App {
    /// Reads a part of the journal, oldest first.
    pub fn journal_tail(&mut self, request: &TailRequest) -> Result<Vec<Entry>, StoreError> {
        self.engine.read()?.entries(request)
    }

    /// Reads one entry, unless it was dropped.
    pub fn journal_entry(&mut self, id: EntryId) -> Result<Option<Entry>, StoreError> {
        self.engine.read()?.entry(id)
    }

    /// Returns the sequence number of the last entry.
    pub fn journal_last_seq(&mut self) -> Result<Seq, StoreError> {
        self.engine.read()?.last_seq()
    }

    /// Replays the journal and compares it with the tables.
    pub fn journal_verify(&mut self) -> Result<Verification, StoreError> {
        self.engine.read()?.verify()
    }

    /// Tells whether the published lines were made from the store as it is now.
    pub fn is_published(&mut self) -> Result<bool, StoreError> {
        self.engine.read()?.is_published()
    }

    /// Lists the faults that the engine finds in its own files.
    pub fn store_integrity(&mut self) -> Result<Vec<String>, StoreError> {
        self.engine.read()?.integrity()
    }

    /// Rebuilds the tables from the journal; returns the number of entries replayed.
    pub fn journal_rebuild(&mut self) -> Result<usize, StoreError> {
        let mut tx = self.engine.write()?;
        let entries = tx.rebuild()?;
        commit(&*self.host, tx)?;
        Ok(entries)
    }

    /// Forgets agents that left and messages that were read longer ago than the retention, then
    /// drops the entries that nothing depends on, at most once a day. Returns the number of
    /// dropped entries.
    pub fn apply_retention(&mut self, retention: Retention) -> Result<usize, StoreError> {
        let now = self.host.now();
        self.engine.side_files().forget_kept(now.minus(Timestamp::DAY));
        let due = |last: Option<Timestamp>| last.is_none_or(|last| now.since(last) >= RETENTION_PAUSE);
        if !due(self.engine.read()?.last_pruned()?) {
            return Ok(0);
        }
        let days_ago = |days: u32| now.minus(i64::from(days) * Timestamp::DAY);
        let before = days_ago(retention.journal_days);

        let mut tx = self.engine.write()?;
        tx.set_last_pruned(now)?;
        commit(&*self.host, tx)?;

        let files = self.engine.side_files();
        let here = self.engine.read()?.present()?;
        files.end_trails_except(&here.into_iter().map(|agent| agent.session).collect::<Vec<_>>());
        files.forget_trails(before);
        // The long searches only read, and the writes are done in small steps: no writer waits
        // long for them.
        let tx = self.engine.read()?;
        let mut changes = messages::forget_before(&*tx, days_ago(retention.message_days))?;
        changes.extend(presence::forget_before(&*tx, before)?);
        let through = tx.last_before(before)?;
        let mut droppable = tx.droppable(through)?;
        drop(tx);
        if droppable.is_empty() && changes.is_empty() {
            return Ok(0);
        }
        let forgets = !changes.is_empty();
        changes.push(Change::Journal(JournalChange::Pruned { before, through }));
        let tx = self.engine.write()?;
        Self::conclude(&*self.host, tx, now, None, Actor::Consort, changes)?;
        if forgets {
            droppable = self.engine.read()?.droppable(through)?;
        }
        let mut dropped = 0;
        for some in droppable.chunks(STEP) {
            let mut tx = self.engine.write()?;
            dropped += tx.drop_changes(some)?;
            commit(&*self.host, tx)?;
        }
        Ok(dropped)
    }
}
