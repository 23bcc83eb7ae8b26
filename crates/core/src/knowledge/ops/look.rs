//! Bringing the index up to date, and reading it.

use crate::App;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::knowledge::KnowledgeIndex;

/// How many entries are taken in at once.
const BATCH: usize = 500;

impl<E: Engine, H: Host> App<E, H> {
    /// What is known, as of now. It is worth keeping for whoever asks often.
    pub fn knowledge(&mut self) -> Result<E::Knowledge, StoreError> {
        let mut index = self.engine.knowledge();
        self.catch_up(&mut index)?;
        Ok(index)
    }

    /// Brings an index up to date.
    pub fn catch_up(&mut self, index: &mut E::Knowledge) -> Result<(), StoreError> {
        catch_up(&self.engine.read()?, index)
    }
}

pub(super) fn catch_up(tx: &impl Tx, index: &mut impl KnowledgeIndex) -> Result<(), StoreError> {
    let through = tx.last_seq()?;
    let (mut last, newest) = index.last()?;
    if last >= through && newest.is_none() {
        return Ok(());
    }
    if let Some((seq, id)) = newest
        && tx.knowledge_after(seq - 1, 1)?.first().is_none_or(|entry| entry.id != id)
    {
        // It was made from another store.
        index.forget()?;
        last = 0;
    }
    while last < through {
        let entries = tx.knowledge_after(last, BATCH)?;
        let is_all = entries.len() < BATCH;
        last = if is_all { through } else { entries.last().map_or(through, |entry| entry.seq) };
        index.take_in(&entries, last)?;
    }
    Ok(())
}
