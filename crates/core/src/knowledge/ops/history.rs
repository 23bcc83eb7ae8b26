//! Knowledge verbs about the past: the history of entities, what was known at a moment, and the
//! merging of another replica's entries.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Entry;
use crate::journal::EntryId;
use crate::journal::Seq;
use crate::knowledge::Edit;
use crate::knowledge::EditChange;
use crate::knowledge::Entity;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeCursor;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Scope;
use crate::knowledge::StampedEdit;
use crate::knowledge::foreign;
use crate::knowledge::merge::KIND;
use crate::knowledge::past_index::PastIndex;
use crate::knowledge::past_index::Touched;

impl App {
    /// Returns all entries about what is known in a scope, oldest first.
    pub fn knowledge_entries(&mut self, scope: &Scope) -> Result<Vec<Entry>, StoreError> {
        let mut entries = self.engine.read()?.knowledge_after(0, usize::MAX)?;
        entries.retain(|entry| entry.project.as_ref() == scope.project());
        Ok(entries)
    }

    /// Returns the entries about what is known in a scope that have come since `place`, oldest
    /// first; `None` if the store is another one, so that the caller has to begin again.
    pub fn knowledge_since(
        &mut self,
        scope: &Scope,
        place: &mut KnowledgeCursor,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let tx = self.engine.read()?;
        let through = tx.last_seq()?;
        let is_gone =
            |(seq, id): &(Seq, EntryId)| -> Result<bool, StoreError> { Ok(tx.id_of(*seq)? != Some(*id)) };
        if through < place.through || place.newest.as_ref().map(is_gone).transpose()? == Some(true) {
            *place = KnowledgeCursor::default();
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

    /// Returns all edits of these entities, oldest first.
    pub fn knowledge_history(
        &mut self,
        scope: &Scope,
        ids: &[String],
    ) -> Result<Vec<StampedEdit>, StoreError> {
        let (mut said, wanted) = (Vec::new(), ids.iter().cloned().collect());
        let mut entries = self.engine.read()?.knowledge_about(&wanted, Timestamp(i64::MAX))?;
        entries.retain(|entry| entry.project.as_ref() == scope.project());
        for entry in entries {
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

    /// Opens an index of what was known at a moment.
    pub fn open_knowledge_as_of(
        &mut self,
        scope: &Scope,
        at: Timestamp,
    ) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        let now = self.knowledge()?;
        let mut then = self.engine.temporary_knowledge();
        let tx = self.engine.read()?;
        let is_here = |entry: &Entry| entry.project.as_ref() == scope.project();
        // From the beginning up to `at`, or from now back to it: whichever is less.
        if tx.is_mostly_after(at)? {
            let mut before = tx.knowledge_said_until(at)?;
            before.retain(is_here);
            then.ingest(&before, before.last().map_or(0, |entry| entry.seq))?;
            return Ok(then);
        }
        let mut later = tx.knowledge_said_after(at)?;
        later.retain(is_here);
        let created = created_in(&later);
        let before = |ids: &BTreeSet<String>| -> Result<Vec<Entry>, StoreError> {
            let ids: BTreeSet<String> = ids.difference(&created).cloned().collect();
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let mut entries = tx.knowledge_about(&ids, at)?;
            entries.retain(is_here);
            entries.iter_mut().for_each(|entry| retain_edits(entry, &ids));
            Ok(entries)
        };
        let mut ids: BTreeSet<String> = edits(&later).map(|edit| edit.entity.clone()).collect();
        let first_ids = ids.clone();
        let said_before = before(&ids)?;
        let mut touched = names_in(&said_before, &later, &ids);
        add_dependents(&*now, scope, &mut touched)?;
        let concerned: Vec<(Kind, String)> =
            touched.iter().map(|(kind, name)| (kind, name.to_owned())).collect();
        for (kind, name) in concerned {
            ids.extend(now.known(scope, kind, &name)?.into_iter().flat_map(|known| known.ids));
            // The files that it depends on decide whether it was stale.
            for link in now.links(scope, &name)? {
                for end in ["from", "to"] {
                    for kind in Kind::ALL {
                        let known = now.known(scope, kind, link.text(end))?;
                        ids.extend(known.into_iter().flat_map(|known| known.ids));
                    }
                }
                ids.extend(link.ids);
                // A relationship is named by its ends: while an end had another name, it had
                // another too.
                touched.extend([(Kind::Relationship, link.name)]);
            }
        }
        // The journal is searched again only for entities that were not asked for before.
        let entries = if ids == first_ids { said_before } else { before(&ids)? };
        then.ingest(&entries, entries.last().map_or(0, |entry| entry.seq))?;
        touched.extend(
            then.names(scope, Kind::Relationship)?.into_iter().map(|name| (Kind::Relationship, name)),
        );
        Ok(Box::new(PastIndex { now, then, touched }))
    }

    /// Records the update of another replica, the edits in it that were new, and the way it came:
    /// even if we can read no edit in it, as long as there is an update, because later updates may
    /// build on it.
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
        let (edits, ahead): (Vec<StampedEdit>, _) = edits.partition(|edit| foreign::is_acceptable(edit, now));
        let forgotten: Vec<Edit> = edits.iter().map(|stamped| stamped.edit.clone()).collect();
        let tx = self.engine.write()?;
        let changes = vec![Change::Knowledge(KnowledgeChange::Merged { update, edits, ahead })];
        let recorded =
            Self::conclude(&*self.host, tx, now, scope.project().cloned(), Actor::Consort, changes)?;
        self.catch_up(index)?;
        if self.scrub_forgotten(scope, &forgotten)? {
            self.catch_up(index)?;
        }
        Ok(recorded.map(|recorded| recorded.seq))
    }
}

/// The fields that make up the name of an entity.
const NAMING: [&str; 6] = [KIND, "name", "path", "from", "to", "type"];

fn edits(entries: &[Entry]) -> impl Iterator<Item = &Edit> {
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    changes.flat_map(|kept| match &kept.change {
        Change::Knowledge(change) => change.stamped(Timestamp(0)).into_iter().map(|said| said.edit).collect(),
        _ => Vec::new(),
    })
}

/// Returns the entities that a batch in these entries has made: nothing was said of them before.
/// Edits of another replica do not count, because they may be repetitions.
fn created_in(entries: &[Entry]) -> BTreeSet<String> {
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    let edits = changes.flat_map(|kept| match &kept.change {
        Change::Knowledge(KnowledgeChange::Edited { edits, .. }) => edits.as_slice(),
        _ => &[],
    });
    let is_first = |edit: &&Edit| matches!(&edit.change, EditChange::Set { field, .. } if field == KIND);
    edits.filter(is_first).map(|edit| edit.entity.clone()).collect()
}

/// Removes the edits of other entities from an entry.
fn retain_edits(entry: &mut Entry, ids: &BTreeSet<String>) {
    for kept in &mut entry.changes {
        match &mut kept.change {
            Change::Knowledge(KnowledgeChange::Edited { edits, .. }) => {
                edits.retain(|edit| ids.contains(&edit.entity));
            }
            Change::Knowledge(KnowledgeChange::Merged { edits, .. }) => {
                edits.retain(|said| ids.contains(&said.edit.entity));
            }
            _ => {}
        }
    }
}

/// Returns the names that these entities had then, and at any time since.
fn names_in(before: &[Entry], later: &[Entry], ids: &BTreeSet<String>) -> Touched {
    let (mut entities, mut touched) = (BTreeMap::<&str, Entity>::new(), Touched::default());
    let mut seen = BTreeSet::new();
    let before = before.iter().map(|entry| (entry, false));
    for (entry, is_later) in before.chain(later.iter().map(|entry| (entry, true))) {
        for kept in &entry.changes {
            let Change::Knowledge(change) = &kept.change else { continue };
            for said in change.stamped(entry.at).into_iter().filter(|said| ids.contains(&said.edit.entity)) {
                let entity = entities.entry(&said.edit.entity).or_default();
                let is_naming = matches!(&said.edit.change, EditChange::Set { field, .. } if NAMING.contains(&field.as_str()));
                let is_noted = is_later && (is_naming | seen.insert(&said.edit.entity));
                touched.extend(entity.read_as().filter(|_| is_noted));
                entity.apply(said);
                touched.extend(entity.read_as().filter(|_| is_noted));
            }
        }
    }
    touched
}

/// Adds the names whose staleness may depend on a touched name: everything about a file, and both
/// ends of a relationship.
fn add_dependents(
    index: &dyn KnowledgeIndex,
    scope: &Scope,
    touched: &mut Touched,
) -> Result<(), StoreError> {
    let mut dependents = Vec::new();
    for (kind, name) in touched.iter() {
        match kind {
            Kind::File => dependents
                .extend(index.about_file(scope, name)?.into_iter().map(|known| (known.kind, known.name))),
            Kind::Relationship => {
                let ends = name.split('\u{1f}').step_by(2);
                let sayings = [Kind::Principle, Kind::Pattern, Kind::Decision];
                dependents.extend(ends.flat_map(|end| sayings.map(|kind| (kind, end.to_owned()))));
            }
            Kind::Principle | Kind::Pattern | Kind::Decision | Kind::Note => {}
        }
    }
    touched.extend(dependents);
    Ok(())
}
