//! Errors of the monitor room: the reasons a pane cannot be opened, found, answered or closed, with hints.

use thiserror::Error;

use super::TerminalError;
use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::presence::NotAllowed;
use crate::presence::PresenceError;

/// The reason something cannot be done with a pane.
#[derive(Debug, Error)]
pub enum MonitorError {
    #[error("there is no pane of `{name}`")]
    NoSuchPane { name: String, nearest: Option<String> },
    #[error("{name} has no pane that can be seen from here")]
    NoPane { name: String },
    #[error("{name} was opened by somebody else")]
    NotYours { name: String },
    #[error("an agent cannot open another with {what}")]
    TooLoose { what: &'static str },
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    #[error(transparent)]
    Presence(#[from] PresenceError),
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for MonitorError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotYours { .. } | Self::TooLoose { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            Self::Presence(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoSuchPane { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NoSuchPane { nearest: None, .. } => "`consort pane list` shows which there are".into(),
            Self::NoPane { .. } => {
                "only agents in tmux have one: `consort open <cli>` opens one there".into()
            }
            Self::NotYours { .. } => "only who opened it, and your user, may do this".into(),
            Self::TooLoose { .. } => {
                "what you open may do no more than you; your user can open it: consort send @me '…'".into()
            }
            Self::Terminal(error) => return error.hints(),
            Self::Presence(error) => return error.hints(),
            Self::NotAllowed(error) => return error.hints(),
            Self::Store(error) => return error.hints(),
        }]
    }
}
