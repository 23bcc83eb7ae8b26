//! Errors of the dispatch room: why a run is not begun or not found, with hints.

use thiserror::Error;

use super::RunState;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::journal::Number;
use crate::presence::NotAllowed;
use crate::presence::PresenceError;
use crate::tasks::TaskError;

/// An error of a verb about runs.
#[derive(Debug, Error)]
pub enum DispatchError {
    #[error(transparent)]
    Refused(#[from] GateRefusal),
    #[error("there is no run {name} in this project")]
    NoSuchRun { name: String },
    #[error("run {number} {} already", state.predicate())]
    HasEnded { number: Number, state: RunState },
    #[error("run {number} has not ended")]
    HasNotEnded { number: Number },
    #[error("run {number} is not yours")]
    NotYours { number: Number },
    #[error("run {number} cannot be resumed: its session is not known")]
    NoSession { number: Number },
    #[error(transparent)]
    Presence(#[from] PresenceError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The answer of a gate that does not let a run through, with a hint.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("not started ({gate}): {why}")]
pub struct GateRefusal {
    pub gate: &'static str,
    pub why: String,
    pub hint: String,
}

impl Explain for DispatchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(_) | Self::HasEnded { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            Self::Presence(error) => error.kind(),
            Self::Task(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::Refused(refusal) => refusal.hint.clone(),
            Self::NoSuchRun { .. } => "`consort runs list` shows which there are".into(),
            Self::HasEnded { number, .. } => format!("`consort runs show {number}` says how it ended"),
            Self::HasNotEnded { number } => format!("`consort runs stop {number}` ends it"),
            Self::NotYours { .. } => "ask its starter or your user to stop it".into(),
            Self::NoSession { number } => {
                format!("`consort runs retry {number}` does it again from the start")
            }
            Self::Presence(error) => return error.hints(),
            Self::Task(error) => return error.hints(),
            Self::NotAllowed(error) => return error.hints(),
            Self::Store(error) => return error.hints(),
        }]
    }
}
