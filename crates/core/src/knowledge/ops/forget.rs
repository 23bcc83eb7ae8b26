//! Knowledge verb that forgets something for good: it is removed from the index, from the journal,
//! and from other replicas as they hear of it.
//!
//! Later edits of a document build on the clocks of the earlier ones. So a forgotten edit stays,
//! **without its value and without the name of a member.**

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::index::catch_up_or_begin_anew;
use crate::App;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::knowledge::Edit;
use crate::knowledge::EditChange;
use crate::knowledge::ForgetOutcome;
use crate::knowledge::ForgetRequest;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeError;
use crate::knowledge::Scope;
use crate::knowledge::Source;
use crate::knowledge::actions;
use crate::knowledge::fresh_replica;
use crate::knowledge::merge::DELETED;
use crate::knowledge::merge::FORGOTTEN;
use crate::knowledge::merge::KIND;
use crate::presence;
use crate::presence::Caller;
use crate::presence::NotAllowed;

/// Beginning of the name that a forgotten member of a list gets.
const MEMBER: &str = "forgotten-";

impl App {
    /// Forgets everything that was ever called by a name, and its relationships. **Only the person
    /// may**: nobody can bring it back.
    pub fn forget_knowledge(&mut self, request: &ForgetRequest) -> Result<ForgetOutcome, KnowledgeError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let entries = self.knowledge_entries(&request.scope)?;
        let changes = entries.iter().flat_map(|entry| &entry.changes);
        let edits = changes.filter_map(|kept| match &kept.change {
            Change::Knowledge(change) => Some(change.stamped(now)),
            _ => None,
        });
        let mut entities: BTreeSet<String> = BTreeSet::new();
        let mut members: BTreeSet<(String, String, String)> = BTreeSet::new();
        let all: Vec<Edit> = edits.flatten().map(|stamped| stamped.edit.clone()).collect();
        for edit in &all {
            if names(edit, &request.name) {
                entities.insert(edit.entity.clone());
            }
        }
        for Edit { entity, change } in &all {
            if let EditChange::Add { set, member, .. } = change
                && entities.contains(entity)
                && !member.starts_with(MEMBER)
            {
                members.insert((entity.clone(), set.clone(), member.clone()));
            }
        }
        if entities.is_empty() {
            return Ok(ForgetOutcome { entities: 0 });
        }
        let mut index = self.engine.knowledge();
        let mut tx = self.engine.write()?;
        match presence::who_calls(&*self.host, &*files, &*tx, &request.caller)? {
            Caller::Person => {}
            Caller::Agent(_) => return Err(NotAllowed::NotThePerson.into()),
            Caller::Anonymous(why) => return Err(why.into()),
        }
        catch_up_or_begin_anew(&*tx, &mut *index)?;
        let writer = tx.replica(&self.host.name(), fresh_replica(self.host.random()))?;
        let removed = members
            .into_iter()
            .map(|(entity, set, member)| Edit { entity, change: EditChange::Remove { set, member } });
        let marks =
            entities.iter().flat_map(|id| [DELETED, FORGOTTEN].map(|mark| actions::set(id, mark, true)));
        let edits = removed.chain(marks).collect();
        let by = Source { name: "you".into(), ..Source::default() };
        let change = KnowledgeChange::Edited { writer, by, edits, key: None, at: None };
        let project = request.scope.project().cloned();
        Self::conclude(&*self.host, tx, now, project, Actor::Person, vec![Change::Knowledge(change)])?;
        self.scrub(&request.scope, &entities)?;
        self.request_git_file(&request.scope, &request.worktree);
        Ok(ForgetOutcome { entities: entities.len() })
    }

    /// Scrubs the entities that other replicas have forgotten; tells whether there were any.
    pub(super) fn scrub_forgotten(&mut self, scope: &Scope, edits: &[Edit]) -> Result<bool, StoreError> {
        let is_mark = |edit: &&Edit| matches!(&edit.change, EditChange::Set { field, value } if field == FORGOTTEN && *value == true);
        let entities: BTreeSet<String> =
            edits.iter().filter(is_mark).map(|edit| edit.entity.clone()).collect();
        if !entities.is_empty() {
            self.scrub(scope, &entities)?;
        }
        Ok(!entities.is_empty())
    }

    /// Removes what was said of entities from the journal, and makes the index again.
    fn scrub(&mut self, scope: &Scope, entities: &BTreeSet<String>) -> Result<(), StoreError> {
        let file = self.git_file.clone();
        let mut index = self.engine.knowledge();
        let mut tx = self.engine.write()?;
        let mut entries = tx.knowledge_after(0, usize::MAX)?;
        entries.retain(|entry| entry.project.as_ref() == scope.project());
        let mut names = BTreeMap::new();
        for mut entry in entries {
            let mut is_changed = false;
            for kept in &mut entry.changes {
                let Change::Knowledge(change) = &mut kept.change else { continue };
                match change {
                    KnowledgeChange::Edited { edits, .. } => {
                        edits.iter_mut().for_each(|edit| is_changed |= emptied(edit, entities, &mut names));
                    }
                    KnowledgeChange::Merged { update, edits, ahead } => {
                        for stamped in edits.iter_mut().chain(ahead) {
                            is_changed |= emptied(&mut stamped.edit, entities, &mut names);
                        }
                        if let Some(scrubbed) = file.as_ref().and_then(|file| file.scrub(update, entities)) {
                            is_changed |= scrubbed != *update;
                            *update = scrubbed;
                        }
                    }
                }
            }
            if is_changed {
                tx.rewrite_entry(entry.seq, &entry.changes)?;
            }
        }
        crate::app::commit(&*self.host, tx)?;
        index.forget()?;
        self.catch_up(&mut *index)
    }
}

/// Tells whether an edit gives its entity that name, or ties it to something of that name.
fn names(edit: &Edit, name: &str) -> bool {
    let keys = Kind::NAMED.map(Kind::key_field);
    matches!(&edit.change, EditChange::Set { field, value }
        if (keys.contains(&field.as_str()) || matches!(field.as_str(), "from" | "to")) && value == name)
}

/// Removes the content of an edit; tells whether there was any.
fn emptied(
    edit: &mut Edit,
    entities: &BTreeSet<String>,
    names: &mut BTreeMap<(String, String, String), usize>,
) -> bool {
    if !entities.contains(&edit.entity) {
        return false;
    }
    match &mut edit.change {
        EditChange::Set { field, .. } if matches!(field.as_str(), KIND | DELETED | FORGOTTEN) => false,
        EditChange::Set { value, .. } => !std::mem::take(value).is_null(),
        EditChange::Add { set, member, .. } | EditChange::Remove { set, member } => {
            if member.starts_with(MEMBER) {
                return false;
            }
            let next = names.len() + 1;
            let number = names.entry((edit.entity.clone(), set.clone(), member.clone())).or_insert(next);
            *member = format!("{MEMBER}{number}");
            true
        }
    }
}
