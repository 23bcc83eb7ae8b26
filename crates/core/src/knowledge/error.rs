//! Errors of the knowledge room: why nothing was recorded or could be read.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::presence::NotAllowed;
use crate::text;

/// An error of recording or reading knowledge.
#[derive(Debug, Error)]
pub enum KnowledgeError {
    #[error("nothing was recorded:{}", listed(mistakes))]
    Mistaken { mistakes: Vec<Mistake> },
    #[error("nothing called `{name}` is known{}", if *elsewhere { " there" } else { "" })]
    Unknown { name: String, elsewhere: bool },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("what another replica knows cannot be understood: {why}")]
    Foreign { why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A mistake in one action of a batch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mistake {
    /// The index of the action, from 0.
    pub action: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    pub message: String,
    /// The value that was given.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub received: Value,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "action {}", self.action)?;
        if let Some(name) = &self.name {
            write!(f, " ({name})")?;
        }
        if let Some(field) = &self.field {
            write!(f, ", `{field}`")?;
        }
        write!(f, ": {}", self.message)
    }
}

fn listed(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(|mistake| format!("\n  {mistake}")).collect()
}

impl Explain for KnowledgeError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            Self::Mistaken { .. } | Self::Unknown { .. } | Self::NotAllowed(_) | Self::Foreign { .. } => {
                ErrorKind::User
            }
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Mistaken { .. } => vec!["fix these and send the whole batch again".into()],
            Self::Unknown { elsewhere: true, .. } => {
                vec!["`consort know similar \"…\"` finds what other projects know".into()]
            }
            Self::Unknown { name, .. } => {
                vec![format!("`consort know search {}` finds what is like it", text::shell_quoted(name))]
            }
            Self::NotAllowed(error) => error.hints(),
            Self::Foreign { .. } => {
                vec!["it was left alone; `consort know save` writes the file anew".into()]
            }
            Self::Store(error) => error.hints(),
        }
    }
}
