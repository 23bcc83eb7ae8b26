//! The journal's verbs.

use super::Actor;
use super::Change;
use super::Entry;
use super::JournalChange;
use super::JournalStore as _;
use super::NewEntry;
use super::Seq;
use super::TailRequest;
use super::Verification;
use crate::App;
use crate::Timestamp;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx as _;
use crate::host::Host;
use crate::presence::PresenceChange;
use crate::presence::PresenceStore as _;

/// Retention is worth a look once a day.
pub const RETENTION_PAUSE: i64 = Timestamp::DAY;

impl<E: Engine, H: Host> App<E, H> {
    pub fn journal_tail(&mut self, request: &TailRequest) -> Result<Vec<Entry>, StoreError> {
        self.engine.read()?.entries(request)
    }

    pub fn journal_last_seq(&mut self) -> Result<Seq, StoreError> {
        self.engine.read()?.last_seq()
    }

    pub fn journal_verify(&mut self) -> Result<Verification, StoreError> {
        self.engine.read()?.verify()
    }

    pub fn journal_rebuild(&mut self) -> Result<usize, StoreError> {
        let mut tx = self.engine.write()?;
        let entries = tx.rebuild()?;
        tx.commit()?;
        Ok(entries)
    }

    /// Forgets agents that left before the retention began, then drops the
    /// entries that nothing depends on. At most once a day.
    pub fn journal_retain(&mut self, days: u32) -> Result<usize, StoreError> {
        let now = self.host.now();
        let due = |last: Option<Timestamp>| last.is_none_or(|last| now.since(last) >= RETENTION_PAUSE);
        if !due(self.engine.read()?.last_pruned()?) {
            return Ok(0);
        }
        let before = now.minus(i64::from(days) * Timestamp::DAY);
        let mut tx = self.engine.write()?;
        let through = tx.last_before(before)?;
        let mut changes: Vec<Change> = tx
            .left_before(before)?
            .into_iter()
            .map(|session| Change::Presence(PresenceChange::Forgotten { session }))
            .collect();
        let forgets = !changes.is_empty();
        changes.push(Change::Journal(JournalChange::Pruned { before, through }));
        let (project, actor, random) = (None, Actor::Consort, self.host.random());
        tx.record(&NewEntry { at: now, project, actor, changes, random })?;
        let dropped = tx.drop_entries(through)?;
        let news = forgets || dropped > 0;
        if !news {
            drop(tx);
            tx = self.engine.write()?;
        }
        tx.set_last_pruned(now)?;
        tx.commit()?;
        if news {
            self.host.ring(None);
        }
        Ok(dropped)
    }
}
