//! Routes of the tasks room: lists the tasks of specs; claims, drops or completes one.

use std::path::PathBuf;

use consort_core::tasks::CompleteRequest;
use consort_core::tasks::TaskRequest;
use consort_core::tasks::TasksOutcome;
use serde::Deserialize;

use super::ApiCall;
use super::ApiResult;
use super::told;
use crate::reply::ApiError;

/// A task that is taken, finished or given back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskCall {
    cwd: PathBuf,
    spec: Option<PathBuf>,
    id: Option<String>,
    /// The reason, or the result.
    notes: Option<String>,
}

impl ApiCall<'_> {
    /// Lists the tasks of the specs that are worked on; a missing spec does not hide the others.
    pub(super) fn tasks(&mut self) -> ApiResult {
        let project = self.project()?;
        let mut items = Vec::new();
        for (spec, file) in self.app.specs()? {
            if project.as_ref().is_none_or(|project| spec.project.as_ref() == Some(&project.id)) {
                items.extend(
                    self.app.tasks(&TaskRequest::of_spec(file)).ok().iter().flat_map(TasksOutcome::items),
                );
            }
        }
        self.items(&items)
    }

    pub(super) fn task(&mut self, verb: &str, task: TaskCall) -> ApiResult {
        let request = TaskRequest {
            caller: self.caller.clone(),
            cwd: task.cwd,
            spec: task.spec,
            id: task.id,
            words: task.notes,
            is_for_new: verb == "next",
        };
        let outcome = match verb {
            "next" | "claim" => self.app.claim_task(&request)?,
            "drop" => self.app.unclaim_task(&request)?,
            "done" => {
                let request = CompleteRequest { task: request, generation: None, take_anyway: false };
                self.app.complete_task(&request)?
            }
            _ => return Err(ApiError::not_found()),
        };
        told(self.app.wrap_one("task", &outcome))
    }
}
