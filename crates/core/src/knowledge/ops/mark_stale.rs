//! Knowledge verb for a changed file: marks what was recorded about it as stale.

use std::path::Path;

use super::index::catch_up_or_begin_anew;
use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::Change;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::Scope;
use crate::knowledge::Source;
use crate::knowledge::actions;
use crate::knowledge::fresh_replica;
use crate::knowledge::merge::STALE;
use crate::knowledge::model;
use crate::project::ProjectId;

impl App {
    /// Marks what is known of files that have another content now: a mark with
    /// the old hash, not a queue. Says which were marked.
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
            let Some(known) = index.known(&scope, Kind::File, path)?.filter(|known| known.stale.is_none())
            else {
                continue;
            };
            let hash = self.host.content_hash(&worktree.join(path)).unwrap_or_else(|| "gone".into());
            let before = known.text("hash");
            if before == hash {
                continue;
            }
            for id in &known.ids {
                edits.push(actions::set(id, STALE, if before.is_empty() { "unknown" } else { before }));
                edits.push(actions::set(id, "hash", hash.as_str()));
            }
            newest = newest.max(known.at);
            marked.push(path.clone());
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
        self.write_digest(&*index, &scope, true)?;
        Ok(marked)
    }
}
