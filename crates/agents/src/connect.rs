//! What is ours in the files of an agent CLI.

use std::path::PathBuf;

use crate::Entries;
use crate::SettingsError;
use crate::block;
use crate::member::Member;
use crate::owned;
use crate::table::Table;

/// Something of ours in a file of a CLI.
pub struct Piece {
    pub part: Part,
    pub file: PathBuf,
    pub wiring: Wiring,
}

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// That we hear of what its sessions do.
    Hooks,
    /// That its sessions can call us.
    Mcp,
    /// That its sessions know how to work with others.
    Primer,
}

/// In what form.
pub enum Wiring {
    /// Among others' hooks.
    Hooks(Entries),
    /// One entry of an object in JSON.
    Member(Member),
    /// A table in TOML.
    Table(Table),
    /// Some lines of a text.
    Block,
    /// The whole file, which is this for a program of ours.
    Own(fn(&str) -> String),
}

/// How a file stands to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    Absent,
    /// Connected by another version, from another place, or only in part.
    Outdated,
    /// Connected, but the CLI is told to run no hooks.
    SwitchedOff,
    Current,
}

impl Wiring {
    /// What a file says of us.
    pub fn connection(&self, found: &str, program: &str) -> Result<Connection, SettingsError> {
        match self {
            Self::Hooks(entries) => entries.connection(found, program),
            Self::Member(member) => member.connection(found, program),
            Self::Table(table) => table.connection(found, program),
            Self::Block => Ok(block::connection(found)),
            Self::Own(file) => owned::connection(found, &file(program)),
        }
    }

    /// The file with what is ours in it; `None` starts a new one.
    pub fn connect(&self, found: Option<&str>, program: &str) -> Result<String, SettingsError> {
        match self {
            Self::Hooks(entries) => entries.connect(found, program),
            Self::Member(member) => member.connect(found, program),
            Self::Table(table) => table.connect(found, program),
            Self::Block => Ok(block::connect(found)),
            Self::Own(file) => owned::connect(found, file(program)),
        }
    }

    /// The file without what is ours; `None` where nothing is left of it.
    pub fn disconnect(&self, found: &str, program: &str) -> Result<Option<String>, SettingsError> {
        match self {
            Self::Hooks(entries) => entries.disconnect(found, program).map(Some),
            Self::Member(member) => member.disconnect(found).map(Some),
            Self::Table(table) => table.disconnect(found).map(Some),
            Self::Block => Ok(Some(block::disconnect(found))),
            Self::Own(_) => owned::disconnect(found),
        }
    }
}

/// Whether a program of that name or place is a consort.
pub(crate) fn is_consort(program: &str) -> bool {
    program.rsplit('/').next().is_some_and(|name| name.contains("consort"))
}
