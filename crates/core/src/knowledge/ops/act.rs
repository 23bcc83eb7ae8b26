//! Knowledge verbs that record a batch of actions or an import, as a whole or not at all.

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
use crate::knowledge::ImportOutcome;
use crate::knowledge::ImportedThing;
use crate::knowledge::Kind;
use crate::knowledge::KnowledgeChange;
use crate::knowledge::KnowledgeError;
use crate::knowledge::KnowledgeIndex;
use crate::knowledge::Known;
use crate::knowledge::Mistake;
use crate::knowledge::Scope;
use crate::knowledge::Source;
use crate::knowledge::actions;
use crate::knowledge::fresh_replica;
use crate::knowledge::model;
use crate::knowledge::resolve_path::PathBase;
use crate::knowledge::worktree_index::Contents;
use crate::knowledge::worktree_index::GONE;
use crate::presence;
use crate::presence::Caller;
use crate::secrets;
use crate::secrets::SecretFinding;
use serde_json::Value;

impl App {
    /// Records a batch of actions, as a whole or not at all.
    pub fn act(&mut self, request: &ActRequest) -> Result<ActOutcome, KnowledgeError> {
        let mut index = self.engine.knowledge();
        self.act_with(&mut *index, request)
    }

    /// Records a batch of actions with an index that is open already.
    pub fn act_with(
        &mut self,
        index: &mut dyn KnowledgeIndex,
        request: &ActRequest,
    ) -> Result<ActOutcome, KnowledgeError> {
        self.record_batch(index, request, actions::USUAL, &[]).map(|(outcome, _)| outcome)
    }

    /// Records things that were recorded elsewhere, with their authors and times: all of them as
    /// one entry, or nothing.
    pub fn import_knowledge(
        &mut self,
        index: &mut dyn KnowledgeIndex,
        request: &ActRequest,
        things: &[ImportedThing],
    ) -> Result<ImportOutcome, KnowledgeError> {
        let actions = things.iter().map(|thing| thing.action.clone()).collect();
        let request = ActRequest { actions, ..request.clone() };
        let (outcome, dangling) = self.record_batch(index, &request, IMPORT, things)?;
        Ok(ImportOutcome { recorded: outcome.results.len(), dangling })
    }

    fn record_batch(
        &mut self,
        index: &mut dyn KnowledgeIndex,
        request: &ActRequest,
        bounds: actions::BatchLimits,
        things: &[ImportedThing],
    ) -> Result<(ActOutcome, Vec<String>), KnowledgeError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        if request.scope != Scope::Global {
            // Others can find a project by its name only once it is recorded.
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
        // The write transaction keeps everybody else from writing: what is known now stays so.
        catch_up_or_begin_anew(&*tx, index)?;
        if let Some(key) = &request.key
            && let Some(seq) = index.recorded(&request.scope, key)?
        {
            let number = number_of(&*tx, seq)?;
            return Ok((ActOutcome { number, duplicate: true, results: Vec::new() }, Vec::new()));
        }
        let host = &*self.host;
        let (worktree, cwd) = (&*request.worktree, &*request.cwd);
        let from = PathBase { host, worktree, cwd };
        let view = InScope { index, scope: &request.scope, newest: Cell::default(), from };
        let mut ids = EntryId::ascending(now, host.random());
        let mut planned = actions::plan(&request.actions, &view, bounds, &mut || ids().to_string())?;
        if !(request.even_so && actor == Actor::Person) {
            planned.mistakes.extend(secrets_in(&request.actions));
        }
        if !planned.mistakes.is_empty() {
            return Err(KnowledgeError::Mistaken { mistakes: planned.mistakes });
        }
        let mut contents = Contents::load(host, &*files, worktree);
        let mut hashes = Vec::new();
        for (id, path) in &planned.files {
            // To say what a file is for means to have seen it as it is now.
            let hash = Some(contents.of(path).hash).filter(|hash| hash != GONE);
            hashes.extend(hash.map(|hash| actions::set(id, "hash", hash)));
        }
        contents.keep(&*files);
        let at = model::time_after(now, view.newest.get());
        let writer = tx.replica(&host.name(), fresh_replica(host.random()))?;
        let by = Source { name: by.0, kind: by.1, commit: host.commit(&request.worktree), via: None };
        let mut changes = imported(&mut planned, things, &by, writer, now);
        let edits = [planned.edits, hashes].concat();
        if changes.is_empty() || !edits.is_empty() {
            changes.push(KnowledgeChange::Edited { writer, by, edits, key: request.key.clone(), at });
        }
        let changes = changes.into_iter().map(Change::Knowledge).collect();
        let (id, project) = (EntryId::new(now, host.random()), request.scope.project().cloned());
        let entry = NewEntry { id, at: now, project, actor, changes };
        let recorded = Self::conclude_with(host, tx, &entry)?;
        let number = recorded.numbers[0].unwrap_or(0);
        // The batch is recorded; if this fails, the next reader takes it in.
        let _ = self.catch_up(index);
        self.request_git_file(&request.scope, &request.worktree);
        Ok((ActOutcome { number, duplicate: false, results: planned.results }, planned.dangling))
    }
}

/// The bounds of an import, which is one entry.
const IMPORT: actions::BatchLimits = actions::BatchLimits { most: 100_000, is_import: true };

/// The value of [`Source::via`] for what was imported.
const VIA_IMPORT: &str = "import";

/// Moves the edits of things that have a time of their own out of the plan: into one change for all
/// neighbours of the same author and time.
fn imported(
    planned: &mut actions::Planned,
    things: &[ImportedThing],
    ours: &Source,
    writer: u64,
    now: Timestamp,
) -> Vec<KnowledgeChange> {
    let mut changes: Vec<KnowledgeChange> = Vec::new();
    let (mut rest, mut start) = (Vec::new(), 0);
    for (thing, end) in things.iter().zip(&planned.ends) {
        let edits = planned.edits[start..*end].to_vec();
        start = *end;
        let Some(said) = thing.at.map(|at| at.min(now)) else {
            rest.extend(edits);
            continue;
        };
        let by = thing.by.clone().unwrap_or_else(|| ours.clone());
        let by = Source { via: Some(VIA_IMPORT.into()), ..by };
        match changes.last_mut() {
            Some(KnowledgeChange::Edited { by: last, edits: all, at, .. })
                if *last == by && *at == Some(said) =>
            {
                all.extend(edits);
            }
            _ => changes.push(KnowledgeChange::Edited { writer, by, edits, key: None, at: Some(said) }),
        }
    }
    if !things.is_empty() {
        planned.edits = rest;
    }
    changes
}

/// Finds what looks like a secret in the actions of a batch. The messages do not repeat it.
fn secrets_in(actions: &Value) -> Vec<Mistake> {
    let all = actions.as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate();
    let found = all.filter_map(|(action, one)| Some((action, one, secrets::find_in(one)?)));
    found
        .map(|(action, one, SecretFinding { what, at })| {
            let name = one.get(0).and_then(Value::as_str).map(str::to_owned);
            let message = format!("has what looks like {what}, at character {at} of a text");
            Mistake { action, name, field: None, message, received: Value::Null }
        })
        .collect()
}

/// Returns the number of the batch that an entry recorded.
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
    /// The time of the newest statement among the records that were read.
    newest: Cell<Timestamp>,
    from: PathBase<'a>,
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

    fn location(&self, written: &str) -> Result<String, String> {
        match self.scope {
            Scope::Project(_) => self.from.location(written),
            Scope::Global => Ok(written.to_owned()),
        }
    }
}
