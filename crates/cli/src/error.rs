//! The error type of all commands, and how it is printed: what failed, why, and what to
//! do next.

use std::error::Error;

use consort_core::explain::Explain;
use consort_core::explain::Kind;
use serde_json::Value;
use serde_json::json;

/// Any command's failure.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// Something went wrong and can be explained.
    Explained { error: Box<dyn Error>, kind: Kind, hints: Vec<String> },
    /// It was waited for, and has not come about; why.
    TimedOut(Box<CommandError>),
    /// The command line is wrong.
    Usage { message: String, hints: Vec<String> },
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

    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>, hints: Vec<String>) -> Self {
        Self::Usage { message: message.into(), hints }
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
            std::io::ErrorKind::NotFound => "there is no such file: check its name",
            _ => "check that the file and its directory are yours to change, and that the disk has opened",
        };
        let error = FileError { what: what.to_owned(), path: path.display().to_string(), source };
        Self::Explained { error: Box::new(error), kind: Kind::User, hints: vec![hint.into()] }
    }

    /// `Error: …`, `Caused by: …`, `Hint: …`.
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

    /// What lies behind it, nearest first.
    fn causes(&self) -> Vec<String> {
        let Self::Explained { error, .. } = self else { return Vec::new() };
        let (mut causes, mut cause) = (Vec::new(), error.source());
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        causes
    }

    /// The same for programs, if there is anything to say.
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
            Self::TimedOut(_) => crate::exit::TIMED_OUT,
            Self::Usage { .. } => crate::exit::USAGE,
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
