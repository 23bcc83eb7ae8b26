//! The edits that a CRDT document takes: what is changed, by which writer and when.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

/// `{"entity": "…", "set": {"field": "…", "value": …}}`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub entity: String,
    #[serde(flatten)]
    pub change: Change,
}

/// What an edit does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Writes a register.
    Set { field: String, value: Value },
    /// Puts a member into a set, or replaces its value.
    Add { set: String, member: String, value: Value },
    /// Takes a member out of a set; one that is not there is no error.
    Remove { set: String, member: String },
}

/// When and by whom something was said, which decides between two that differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    /// Milliseconds, by the writer's clock.
    pub at: i64,
    /// The replica, and its Yjs client id: 53 bits, and no two replicas alike.
    pub writer: u64,
    /// Anything about who wrote it.
    pub by: Value,
}

/// An edit as it happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedEdit {
    #[serde(flatten)]
    pub edit: Edit,
    pub stamp: Stamp,
}
