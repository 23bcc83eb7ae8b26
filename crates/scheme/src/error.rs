//! Errors of the Scheme: a message, a position in the source, and a hint.

use std::fmt;
use std::ops::Deref;

/// An error; it is one machine word, because every operation might return one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<EvalError>);

/// The message of an error, its position, and a hint that may help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    pub message: String,
    pub at: Option<Position>,
    pub hint: Option<String>,
}

impl Deref for Error {
    type Target = EvalError;

    fn deref(&self) -> &EvalError {
        &self.0
    }
}

/// A position in the source: line and column, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Error {
    /// Makes an error with that message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(EvalError { message: message.into(), at: None, hint: None }))
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the position, unless an inner one is known already.
    #[must_use]
    pub fn at(mut self, at: Position) -> Self {
        self.0.at.get_or_insert(at);
        self
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, " ({hint})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}
