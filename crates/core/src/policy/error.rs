//! Errors of the policy room: invalid rules, and questions that cannot be answered, with hints.

use thiserror::Error;

use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::journal::Number;
use crate::presence::NotAllowed;
use crate::presence::PresenceError;

/// An error of a verb about rules or questions.
#[derive(Debug, Error)]
pub enum PolicyError {
    #[error("`{text}` is no rule")]
    NoRule { text: String },
    #[error("`{tool}` is no tool")]
    NoTool { tool: String },
    #[error("`{pattern}` is no pattern: {why}")]
    NoPattern { pattern: String, why: &'static str },
    #[error("there is no rule #{number}")]
    NoSuchRule { number: Number },
    #[error("{name} was already answered")]
    AlreadyAnswered { name: String },
    #[error("`{word}` is no answer to this")]
    NoAnswer { word: String, options: Vec<String> },
    #[error(transparent)]
    Presence(#[from] PresenceError),
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for PolicyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::AlreadyAnswered { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            Self::Presence(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        vec![match self {
            Self::NoRule { .. } => "rules look like this: Bash(git push*); Edit(.env)".into(),
            Self::NoTool { .. } => "Bash, Edit, Read, or the tool's own name as its CLI has it".into(),
            Self::NoPattern { .. } => "like this: consort policy add deny Bash 'git push*'".into(),
            Self::NoSuchRule { .. } => "`consort policy list` shows which there are".into(),
            Self::AlreadyAnswered { .. } => "`consort waiting` shows what is still asked".into(),
            Self::NoAnswer { options, .. } => format!("one of: {}", options.join(", ")),
            Self::Presence(error) => return error.hints(),
            Self::NotAllowed(error) => return error.hints(),
            Self::Store(error) => return error.hints(),
        }]
    }
}
