//! Knowledge verbs that open the index and bring it up to date with the journal.

use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::knowledge::ChangedScopes;
use crate::knowledge::KnowledgeIndex;

/// Number of entries that are taken in at once.
const BATCH: usize = 500;

/// Number of entries, taken in at a time, from which on the index is tidied.
const MUCH: usize = 500;

impl App {
    /// Opens the index of what is known, as of now. A caller that asks often should keep it.
    pub fn knowledge(&mut self) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        let mut index = self.engine.knowledge();
        self.catch_up(&mut *index)?;
        Ok(index)
    }

    /// Brings an index up to date with the journal.
    pub fn catch_up(&mut self, index: &mut dyn KnowledgeIndex) -> Result<(), StoreError> {
        // Another process may have taken in entries that came after our view of the journal.
        for _ in 0..3 {
            let taken = catch_up(&*self.engine.read()?, index)?;
            if let Some(taken) = taken {
                self.follow(taken, index);
                return Ok(());
            }
        }
        index.forget()?;
        let taken = catch_up(&*self.engine.read()?, index)?;
        self.follow(taken.unwrap_or_default(), index);
        Ok(())
    }

    /// Does what follows from entries that the index has taken in, no matter who recorded them:
    /// writes digests, and tidies the index.
    fn follow(&mut self, (count, renewed): (usize, ChangedScopes), index: &mut dyn KnowledgeIndex) {
        for (scope, is_about_files) in renewed {
            // A digest that was not written is behind, which the next session notices.
            let _ = self.write_digest(index, &scope, is_about_files);
        }
        tidy_after(count, index);
    }

    /// Tidies the index for a caller that has recorded `count` batches, one after the other.
    pub fn tidy_knowledge_after(&mut self, count: usize) {
        let mut index = self.engine.knowledge();
        tidy_after(count, &mut *index);
    }
}

/// Tidies the index if much was taken in. Never call this inside a write transaction: others wait
/// for theirs.
fn tidy_after(count: usize, index: &mut dyn KnowledgeIndex) {
    if count >= MUCH {
        index.tidy();
    }
}

/// Takes in the entries that the index does not have, and returns their number and what they were
/// about; `None` if the index is ahead of this view of the journal, or is that of another store.
fn catch_up(
    tx: &dyn Tx,
    index: &mut dyn KnowledgeIndex,
) -> Result<Option<(usize, ChangedScopes)>, StoreError> {
    // The index is asked first: then it cannot seem ahead because of what others take in meanwhile.
    let (mut last, newest) = index.last()?;
    let through = tx.last_seq()?;
    let is_another = |(seq, id)| Ok(tx.id_of(seq)? != Some(id));
    if last > through || newest.map(is_another).transpose()? == Some(true) {
        return Ok(None);
    }
    let (mut count, mut renewed) = (0, ChangedScopes::new());
    while last < through {
        let entries = tx.knowledge_after(last, BATCH)?;
        let is_all = entries.len() < BATCH;
        last = if is_all { through } else { entries.last().map_or(through, |entry| entry.seq) };
        for (scope, is_about_files) in index.ingest(&entries, last)? {
            *renewed.entry(scope).or_default() |= is_about_files;
        }
        count += entries.len();
    }
    Ok(Some((count, renewed)))
}

/// Brings an index up to date for a writer. Nobody is ahead of a writer's view, so an index that
/// seems ahead was made from another store: it is made again.
pub(super) fn catch_up_or_begin_anew(tx: &dyn Tx, index: &mut dyn KnowledgeIndex) -> Result<(), StoreError> {
    if catch_up(tx, index)?.is_none() {
        index.forget()?;
        catch_up(tx, index)?;
    }
    Ok(())
}
