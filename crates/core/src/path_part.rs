//! A checked type for foreign text that becomes one component of a path.
//!
//! Ids of sessions, subagents, tool calls and tasks are somebody else's text. **They become part
//! of a path only through [`PathPart`]**, which is always a single file name: never empty, and
//! never a way to another directory.

use std::fmt;
use std::fmt::Write as _;

use thiserror::Error;

use crate::explain::ErrorKind;
use crate::explain::Explain;
use crate::text;

/// Longest id, in bytes.
pub const LONGEST_ID: usize = 128;

/// Longest file name made of an id, in bytes; suffixes still fit.
const LONGEST_NAME: usize = 120;

/// An id that cannot be part of a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadId {
    #[error("the id is empty")]
    Empty,
    #[error("`{id}` is not an id: it means a directory")]
    Dots { id: String },
    #[error("`{shown}` is not an id: it has a slash or a control character")]
    Character { shown: String },
    #[error("the id has {length} bytes; {LONGEST_ID} are allowed")]
    TooLong { length: usize },
}

impl Explain for BadId {
    fn kind(&self) -> ErrorKind {
        ErrorKind::User
    }

    fn hints(&self) -> Vec<String> {
        vec![format!("use up to {LONGEST_ID} letters, digits, `-`, `_` or `.`, and not only dots")]
    }
}

/// A single component of a path, made of foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPart(String);

impl PathPart {
    /// Checks an id and turns it into a file name: all but ASCII letters, digits, `-` and `_` is
    /// escaped.
    pub fn new(id: &str) -> Result<Self, BadId> {
        check(id)?;
        Ok(Self(escaped(id)))
    }

    /// Makes a file name of any text: its hash.
    pub fn hashed(text: &str) -> Self {
        Self(format!("hash-{:016x}", text::stable_hash(text.as_bytes())))
    }

    /// Makes a file name of an id: the escaped id if [`PathPart::new`] accepts it, else its hash.
    pub fn escaped_or_hashed(id: &str) -> Self {
        Self::new(id).unwrap_or_else(|_| Self::hashed(id))
    }

    /// Returns the part as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PathPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks that a text can be the id of something that has files.
pub(crate) fn check(id: &str) -> Result<(), BadId> {
    match id {
        "" => Err(BadId::Empty),
        "." | ".." => Err(BadId::Dots { id: id.to_owned() }),
        _ if id.contains('/') || id.chars().any(char::is_control) => {
            Err(BadId::Character { shown: text::one_line(id, 80) })
        }
        _ if id.len() > LONGEST_ID => Err(BadId::TooLong { length: id.len() }),
        _ => Ok(()),
    }
}

/// Escapes an id as a file name. A name that becomes too long is cut, and ends in a checksum of the id.
fn escaped(id: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if id.len() <= LONGEST_NAME && id.bytes().all(is_plain) {
        return id.to_owned();
    }
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        if is_plain(byte) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }
        if name.len() > LONGEST_NAME {
            name.truncate(LONGEST_NAME - 17);
            let _ = write!(name, "-{:016x}", text::stable_hash(id.as_bytes()));
            break;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_file_name_or_none() {
        assert_eq!(PathPart::new("").unwrap_err(), BadId::Empty);
        for id in [".", "..", "/", "a/b", "/etc", "../x", "a\0b", "a\nb", "\u{1b}[2J", &"x".repeat(129)] {
            assert!(PathPart::new(id).is_err(), "{id:?}");
            assert!(PathPart::escaped_or_hashed(id).as_str().starts_with("hash-"), "{id:?}");
        }
        for (id, name) in [
            ("s-1_A", "s-1_A"),
            ("...", "%2e%2e%2e"),
            ("a.b", "a%2eb"),
            ("50%", "50%25"),
            ("~", "%7e"),
            ("-", "-"),
        ] {
            assert_eq!(PathPart::new(id).unwrap().as_str(), name, "{id}");
        }
        let long = PathPart::new(&"ä".repeat(64)).unwrap();
        assert!(long.as_str().len() <= LONGEST_NAME);
    }
}
