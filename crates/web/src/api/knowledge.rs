//! Routes of the knowledge room: query, apply, suggest, similar, adopt, renew.

use std::path::PathBuf;
use std::sync::Arc;

use consort_core::knowledge::ActRequest;
use consort_core::knowledge::RenewRequest;
use consort_core::knowledge::Scope;
use consort_core::presence::Caller;
use consort_core::project::Project;
use consort_knowledge::Format;
use consort_knowledge::JournalPast;
use consort_knowledge::Question;
use consort_knowledge::Session;
use serde::Deserialize;
use serde_json::Value;

use super::ApiCall;
use super::ApiResult;
use super::missing;
use super::told;
use crate::reply::ApiError;

/// Most tokens that an answer may cost its reader.
const TOKENS: usize = 10_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expression {
    expr: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ActionBatch {
    actions: Value,
    key: Option<String>,
}

/// The piece of knowledge to adopt, or to have looked at again.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thing {
    name: Option<String>,
    /// The project that knows it; without it, the knowledge is the person's own.
    from: Option<String>,
}

impl ApiCall<'_> {
    /// Lists what sessions found out and nobody recorded.
    pub(super) fn suggestions(&mut self) -> ApiResult {
        let project = self.one_project()?;
        let worktree = self.worktree_of(&project)?;
        let found = self.app.suggest_knowledge(&Scope::Project(project.id), &worktree)?;
        self.items(&found)
    }

    /// Lists what other projects know with the words given; without words, the projects like this one.
    pub(super) fn similar(&mut self) -> ApiResult {
        let project = self.one_project()?;
        let Some(words) = self.about.words.clone() else {
            let found = self.app.similar_projects(&project.id)?;
            return self.items(&found);
        };
        let found = self.app.similar_things(&project.id, &words)?;
        self.items(&found.iter().map(|(scope, known)| known.item_of(scope)).collect::<Vec<_>>())
    }

    /// Copies a piece of knowledge from another project or from the person's own.
    pub(super) fn adopt(&mut self, thing: &Thing) -> ApiResult {
        let name = thing.name.as_deref().ok_or_else(|| missing("name"))?;
        let there = match &thing.from {
            Some(project) => Scope::Project(self.app.find_project(project)?.id),
            None => Scope::Global,
        };
        let action = self.app.adoption(name, &there)?;
        self.apply(ActionBatch { actions: Value::Array(vec![action]), key: None })
    }

    /// Asks the next session that touches its file to look again at a piece of knowledge.
    pub(super) fn renew(&mut self, thing: Thing) -> ApiResult {
        let project = self.one_project()?;
        let worktree = self.worktree_of(&project)?;
        let (caller, scope) = (self.caller.clone(), Scope::Project(project.id));
        let request = RenewRequest { caller, scope, cwd: worktree.clone(), worktree, name: thing.name };
        let outcome = self.app.ask_renewal(&request)?;
        self.items(&outcome.asked)
    }

    /// Answers a query about the knowledge of a project.
    pub(super) fn query(&mut self, asked: &Expression) -> ApiResult {
        let project = self.one_project()?;
        let worktree = self.worktree_of(&project)?;
        let scope = Scope::Project(project.id);
        let index = self.app.knowledge_from_git(&scope, &worktree, &worktree)?;
        let calls = self.calls;
        let moment = |text: &str| calls.moment(text, &worktree);
        let mut past = JournalPast { app: self.app, scope: &scope, moment: &moment };
        let question = Question {
            scope: &scope,
            source: &asked.expr,
            format: Format::Json,
            tokens: TOKENS,
            is_cancelled: Arc::clone(&self.is_cancelled),
        };
        let answer = consort_knowledge::ask(&mut Session::new(), &*index, &mut past, &question)?;
        if let Caller::Agent(agent) = self.app.caller(&self.caller)? {
            self.app.note_shown(&agent.session, &answer.shown);
        }
        told(answer.envelope(self.app.host().now()))
    }

    /// Records a batch in a project, all of it or nothing.
    pub(super) fn apply(&mut self, batch: ActionBatch) -> ApiResult {
        let project = self.one_project()?;
        let worktree = self.worktree_of(&project)?;
        let scope = Scope::Project(project.id);
        let mut index = self.app.knowledge_from_git(&scope, &worktree, &worktree)?;
        let request = ActRequest {
            caller: self.caller.clone(),
            scope,
            actions: batch.actions,
            cwd: worktree.clone(),
            worktree,
            key: batch.key,
            even_so: false,
        };
        let outcome = self.app.act_with(&mut *index, &request)?;
        told(self.app.wrap_one("recorded", &outcome))
    }

    /// Finds a worktree in which a project is checked out.
    pub(super) fn worktree_of(&mut self, project: &Project) -> Result<PathBuf, ApiError> {
        let worktree = self.app.main_worktrees(&Scope::Project(project.id.clone())).into_iter().next();
        worktree.ok_or_else(|| ApiError::malformed(format!("{} is not checked out here", project.name)))
    }
}
