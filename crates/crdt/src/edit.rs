//! The edits that a CRDT document takes: what is changed, by which writer and when.

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

/// An edit of one entity; as JSON `{"entity": "…", "set": {"field": "…", "value": …}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub entity: String,
    #[serde(flatten)]
    pub change: Change,
}

/// The change that an edit makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Writes a register.
    Set { field: String, value: Value },
    /// Puts a member into a set, or replaces its value.
    Add { set: String, member: String, value: Value },
    /// Removes a member from a set; a member that is not there is no error.
    Remove { set: String, member: String },
}

/// The time and the writer of an edit, which decide between two that differ, and its author.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    /// The time in milliseconds, by the writer's clock.
    pub at: i64,
    /// The id of the replica, which is its Yjs client id: 53 bits, and different for each replica.
    pub writer: u64,
    /// Any JSON about the author.
    pub by: Value,
}

/// An edit with its stamp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedEdit {
    #[serde(flatten)]
    pub edit: Edit,
    pub stamp: Stamp,
}
