//! Data of the dispatch room: runs, and the changes of them.

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

/// What a run is to do, and how: all that is decided before it starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The first line of the task; the whole is in the run's own directory.
    pub title: String,
    pub role: String,
    pub cli: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub safety: Safety,
    /// What its agent is called.
    pub name: AgentName,
    /// Where it works, on the machine of its owner.
    pub cwd: PathBuf,
    /// Whether it works in a worktree of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_worktree: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u64>,
    /// What is set aside for it.
    #[serde(default)]
    pub reserved: Cost,
    /// What it may cost at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Cost>,
    pub prompt_hash: String,
    /// How many runs are above it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u32,
    /// The run whose agent asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ChangeId>,
    /// What it was started with: the others of a batch or a chain have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The run that it goes on with or repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<ChangeId>,
    /// The task of a spec that it does: taken with the run, and done with it or given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<TaskKey>,
    /// The work that it reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviews: Option<ReviewOf>,
}

/// Whose work a run reviews.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewOf {
    /// An agent's, who hears what was found.
    Agent(SessionId),
    /// A run's, whose starter hears it.
    Run(ChangeId),
}

fn is_zero(depth: &u32) -> bool {
    *depth == 0
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It was asked for, or waits for a limit to end.
    Pending,
    Running,
    Done,
    Error,
    Timeout,
    Cancelled,
    /// Its owner is gone, and nobody saw how it ended.
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

    /// Its name in JSON.
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

    /// The mark that stands for it.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pending => "○",
            Self::Running => "●",
            Self::Done => "✓",
            Self::Error => "✗",
            Self::Timeout | Self::Cancelled | Self::Interrupted | Self::BudgetExceeded => "⊘",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::BudgetExceeded => "over budget",
            Self::Timeout => "timed out",
            Self::Error => "failed",
            other => other.as_str(),
        }
    }

    /// What a sentence says of it: `is done`, `has failed`.
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

/// A run as it is kept.
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
    /// The process that it belongs to.
    pub owner: MachineProcess,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it goes on, if it waits for a limit to end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunEnd>,
    /// Whether `runs reset` has hidden it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
}

/// How a run has ended.
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
    /// By which it can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How many tools it has called, and how many of those were refused or failed.
    #[serde(default)]
    pub tools: u32,
    #[serde(default)]
    pub tools_failed: u32,
    /// What became of its worktree, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<String>,
    /// It is done, and what it did is not where it was to go.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unmerged: bool,
    /// What proves its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_hash: Option<String>,
    /// What ties it to all that ended before it in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Box<Receipt>>,
}

impl RunEnd {
    /// Whether all is as it was asked for.
    pub fn is_well(&self) -> bool {
        self.state == RunState::Done && !self.is_unmerged
    }

    /// An end of which nothing else is known.
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
    /// Its supervisor runs the CLI, for the first time or once more.
    Started {
        run: ChangeId,
        number: Number,
        owner: MachineProcess,
    },
    /// More money is set aside for it.
    Reserved {
        run: ChangeId,
        number: Number,
        amount: Cost,
    },
    /// It waits for a limit to end.
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
    /// Something was asked for and not begun.
    Refused {
        gate: String,
        why: String,
        title: String,
    },
    /// What had ended before this moment is not listed any more.
    Hidden {
        project: ProjectId,
        before: Timestamp,
    },
}

impl DispatchChange {
    /// The run that it is about, unless it makes it.
    pub fn run(&self) -> Option<ChangeId> {
        match self {
            Self::Asked { .. } | Self::Refused { .. } | Self::Hidden { .. } => None,
            Self::Started { run, .. }
            | Self::Reserved { run, .. }
            | Self::Parked { run, .. }
            | Self::Ended { run, .. } => Some(*run),
        }
    }

    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        match self {
            Self::Hidden { project, .. } => vec![format!("runs:{project}")],
            change => change.run().map(|id| format!("run:{id}")).into_iter().collect(),
        }
    }
}

/// What runs have cost, of one CLI on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Days since 1970, in UTC.
    pub day: i64,
    pub cli: String,
    pub runs: u64,
    pub failed: u64,
    /// Of all that told it.
    pub cost: Cost,
    /// How many did not.
    pub unknown: u64,
    pub input: u64,
    pub output: u64,
    pub seconds: u64,
}

impl Spending {
    /// With another run that has ended.
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
