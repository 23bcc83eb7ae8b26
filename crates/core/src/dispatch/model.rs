//! Data of the dispatch room: runs, the changes of runs, and their cost per day.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::Cost;
use super::Failure;
use super::Receipt;
use super::Safety;
use super::Usage;
use crate::Timestamp;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence::AgentName;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::tasks::TaskKey;

/// Everything that is decided about a run before it starts: its task, CLI, limits and directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The first line of the task; the whole task is in the run's own directory.
    pub title: String,
    pub role: String,
    pub cli: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub safety: Safety,
    /// The name of the run's agent.
    pub name: AgentName,
    /// The directory that the run works in, on the machine of its owner.
    pub cwd: PathBuf,
    /// Whether the run works in a worktree of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_worktree: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u64>,
    /// Money that is set aside for the run.
    #[serde(default)]
    pub reserved: Cost,
    /// The most that the run may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Cost>,
    pub prompt_hash: String,
    /// Number of runs above this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u32,
    /// The run whose agent asked for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ChangeId>,
    /// An id that all runs of one batch or chain share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The earlier run that this one resumes or repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<ChangeId>,
    /// The task of a spec that the run does: taken with the run, and done with it or given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<TaskKey>,
    /// The work that the run reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviews: Option<ReviewOf>,
}

/// The author of the work that a run reviews.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewOf {
    /// An agent, which is told the findings.
    Agent(SessionId),
    /// A run, whose starter is told the findings.
    Run(ChangeId),
}

fn is_zero(depth: &u32) -> bool {
    *depth == 0
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run was asked for, or waits for a limit to end.
    Pending,
    Running,
    Done,
    Error,
    Timeout,
    Cancelled,
    /// The run's owner is gone, and nobody saw how the run ended.
    Interrupted,
    BudgetExceeded,
}

impl RunState {
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Done,
        Self::Error,
        Self::Timeout,
        Self::Cancelled,
        Self::Interrupted,
        Self::BudgetExceeded,
    ];

    /// Returns the state's name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::BudgetExceeded => "budget_exceeded",
        }
    }

    /// Returns the symbol that lists show for the state.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pending => "○",
            Self::Running => "●",
            Self::Done => "✓",
            Self::Error => "✗",
            Self::Timeout | Self::Cancelled | Self::Interrupted | Self::BudgetExceeded => "⊘",
        }
    }

    /// Returns the state in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::BudgetExceeded => "over budget",
            Self::Timeout => "timed out",
            Self::Error => "failed",
            other => other.as_str(),
        }
    }

    /// Returns the state as the predicate of a sentence: `is done`, `has failed`.
    pub fn predicate(self) -> String {
        let verb = match self {
            Self::Error | Self::Timeout => "has",
            Self::Cancelled | Self::Interrupted => "was",
            Self::Pending | Self::Running | Self::Done | Self::BudgetExceeded => "is",
        };
        format!("{verb} {}", self.words())
    }

    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// A run as the store keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    pub id: ChangeId,
    pub number: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub by: Actor,
    pub at: Timestamp,
    #[serde(flatten)]
    pub spec: RunSpec,
    pub state: RunState,
    /// The process that the run belongs to.
    pub owner: MachineProcess,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Time at which the run goes on, if it waits for a limit to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
    /// Whether `runs reset` has hidden the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
}

/// The end of a run: its state, usage, failure, model and hashes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    pub state: RunState,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The model that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The CLI's session id, by which the run can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Number of tool calls; `tools_failed` counts those that were refused or failed.
    #[serde(default)]
    pub tools: u32,
    #[serde(default)]
    pub tools_failed: u32,
    /// The outcome for the run's worktree, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<String>,
    /// Whether the run is done, but its changes were not merged to where they belong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unmerged: bool,
    /// The hash of the result, which proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_hash: Option<String>,
    /// The receipt, which ties this run to all that ended before it in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Receipt>>,
}

impl RunEnd {
    /// Tells whether the run is done and its changes are merged.
    pub fn is_done_and_merged(&self) -> bool {
        self.state == RunState::Done && !self.is_unmerged
    }

    /// Builds an end of which only the state is known.
    pub fn bare(state: RunState) -> Self {
        Self {
            state,
            usage: Usage::default(),
            failure: None,
            model: None,
            session: None,
            tools: 0,
            tools_failed: 0,
            merge: None,
            is_unmerged: false,
            result_hash: None,
            diff_hash: None,
            receipt: None,
        }
    }
}

/// A change of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DispatchChange {
    Asked {
        spec: Box<RunSpec>,
        by: Actor,
        owner: MachineProcess,
    },
    /// The run's supervisor runs the CLI, for the first time or once more.
    Started {
        run: ChangeId,
        number: Number,
        owner: MachineProcess,
    },
    /// More money is set aside for the run.
    Reserved {
        run: ChangeId,
        number: Number,
        amount: Cost,
    },
    /// The run waits for a limit to end.
    Parked {
        run: ChangeId,
        number: Number,
        until: Timestamp,
        why: String,
    },
    Ended {
        run: ChangeId,
        number: Number,
        end: Box<RunEnd>,
    },
    /// A run was asked for, and a gate refused it.
    Refused {
        gate: String,
        why: String,
        title: String,
    },
    /// Runs that ended before this moment are not listed any more.
    Hidden {
        project: ProjectId,
        before: Timestamp,
    },
}

impl DispatchChange {
    /// Returns the run that is changed; `None` for a change that makes a run or is about none.
    pub fn run(&self) -> Option<ChangeId> {
        match self {
            Self::Asked { .. } | Self::Refused { .. } | Self::Hidden { .. } => None,
            Self::Started { run, .. }
            | Self::Reserved { run, .. }
            | Self::Parked { run, .. }
            | Self::Ended { run, .. } => Some(*run),
        }
    }

    /// Returns the keys of the subjects that the change is about.
    pub(crate) fn about(&self) -> Vec<String> {
        match self {
            Self::Hidden { project, .. } => vec![format!("runs:{project}")],
            change => change.run().map(|id| format!("run:{id}")).into_iter().collect(),
        }
    }
}

/// The cost of all runs of one CLI that ended on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DailyCliSpending {
    /// Days since 1970, in UTC.
    pub day: i64,
    pub cli: String,
    pub runs: u64,
    pub failed: u64,
    /// The total of the runs that reported their cost.
    pub cost: Cost,
    /// Number of runs that did not report their cost.
    pub unknown: u64,
    pub input: u64,
    pub output: u64,
    pub seconds: u64,
}

impl DailyCliSpending {
    /// Adds a run that has ended.
    pub fn add(&mut self, end: &RunEnd, seconds: u64) {
        self.runs += 1;
        self.failed += u64::from(end.state != RunState::Done);
        match end.usage.cost {
            Some(cost) => self.cost.0 += cost.0,
            None => self.unknown += 1,
        }
        let cached = end.usage.cache_read.unwrap_or(0) + end.usage.cache_write.unwrap_or(0);
        self.input += end.usage.input.unwrap_or(0) + cached;
        self.output += end.usage.output.unwrap_or(0);
        self.seconds += seconds;
    }
}
