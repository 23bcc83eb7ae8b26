//! Knowledge verbs about changed files: what was recorded about them is marked as stale.

use std::path::Path;

use super::index::catch_up_or_begin_anew;
use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Scope;
use crate::knowledge::Source;
use crate::knowledge::actions;
use crate::knowledge::digest;
use crate::knowledge::fresh_replica;
use crate::knowledge::merge::STALE;
use crate::knowledge::model;
use crate::knowledge::worktree_index::Contents;
use crate::knowledge::worktree_index::GONE;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;
use crate::text;
use serde_json::Value;

impl App {
    /// Marks the records of files that have another content now with the hash of that content, and
    /// takes the mark from files that are what they were. Returns the files that were marked.
    /// Sessions that were told something which depends on them are told so with their next prompt.
    pub fn mark_stale(
        &mut self,
        project: &ProjectId,
        worktree: &Path,
        paths: &[String],
        actor: Actor,
    ) -> Result<Vec<String>, StoreError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let (now, scope) = (self.host.now(), Scope::Project(project.clone()));
        let mut index = self.engine.knowledge();
        let mut tx = self.engine.write()?;
        catch_up_or_begin_anew(&*tx, &mut *index)?;
        let (mut edits, mut marked, mut newest) = (Vec::new(), Vec::new(), Timestamp::default());
        for path in paths {
            let Some(known) = index.known(&scope, Kind::File, path)? else { continue };
            let hash = self.host.content_hash(&worktree.join(path)).unwrap_or_else(|| GONE.into());
            let is_same = known.text("hash") == hash;
            if is_same != known.stale.is_some() {
                continue;
            }
            let mark = if is_same { Value::Null } else { hash.into() };
            edits.extend(known.ids.iter().map(|id| actions::set(id, STALE, mark.clone())));
            newest = newest.max(known.at).max(known.stale.unwrap_or_default());
            if !is_same {
                marked.push(path.clone());
            }
        }
        if edits.is_empty() {
            return Ok(marked);
        }
        let writer = tx.replica(&self.host.name(), fresh_replica(self.host.random()))?;
        let by = Source { name: "consort".into(), kind: None, commit: self.host.commit(worktree), via: None };
        let at = model::time_after(now, newest);
        let changes = vec![Change::Knowledge(KnowledgeChange::Edited { writer, by, edits, key: None, at })];
        Self::conclude(&*self.host, tx, now, Some(project.clone()), actor, changes)?;
        self.catch_up(&mut *index)?;
        self.tell_stale(&*index, &scope, &marked)?;
        Ok(marked)
    }

    /// Looks whether files that something is known of have changed, whatever changed them, so that
    /// a session is told with its prompt. It costs a stat of each.
    pub fn notice_changed_files(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let Some(trail) = side_files.trail(session) else { return Ok(()) };
        let (Some(project), worktree) = (trail.project, &trail.worktree) else { return Ok(()) };
        if !Contents::may_have_changed(&*self.host, &*side_files, worktree) {
            return Ok(());
        }
        let scope = Scope::Project(project);
        let seen = self.seen_from(&scope, worktree, worktree)?;
        // In a linked worktree nothing is noted for others; only its own session is told.
        for ((kind, name), (_, path)) in seen.iter().flat_map(|seen| &seen.changed) {
            tell(&*side_files, session, &digest::shown_name(*kind, name), path);
        }
        Ok(())
    }

    /// Tells sessions with their next prompt that something they were told depends on files that
    /// have changed since.
    fn tell_stale(
        &mut self,
        index: &dyn KnowledgeIndex,
        scope: &Scope,
        paths: &[String],
    ) -> Result<(), StoreError> {
        let side_files = self.engine.side_files();
        let mut agents = if paths.is_empty() { Vec::new() } else { self.engine.read()?.present()? };
        agents.retain(|agent| Some(&agent.project.id) == scope.project());
        for path in paths {
            for known in index.about_file(scope, path)? {
                let shown = digest::shown_as(&known);
                for Agent { session, .. } in &agents {
                    tell(&*side_files, session, &shown, path);
                }
            }
        }
        Ok(())
    }
}

/// Tells a session once, with its next prompt, that something it was told depends on a file that
/// has changed since.
fn tell(side_files: &dyn SideFiles, session: &SessionId, shown: &str, path: &str) {
    if !side_files.was_notified(session, shown) {
        return;
    }
    let told = format!(
        "[consort] What you were told of {shown} may no longer hold: {} has changed since.",
        text::foreign(path, 120)
    );
    if !side_files.note_notified(session, &told) {
        let kept = side_files.take_kept_texts(session).into_iter();
        let all: Vec<String> = kept.chain([told]).collect();
        side_files.keep_text_for_prompt(session, &all.join("\n\n"));
    }
}
