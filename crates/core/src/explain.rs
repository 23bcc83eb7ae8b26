//! The trait of all errors that doors show: the kind of an error, and hints at what to
//! do next.

use serde::Serialize;

/// The kind of a failure. Every door has its own table from kinds to what it reports (the CLI:
/// exit codes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request cannot be carried out as asked.
    User,
    /// Someone else holds what was asked for.
    Conflict,
    /// The store was busy past the caller's budget; trying again may work.
    Busy,
    /// Nothing was done, and the obstacle is gone: the door repeats the call, once.
    Retry,
    /// The stored data contradicts itself.
    Damaged,
    /// Something the caller could not have caused or prevented.
    Internal,
}

/// An error that knows its kind and the next steps.
pub trait Explain: std::error::Error {
    fn kind(&self) -> ErrorKind;

    /// Lists commands or facts that help, most useful first.
    fn hints(&self) -> Vec<String> {
        Vec::new()
    }
}
