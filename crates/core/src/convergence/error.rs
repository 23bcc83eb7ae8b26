//! Errors of the convergence room: the reasons a radar, domain or handoff request has no answer, with hints.

use thiserror::Error;

use crate::engine::StoreError;
use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::journal::Number;
use crate::text;

/// The reason a request about convergence has no answer.
#[derive(Debug, Error)]
pub enum ConvergenceError {
    #[error("there is no prediction {number}")]
    NoSuchPrediction { number: Number },
    #[error("`{}` is not a word", text::one_line(word, 60))]
    NotAWord { word: String },
    #[error("no agent is at work in this project")]
    Nobody,
    #[error("`{}` says nothing about the work", text::one_line(task, 60))]
    EmptyTask { task: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Explain for ConvergenceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Store(error) => error.kind(),
            _ => ErrorKind::User,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NoSuchPrediction { .. } => {
                vec!["`consort radar` shows those that are open, `consort radar history` the others".into()]
            }
            Self::NotAWord { .. } => vec!["topics and domains are single words: letters and digits".into()],
            Self::Nobody => vec!["`consort who --all` shows who is here and who was".into()],
            Self::EmptyTask { .. } => vec!["say what is to be done, in the words of the project".into()],
            Self::Store(error) => error.hints(),
        }
    }
}
