//! Routes of the convergence room: radar, and the suggestion of agents for a task.

use consort_core::presence::Caller;

use super::ApiCall;
use super::ApiResult;
use super::missing;
use super::told;
use crate::reply::ApiError;

impl ApiCall<'_> {
    /// Lists agents that are likely to collide, past predictions, merges or topics, or shows one
    /// prediction.
    pub(super) fn radar(&mut self, rest: &[&str]) -> ApiResult {
        let project = self.one_project()?;
        match rest {
            [] => {
                let calls = self.calls;
                let outcome = self.app.radar(&project.id, &|name| calls.variable(name))?;
                self.items(&outcome.pairs)
            }
            ["history"] => {
                let (past, _) = self.app.past_predictions()?;
                self.items(&past)
            }
            ["merges"] => {
                let overlaps = self.app.worktree_overlaps(Some(&project.id))?;
                self.items(&overlaps)
            }
            ["topics"] => {
                let worktree = self.worktree_of(&project)?;
                let domains = self.app.domains(&worktree)?;
                self.items(&domains)
            }
            [number] => {
                let number = number.parse().map_err(|_| ApiError::malformed("expected a number".into()))?;
                let prediction = self.app.prediction(number, &project.id)?;
                told(self.app.wrap_one("prediction", &prediction))
            }
            _ => Err(ApiError::not_found()),
        }
    }

    /// Answers a request for the agents that are best placed for a task.
    pub(super) fn suggest(&mut self) -> ApiResult {
        let project = self.one_project()?;
        let task = self.about.task.clone().ok_or_else(|| missing("task"))?;
        let caller = match self.app.caller(&self.caller)? {
            Caller::Agent(agent) => Some(agent.session),
            Caller::Person | Caller::Anonymous(_) => None,
        };
        let calls = self.calls;
        let candidates = self
            .app
            .delegation_candidates(&task, &project.id, caller.as_ref(), &|name| calls.variable(name))?;
        self.items(&candidates)
    }
}
