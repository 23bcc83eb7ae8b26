//! Data of the tasks room: specs, tasks and their states, and the requests and outcomes
//! of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::SpecError;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence::CallerFacts;
use crate::project::ProjectId;

/// A spec, identified by its real location, so that two spellings of a path are the same spec.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpecRef {
    /// The project of the spec; `None` if it is in no repository, and its path is absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The path relative to the worktree's root.
    pub path: String,
}

/// The identity of a task: its spec and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    pub spec: SpecRef,
    /// The id as the spec writes it; ids that differ only in case are the same.
    pub id: String,
}

/// The journalled state of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    #[serde(flatten)]
    pub key: TaskKey,
    pub state: TaskState,
    /// The number of the last claim or release, counted among the tasks of the project, so that it only
    /// grows.
    pub generation: Number,
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// The task is free; `last` is its former worker, and the generation under which that claimed it.
    Free {
        last: Option<(Actor, Number)>,
    },
    Claimed(TaskWorker),
    Done(TaskWorker),
}

/// The worker that has claimed a task or has completed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskWorker {
    pub who: Actor,
    /// The worker's name at that time.
    pub name: String,
    pub at: Timestamp,
    /// The reason for the claim, or the result of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The run that has the task, until the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ChangeId>,
}

/// A change of a task's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    Claimed {
        #[serde(flatten)]
        key: TaskKey,
        worker: TaskWorker,
    },
    /// The task was given back, or its worker is gone.
    Freed {
        #[serde(flatten)]
        key: TaskKey,
        worker: Actor,
        holder_gone: bool,
    },
    Completed {
        #[serde(flatten)]
        key: TaskKey,
        worker: TaskWorker,
    },
}

impl TaskChange {
    /// Lists the subjects of the change, for the journal.
    pub(crate) fn about(&self) -> Vec<String> {
        let TaskKey { spec, id } = self.key();
        let project = spec.project.as_ref().map_or("", |project| project.as_str());
        vec![format!("task:{project}:{}:{}", spec.path, id.to_lowercase())]
    }

    /// Returns the task that the change is about.
    pub fn key(&self) -> &TaskKey {
        match self {
            Self::Claimed { key, .. } | Self::Freed { key, .. } | Self::Completed { key, .. } => key,
        }
    }
}

/// A request about a task of a spec, or about a whole spec.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    /// The spec; `None` means the one that the caller works on, has joined with or used last.
    pub spec: Option<PathBuf>,
    /// The task; `None` means the first that is ready, or the claimed one.
    pub id: Option<String>,
    /// The reason for the claim, or the result of the work.
    pub words: Option<String>,
    /// Whether the request is for a new task or a list, and not about the claimed task.
    pub is_for_new: bool,
}

impl TaskRequest {
    /// Makes a request to list the tasks of a spec, by any caller.
    pub fn of_spec(file: PathBuf) -> Self {
        let cwd = file.parent().map(PathBuf::from).unwrap_or_default();
        let (caller, spec) = (CallerFacts::default(), Some(file));
        Self { caller, cwd, spec, id: None, words: None, is_for_new: true }
    }
}

/// A request to mark a task as done.
#[derive(Clone, Debug)]
pub struct CompleteRequest {
    pub task: TaskRequest,
    /// The generation under which the task was claimed.
    pub generation: Option<Number>,
    /// Whether the person declares the task done, no matter who has claimed it.
    pub take_anyway: bool,
}

/// The task that a verb has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedTask {
    #[serde(flatten)]
    pub key: TaskKey,
    pub title: Option<String>,
    pub generation: Number,
}

/// A task of a spec with its state, as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskView {
    pub id: String,
    pub title: Option<String>,
    /// Whether the task is free and waits for no other task.
    pub ready: bool,
    /// The dependencies that are not done yet.
    pub waits_for: Vec<String>,
    pub depends: Vec<String>,
    /// Whether the task is ticked in the file, whatever the journal says.
    pub ticked: bool,
    pub record: Option<TaskRecord>,
    pub yours: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
}

/// The tasks of a spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TasksOutcome {
    pub at: Timestamp,
    pub spec: SpecRef,
    pub title: Option<String>,
    pub done: usize,
    pub tasks: Vec<TaskView>,
    pub errors: Vec<SpecError>,
    /// Agents that take their tasks from this spec and have none.
    pub idle: Vec<String>,
}

impl TasksOutcome {
    /// Returns the tasks as JSON for doors, each with the path of its spec.
    pub fn items(&self) -> Vec<serde_json::Value> {
        let item = |task: &TaskView| {
            let mut item = serde_json::to_value(task).unwrap_or_default();
            item["spec"] = self.spec.path.clone().into();
            item
        };
        self.tasks.iter().map(item).collect()
    }
}
