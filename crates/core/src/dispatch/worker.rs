//! The events, usage and failures that a worker reports, the same for every CLI.

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;

/// An amount of money, in millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub i64);

impl Cost {
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e6).round() as i64)
    }

    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// The usage of a run or a step. A figure that the CLI does not report is unknown, which is not
/// zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that did not come from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Number of times that the model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
}

/// An event that a worker reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerEvent {
    /// The id of the CLI's session, by which the run can be resumed.
    Session(String),
    Model(String),
    /// The model answers once more.
    Turn,
    ToolBegins {
        /// An id that tells calls apart which run at the same time.
        id: String,
        tool: String,
        /// The command, the path or whatever says most about the call, on one line.
        about: String,
    },
    ToolEnds {
        id: String,
        is_ok: bool,
        /// The reason why the call was refused or failed, on one line.
        why: Option<String>,
    },
    /// A whole text of the model.
    Said(String),
    /// The usage of one step: more steps follow.
    Used(Usage),
    /// The usage of the whole run, in the CLI's own count, which replaces ours.
    UsedInAll(Usage),
    /// The CLI tries again by itself.
    Retries {
        attempt: u32,
        why: String,
        /// Time at which it tries again, if it reports that.
        until: Option<Timestamp>,
    },
    /// The final text, if the CLI says which text that is.
    Result(String),
    Failed(Failure),
}

/// The reason why a worker failed, as far as its CLI reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// The message, in the CLI's own words.
    pub message: String,
    /// Time at which a limit ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// The kind of a failure, which decides how to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no key, or none that is accepted.
    NotLoggedIn,
    /// A limit of the provider was met: the run can go on later.
    Limit,
    /// The provider fails: the run may go on later.
    Provider,
    /// The run's cap of turns was reached.
    Turns,
    /// The run's cap of money was reached.
    Budget,
    /// The CLI does not know an argument that it was given.
    Argument,
    Other,
}

/// The way a worker's process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerExit {
    /// None if a signal ended the process.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The last output on standard error.
    pub stderr: String,
}
