//! The error type of all commands, and how it is printed: what failed, why, and what to
//! do next.

use std::error::Error;

use consort_core::explain::ErrorKind;
use consort_core::explain::Explain;
use serde_json::Value;
use serde_json::json;

/// The failure of a command.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// A failure with an explanation, its kind and hints.
    Explained { error: Box<dyn Error>, kind: ErrorKind, hints: Vec<String> },
    /// A wait that ran out of time; the inner error says what is still missing.
    TimedOut(Box<CommandError>),
    /// A mistake on the command line.
    Usage { message: String, hints: Vec<String> },
    /// A failure that was already printed.
    Told,
    /// A closed output: its reader has gone, and nobody is left to explain anything to.
    Pipe,
}

pub(crate) type CommandResult = Result<(), CommandError>;

impl CommandError {
    /// Makes an error for a mistake of the caller's: a sentence, and a hint at the way out.
    pub(crate) fn user(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let error: Box<dyn Error> = message.into().into();
        Self::Explained { error, kind: ErrorKind::User, hints: vec![hint.into()] }
    }

    /// Makes an error for a mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self::Usage { message: message.into(), hints }
    }

    /// Makes an error for a file operation that failed; `what` is the start of its sentence, as in
    /// `cannot write`.
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
            std::io::ErrorKind::NotFound => "there is no such file: check its name",
            _ => "check that the file and its directory are yours to change, and that the disk has room",
        };
        let error = FileError { what: what.to_owned(), path: path.display().to_string(), source };
        Self::Explained { error: Box::new(error), kind: ErrorKind::User, hints: vec![hint.into()] }
    }

    /// Formats the error for people: lines of `Error: …`, `Caused by: …`, `Hint: …`.
    pub(crate) fn render(&self) -> String {
        let (mut text, hints) = match self {
            Self::TimedOut(error) => return error.render(),
            Self::Explained { error, hints, .. } => (format!("Error: {error}\n"), hints),
            Self::Usage { message, hints } => (format!("Error: {message}\n"), hints),
            Self::Told | Self::Pipe => return String::new(),
        };
        for cause in self.causes() {
            text.push_str(&format!("Caused by: {cause}\n"));
        }
        for hint in hints {
            text.push_str(&format!("Hint: {hint}\n"));
        }
        text
    }

    /// Returns the errors that caused this one, nearest first.
    fn causes(&self) -> Vec<String> {
        let Self::Explained { error, .. } = self else { return Vec::new() };
        let (mut causes, mut cause) = (Vec::new(), error.source());
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// Formats the error as JSON for programs; `None` if there is nothing to print.
    pub(crate) fn json(&self) -> Option<Value> {
        let (kind, message, hints) = match self {
            Self::TimedOut(error) => {
                let mut json = error.json()?;
                json["error"]["kind"] = json!("timeout");
                return Some(json);
            }
            Self::Explained { error, kind, hints } => (json!(kind), error.to_string(), hints),
            Self::Usage { message, hints } => (json!("usage"), message.clone(), hints),
            Self::Told | Self::Pipe => return None,
        };
        let message = std::iter::once(message).chain(self.causes()).collect::<Vec<_>>().join(": ");
        Some(json!({ "error": { "kind": kind, "message": message, "hints": hints } }))
    }

    /// Formats the error and its causes on one line, without the hints.
    pub(crate) fn in_a_line(&self) -> String {
        let text = self.render();
        let facts = text.lines().filter(|line| !line.starts_with("Hint: "));
        let bare = facts.map(|line| line.trim_start_matches("Error: ").trim_start_matches("Caused by: "));
        bare.collect::<Vec<_>>().join(": ")
    }

    /// Tells whether the same command will work if it is run again.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        matches!(self, Self::Explained { kind: ErrorKind::Retry, .. })
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Explained { kind, .. } => crate::exit::code(*kind),
            Self::TimedOut(_) => crate::exit::TIMED_OUT,
            Self::Usage { .. } => crate::exit::USAGE,
            Self::Told => crate::exit::code(ErrorKind::User),
            Self::Pipe => crate::exit::PIPE,
        }
    }
}

impl<E: Explain + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::Explained { kind: error.kind(), hints: error.hints(), error: Box::new(error) }
    }
}
