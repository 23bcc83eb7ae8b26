//! What a worker tells while it runs, the same for every CLI.

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

/// What work has used. What the CLI does not tell is unknown, which is not nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that were read and had not been kept from before.
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
    /// How often the model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
}

/// What a worker tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerEvent {
    /// Its session, by which it can be resumed.
    Session(String),
    Model(String),
    /// The model answers once more.
    Turn,
    ToolBegins {
        /// Tells calls apart that run at the same time.
        id: String,
        tool: String,
        /// The command, the path or whatever says most, on one line.
        about: String,
    },
    ToolEnds {
        id: String,
        is_ok: bool,
        /// Why it was refused or failed, on one line.
        why: Option<String>,
    },
    /// A whole text of the model.
    Said(String),
    /// What one step has used: more comes.
    Used(Usage),
    /// What all of it has used, in the CLI's own count, which replaces ours.
    UsedInAll(Usage),
    /// It tries again by itself.
    Retries {
        attempt: u32,
        why: String,
        /// When, if it tells.
        until: Option<Timestamp>,
    },
    /// The final text, where the CLI says which it is.
    Result(String),
    Failed(Failure),
}

/// Why a worker failed, as far as its CLI tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// In the CLI's own words.
    pub message: String,
    /// When a limit ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// What a failure means for what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// No key, or none that is accepted.
    NotLoggedIn,
    /// Too much was asked of the provider: later it goes on.
    Limit,
    /// The provider fails: later it may go on.
    Provider,
    /// Its cap of turns was reached.
    Turns,
    /// Its cap of money was reached.
    Budget,
    /// It does not know this argument.
    Argument,
    Other,
}

/// How a worker's process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerExit {
    /// None if a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The last it said on standard error.
    pub stderr: String,
}
