//! Knowledge verbs about the past: who said what and when, the state as of a moment,
//! and the entries of another replica to merge.

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Entry;
use crate::journal::EntryId;
use crate::journal::Seq;
use crate::knowledge::Edit;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::KnowledgePlace;
use crate::knowledge::Scope;
use crate::knowledge::StampedEdit;
use crate::knowledge::foreign;

impl App {
    /// All entries about what is known in a scope, oldest first.
    pub fn knowledge_entries(&mut self, scope: &Scope) -> Result<Vec<Entry>, StoreError> {
        let mut entries = self.engine.read()?.knowledge_after(0, usize::MAX)?;
        entries.retain(|entry| entry.project.as_ref() == scope.project());
        Ok(entries)
    }

    /// Entries about what is known in a scope that have come since, oldest first;
    /// `None` where the store is another one, and all begins anew.
    pub fn knowledge_since(
        &mut self,
        scope: &Scope,
        place: &mut KnowledgePlace,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let tx = self.engine.read()?;
        let through = tx.last_seq()?;
        let is_gone =
            |(seq, id): &(Seq, EntryId)| -> Result<bool, StoreError> { Ok(tx.id_of(*seq)? != Some(*id)) };
        if through < place.through || place.newest.as_ref().map(is_gone).transpose()? == Some(true) {
            *place = KnowledgePlace::default();
            return Ok(None);
        }
        let mut entries = tx.knowledge_after(place.through, usize::MAX)?;
        if let Some(newest) = entries.last() {
            place.newest = Some((newest.seq, newest.id));
        }
        place.through = through;
        entries.retain(|entry| entry.project.as_ref() == scope.project());
        Ok(Some(entries))
    }

    /// All that was said of these entities, oldest first.
    pub fn knowledge_history(
        &mut self,
        scope: &Scope,
        ids: &[String],
    ) -> Result<Vec<StampedEdit>, StoreError> {
        let mut said = Vec::new();
        for entry in self.knowledge_entries(scope)? {
            for change in &entry.changes {
                let Change::Knowledge(change) = &change.change else { continue };
                let stamped = change.stamped(entry.at).into_iter();
                let meant = stamped.filter(|one| ids.contains(&one.edit.entity));
                said.extend(meant.map(|one| one.to_owned()));
            }
        }
        said.sort_by_key(|stamped| stamped.at);
        Ok(said)
    }

    /// What was known at some moment, in an index of its own.
    pub fn knowledge_as_of(
        &mut self,
        scope: &Scope,
        at: Timestamp,
    ) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        let mut entries = self.knowledge_entries(scope)?;
        entries.retain(|entry| entry.at <= at);
        let mut index = self.engine.temporary_knowledge();
        index.ingest(&entries, entries.last().map_or(0, |entry| entry.seq))?;
        Ok(index)
    }

    /// Records what another replica knew and what was new in it, and the way it came:
    /// also where that is nothing we read, as long as there is an update. What it says
    /// later may build on it.
    pub fn merge_knowledge(
        &mut self,
        index: &mut dyn KnowledgeIndex,
        scope: &Scope,
        via: &str,
        update: String,
        edits: Vec<StampedEdit>,
    ) -> Result<Option<Seq>, StoreError> {
        if update.is_empty() {
            return Ok(None);
        }
        let now = self.host.now();
        let edits = edits.into_iter().map(|edit| foreign::marked(edit, via));
        let (edits, ahead): (Vec<StampedEdit>, _) = edits.partition(|edit| foreign::counts(edit, now));
        let forgotten: Vec<Edit> = edits.iter().map(|stamped| stamped.edit.clone()).collect();
        let tx = self.engine.write()?;
        let changes = vec![Change::Knowledge(KnowledgeChange::Merged { update, edits, ahead })];
        let recorded =
            Self::conclude(&*self.host, tx, now, scope.project().cloned(), Actor::Consort, changes)?;
        self.catch_up(index)?;
        let _ = self.write_digest(index, scope, true);
        if self.scrub_forgotten(scope, &forgotten)? {
            self.catch_up(index)?;
        }
        Ok(recorded.map(|recorded| recorded.seq))
    }
}
