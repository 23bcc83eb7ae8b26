//! Errors of the Scheme: what went wrong, at which position, and a hint.

use std::fmt;
use std::ops::Deref;

/// A word, because every operation might return one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<EvalError>);

/// What went wrong in an evaluation, where, and what may help.
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

/// A place in the source, both counted from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

impl Error {
    /// An error with that message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(EvalError { message: message.into(), at: None, hint: None }))
    }

    /// With a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The innermost place that is known stays.
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
