//! Knowledge verb that records a batch of actions, as a whole or not at all.

use super::index::catch_up_or_begin_anew;
use std::cell::Cell;

use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::KeptChange;
use crate::journal::NewEntry;
use crate::journal::Number;
use crate::journal::Seq;
use crate::journal::TailRequest;
use crate::knowledge::ActOutcome;
use crate::knowledge::ActRequest;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeError;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Known;
use crate::knowledge::Scope;
use crate::knowledge::Source;
use crate::knowledge::actions;
use crate::knowledge::fresh_replica;
use crate::knowledge::model;
use crate::knowledge::place::Standpoint;
use crate::presence;
use crate::presence::Caller;

impl App {
    /// Records a batch, as a whole or not at all.
    pub fn act(&mut self, request: &ActRequest) -> Result<ActOutcome, KnowledgeError> {
        let mut index = self.engine.knowledge();
        self.act_with(&mut *index, request)
    }

    /// The same with an index that is at hand.
    pub fn act_with(
        &mut self,
        index: &mut dyn KnowledgeIndex,
        request: &ActRequest,
    ) -> Result<ActOutcome, KnowledgeError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        if request.scope != Scope::Global {
            // Others find a project by its name once it was seen.
            self.settle_projects([request.worktree.clone()])?;
        }
        let mut tx = self.engine.write()?;
        let (actor, by) = match presence::who_calls(&*self.host, &*files, &*tx, &request.caller)? {
            Caller::Agent(agent) => {
                let source = (agent.name.to_string(), Some(agent.kind.clone()));
                (Actor::Agent(agent.session), source)
            }
            Caller::Person => (Actor::Person, ("you".to_owned(), None)),
            Caller::Anonymous(why) => return Err(why.into()),
        };
        // Nobody else writes from here on: what is known now stays so.
        catch_up_or_begin_anew(&*tx, index)?;
        if let Some(key) = &request.key
            && let Some(seq) = index.recorded(&request.scope, key)?
        {
            let number = number_of(&*tx, seq)?;
            return Ok(ActOutcome { number, duplicate: true, results: Vec::new() });
        }
        let host = &*self.host;
        let (worktree, cwd) = (&*request.worktree, &*request.cwd);
        let from = Standpoint { host, worktree, cwd };
        let view = InScope { index, scope: &request.scope, newest: Cell::default(), from };
        let mut planned =
            actions::plan(&request.actions, &view, &mut || EntryId::new(now, host.random()).to_string())?;
        if !planned.mistakes.is_empty() {
            return Err(KnowledgeError::Mistaken { mistakes: planned.mistakes });
        }
        for (id, path) in &planned.files {
            // Whoever says what a file is for has seen it as it is.
            let hash = host.content_hash(&request.worktree.join(path));
            planned.edits.extend(hash.map(|hash| actions::set(id, "hash", hash)));
        }
        let at = model::time_after(now, view.newest.get());
        let with_files = planned.is_about_files;
        let writer = tx.replica(&host.name(), fresh_replica(host.random()))?;
        let by = Source { name: by.0, kind: by.1, commit: host.commit(&request.worktree), via: None };
        let change =
            KnowledgeChange::Edited { writer, by, edits: planned.edits, key: request.key.clone(), at };
        let (id, project) = (EntryId::new(now, host.random()), request.scope.project().cloned());
        let entry = NewEntry { id, at: now, project, actor, changes: vec![Change::Knowledge(change)] };
        let recorded = Self::conclude_with(host, tx, &entry)?;
        let number = recorded.numbers[0].unwrap_or(0);
        // It is recorded; whoever reads next takes it in otherwise.
        if index.ingest(&[entry.kept(&recorded)], recorded.seq).is_ok() {
            let _ = self.write_digest(index, &request.scope, with_files);
        }
        self.note_recorded(&request.scope, &request.worktree);
        Ok(ActOutcome { number, duplicate: false, results: planned.results })
    }
}

/// What the batch in that entry was numbered.
fn number_of(tx: &dyn Tx, seq: Seq) -> Result<Number, StoreError> {
    let request = TailRequest { after: Some(seq - 1), limit: 1, ..TailRequest::default() };
    let entry = tx.entries(&request)?.pop();
    let is_batch = |kept: &KeptChange| matches!(kept.change, Change::Knowledge(_));
    let batch = entry.and_then(|entry| entry.changes.into_iter().find(is_batch));
    Ok(batch.and_then(|kept| kept.number).unwrap_or(0))
}

struct InScope<'a> {
    index: &'a dyn KnowledgeIndex,
    scope: &'a Scope,
    /// When the newest of what was read was said.
    newest: Cell<Timestamp>,
    from: Standpoint<'a>,
}

impl InScope<'_> {
    fn read(&self, known: &Known) {
        let newest = known.at.max(known.stale.unwrap_or_default());
        self.newest.set(self.newest.get().max(newest));
    }
}

impl actions::View for InScope<'_> {
    fn known(&self, kind: Kind, name: &str) -> Result<Option<Known>, StoreError> {
        let known = self.index.known(self.scope, kind, name)?;
        known.iter().for_each(|known| self.read(known));
        Ok(known)
    }

    fn links(&self, name: &str) -> Result<Vec<Known>, StoreError> {
        let links = self.index.links(self.scope, name)?;
        links.iter().for_each(|known| self.read(known));
        Ok(links)
    }

    fn names(&self, kind: Kind) -> Result<Vec<String>, StoreError> {
        self.index.names(self.scope, kind)
    }

    fn place(&self, written: &str) -> Result<String, String> {
        match self.scope {
            Scope::Project(_) => self.from.place(written),
            Scope::Global => Ok(written.to_owned()),
        }
    }

    fn location(&self, written: &str) -> String {
        match self.scope {
            Scope::Project(_) => self.from.location(written),
            Scope::Global => written.to_owned(),
        }
    }
}
