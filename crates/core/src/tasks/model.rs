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

/// A spec by where it really is, so that no two spellings are two specs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SpecRef {
    /// Absent: it is in no repository, and its path is absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Relative to the worktree's root.
    pub path: String,
}

/// Which task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskKey {
    pub spec: SpecRef,
    /// As the spec writes it; case does not tell tasks apart.
    pub id: String,
}

/// What has happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    #[serde(flatten)]
    pub key: TaskKey,
    pub state: TaskState,
    /// Grows with every claim: counted among the tasks of its project.
    pub generation: Number,
}

/// How a task stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// Nobody's; it was someone's before, under another generation.
    Free {
        last: Option<(Actor, Number)>,
    },
    Claimed(Worker),
    Done(Worker),
}

/// Who has claimed a task or has done it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    pub who: Actor,
    /// What it was called then.
    pub name: String,
    pub at: Timestamp,
    /// Why it was taken, or what came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The run that it is the task of, until it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<ChangeId>,
}

/// A change of who does which task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    Claimed {
        #[serde(flatten)]
        key: TaskKey,
        worker: Worker,
    },
    /// Given back, or left behind by one that is gone.
    Freed {
        #[serde(flatten)]
        key: TaskKey,
        worker: Actor,
        holder_gone: bool,
    },
    Completed {
        #[serde(flatten)]
        key: TaskKey,
        worker: Worker,
    },
}

impl TaskChange {
    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        let TaskKey { spec, id } = self.key();
        let project = spec.project.as_ref().map_or("", |project| project.as_str());
        vec![format!("task:{project}:{}:{}", spec.path, id.to_lowercase())]
    }

    /// The task that it is about.
    pub fn key(&self) -> &TaskKey {
        match self {
            Self::Claimed { key, .. } | Self::Freed { key, .. } | Self::Completed { key, .. } => key,
        }
    }
}

/// Which task of which spec.
#[derive(Clone, Debug)]
pub struct TaskRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    /// Without it, the spec that the caller has joined with.
    pub spec: Option<PathBuf>,
    /// Without it, the first that is ready, or the claimed one.
    pub id: Option<String>,
    /// Why, or what came of it.
    pub words: Option<String>,
    /// Whether another than the claimed one is wanted.
    pub is_for_new: bool,
}

impl TaskRequest {
    /// Nothing but a look at a spec, by any caller.
    pub fn of_spec(file: PathBuf) -> Self {
        let cwd = file.parent().map(PathBuf::from).unwrap_or_default();
        let (caller, spec) = (CallerFacts::default(), Some(file));
        Self { caller, cwd, spec, id: None, words: None, is_for_new: true }
    }
}

/// Which task is done, and by whose right.
#[derive(Clone, Debug)]
pub struct CompleteRequest {
    pub task: TaskRequest,
    /// The generation under which it was claimed.
    pub generation: Option<Number>,
    /// The person's word that it is done, no matter who has claimed it.
    pub take_anyway: bool,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskOutcome {
    #[serde(flatten)]
    pub key: TaskKey,
    pub title: Option<String>,
    pub generation: Number,
}

/// A task as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskView {
    pub id: String,
    pub title: Option<String>,
    /// Free, and nothing is in its way.
    pub ready: bool,
    /// What must be done before.
    pub waits_for: Vec<String>,
    pub depends: Vec<String>,
    /// Ticked in the file, whatever the journal says.
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
    /// The tasks as doors list them: each with the spec it is of.
    pub fn items(&self) -> Vec<serde_json::Value> {
        let item = |task: &TaskView| {
            let mut item = serde_json::to_value(task).unwrap_or_default();
            item["spec"] = self.spec.path.clone().into();
            item
        };
        self.tasks.iter().map(item).collect()
    }
}
