//! The error type of all commands, and how it is printed: what failed, why, and what to
//! do next.

use std::error::Error;

use consort_core::explain::Explain;
use consort_core::explain::Kind;

/// Any command's failure.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Something went wrong and can be explained.
    Explained { error: Box<dyn Error>, kind: Kind, hints: Vec<String> },
    /// What went wrong was said already.
    Told,
    /// Our reader has gone; there is nobody left to explain to.
    Pipe,
}

pub(crate) type CommandResult = Result<(), CommandError>;

impl CommandError {
    /// A mistake of the caller's, in a sentence, with the way out.
    pub(crate) fn user(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let error: Box<dyn Error> = message.into().into();
        Self::Explained { error, kind: Kind::User, hints: vec![hint.into()] }
    }

    /// A failure to do `what` to a file.
    pub(crate) fn file(what: &str, path: &std::path::Path, source: std::io::Error) -> Self {
        #[derive(Debug, thiserror::Error)]
        #[error("{what} {path}")]
        struct FileError {
            what: String,
            path: String,
            source: std::io::Error,
        }
        let hint = match source.kind() {
            std::io::ErrorKind::InvalidData => "it is not UTF-8 text: fix it or move it away",
            _ => "check that the file and its directory are yours to change, and that the disk has opened",
        };
        let error = FileError { what: what.to_owned(), path: path.display().to_string(), source };
        Self::Explained { error: Box::new(error), kind: Kind::User, hints: vec![hint.into()] }
    }

    /// `Error: …`, `Caused by: …`, `Hint: …`.
    pub(crate) fn render(&self) -> String {
        let Self::Explained { error, hints, .. } = self else { return String::new() };
        let mut text = format!("Error: {error}\n");
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(&format!("Caused by: {error}\n"));
            cause = error.source();
        }
        for hint in hints {
            text.push_str(&format!("Hint: {hint}\n"));
        }
        text
    }

    /// The same as data.
    pub(crate) fn facts(&self) -> serde_json::Value {
        let (kind, hints) = match self {
            Self::Explained { kind, hints, .. } => (format!("{kind:?}").to_lowercase(), hints.as_slice()),
            Self::Told | Self::Pipe => ("user".to_owned(), [].as_slice()),
        };
        serde_json::json!({ "kind": kind, "message": self.in_a_line(), "hints": hints })
    }

    /// What and why, without what to do.
    pub(crate) fn in_a_line(&self) -> String {
        let text = self.render();
        let facts = text.lines().filter(|line| !line.starts_with("Hint: "));
        let bare = facts.map(|line| line.trim_start_matches("Error: ").trim_start_matches("Caused by: "));
        bare.collect::<Vec<_>>().join(": ")
    }

    /// Whether doing the same again will work.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        matches!(self, Self::Explained { kind: Kind::Retry, .. })
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Explained { kind, .. } => crate::exit::code(*kind),
            Self::Told => crate::exit::code(Kind::User),
            Self::Pipe => crate::exit::PIPE,
        }
    }
}

impl<E: Explain + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::Explained { kind: error.kind(), hints: error.hints(), error: Box::new(error) }
    }
}
