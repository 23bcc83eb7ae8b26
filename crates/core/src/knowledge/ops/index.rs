//! Knowledge verbs that open the index and bring it up to date with the journal.

use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Renewed;

/// How many entries are taken in at once.
const BATCH: usize = 500;

/// After so many at a time, the index is worth putting in order.
const MUCH: usize = 500;

impl App {
    /// What is known, as of now. It is worth keeping for a caller that asks often.
    pub fn knowledge(&mut self) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        let mut index = self.engine.knowledge();
        self.catch_up(&mut *index)?;
        Ok(index)
    }

    /// Brings an index up to date.
    pub fn catch_up(&mut self, index: &mut dyn KnowledgeIndex) -> Result<(), StoreError> {
        // Another may have taken in what came after our view of the journal.
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

    /// Does what follows from entries that the index has taken in, no matter who recorded them.
    fn follow(&mut self, (count, renewed): (usize, Renewed), index: &mut dyn KnowledgeIndex) {
        for (scope, is_about_files) in renewed {
            // One that is not written is behind, which the next session sees.
            let _ = self.write_digest(index, &scope, is_about_files);
        }
        tidy_after(count, index);
    }

    /// For a caller that has recorded so much, one after the other.
    pub fn tidy_knowledge_after(&mut self, count: usize) {
        let mut index = self.engine.knowledge();
        tidy_after(count, &mut *index);
    }
}

/// Never within a turn to write: others wait for theirs.
fn tidy_after(count: usize, index: &mut dyn KnowledgeIndex) {
    if count >= MUCH {
        index.tidy();
    }
}

/// Takes in what the index does not have, and says how many entries those were and what
/// they were about; nothing where it has more than there is to be seen, or something else.
fn catch_up(tx: &dyn Tx, index: &mut dyn KnowledgeIndex) -> Result<Option<(usize, Renewed)>, StoreError> {
    // In this order: what others take in after that is nothing to wonder about.
    let (mut last, newest) = index.last()?;
    let through = tx.last_seq()?;
    let is_another = |(seq, id)| Ok(tx.id_of(seq)? != Some(id));
    if last > through || newest.map(is_another).transpose()? == Some(true) {
        return Ok(None);
    }
    let (mut count, mut renewed) = (0, Renewed::new());
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

/// The same for a writer: nobody is ahead of its view, so an index that is
/// was made from another store.
pub(super) fn catch_up_or_begin_anew(tx: &dyn Tx, index: &mut dyn KnowledgeIndex) -> Result<(), StoreError> {
    if catch_up(tx, index)?.is_none() {
        index.forget()?;
        catch_up(tx, index)?;
    }
    Ok(())
}
