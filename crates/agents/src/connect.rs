//! What `init` adds to the files of any agent CLI: the insertions, and how each is
//! connected, recognised and removed.

use std::path::PathBuf;

use crate::HookEntries;
use crate::SettingsError;
use crate::instructions_block;
use crate::json_list::JsonList;
use crate::json_member::JsonMember;
use crate::json_permissions;
use crate::plugin_file;
use crate::shell_prefix::ShellPrefix;
use crate::toml_table::TomlTable;

/// Something of ours in a file of a CLI.
pub struct Insertion {
    pub purpose: Purpose,
    pub file: PathBuf,
    pub format: InsertionFormat,
}

/// What an insertion is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// That we hear of what its sessions do.
    Hooks,
    /// That its sessions can call us.
    Mcp,
    /// That its sessions know how to work with others.
    Primer,
    /// That its commands run behind the shield.
    Shield,
    /// That its sessions may use us without asking.
    Allow,
}

/// In what form.
pub enum InsertionFormat {
    /// Among others' hooks.
    Hooks(HookEntries),
    /// One entry of an object in JSON.
    JsonMember(JsonMember),
    /// Some strings in a list in JSON.
    JsonList(JsonList),
    /// Rules among OpenCode's permissions.
    JsonPermissions,
    /// A table in TOML.
    TomlTable(TomlTable),
    /// The rules for the tools of that table.
    TomlTools(TomlTable),
    /// The program that all its commands are run through.
    ShellPrefix(ShellPrefix),
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

/// What some editors put before a text. It is not part of what the text says,
/// and stays.
const MARK: char = '\u{feff}';

impl InsertionFormat {
    /// What a file says of us.
    pub fn connection(&self, found: &str, program: &str) -> Result<Connection, SettingsError> {
        let (_, text) = marked(found);
        match self {
            Self::Hooks(entries) => entries.connection(text, program),
            Self::JsonMember(member) => member.connection(text, program),
            Self::JsonList(list) => list.connection(text),
            Self::JsonPermissions => json_permissions::connection(text),
            Self::TomlTable(table) => table.connection(text, program),
            Self::TomlTools(table) => table.approval(text),
            Self::ShellPrefix(prefix) => prefix.connection(text),
            Self::Block => Ok(instructions_block::connection(text)),
            Self::Own(file) => plugin_file::connection(found, &file(program)),
        }
    }

    /// The file with what is ours in it; `None` starts a new one.
    pub fn connect(&self, found: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let (mark, text) = marked(found.unwrap_or_default());
        let text = found.map(|_| text);
        let connected = match self {
            Self::Hooks(entries) => entries.connect(text, program),
            Self::JsonMember(member) => member.connect(text, program),
            Self::JsonList(list) => list.connect(text),
            Self::JsonPermissions => json_permissions::connect(text),
            Self::TomlTable(table) => table.connect(text, program),
            Self::TomlTools(table) => table.approve(text),
            Self::ShellPrefix(prefix) => prefix.connect(text),
            Self::Block => Ok(instructions_block::connect(text)),
            Self::Own(file) => return plugin_file::connect(found, file(program)),
        };
        connected.map(|connected| format!("{mark}{connected}"))
    }

    /// The file without what is ours; `None` where nothing is left of it.
    /// `before` is what it said before we came, if that is known.
    pub fn disconnect(
        &self,
        found: &str,
        program: &str,
        before: Option<&str>,
    ) -> Result<Option<String>, SettingsError> {
        let (mark, text) = marked(found);
        let before = before.map(|before| marked(before).1);
        let left = match self {
            Self::Hooks(entries) => entries.disconnect(text, program, before),
            Self::JsonMember(member) => member.disconnect(text, before),
            Self::JsonList(list) => list.disconnect(text, before),
            Self::JsonPermissions => json_permissions::disconnect(text, before),
            Self::TomlTable(table) => table.disconnect(text),
            Self::TomlTools(table) => table.unapprove(text),
            Self::ShellPrefix(prefix) => prefix.disconnect(text, before),
            Self::Block => Ok(instructions_block::disconnect(text)),
            Self::Own(_) => return Ok(plugin_file::disconnect(found)),
        };
        left.map(|left| Some(format!("{mark}{left}")))
    }

    /// How we hear of sessions, in words.
    pub fn hooks_in_words(&self) -> String {
        let count = match self {
            Self::Hooks(entries) => entries.events.len(),
            Self::Own(file) => plugin_file::programs(&file("consort")).len(),
            _ => 0,
        };
        // A plugin calls us in one place.
        if count > 1 { format!("{count} hooks") } else { "a plugin".to_owned() }
    }

    /// The programs that what is ours in a file would call.
    pub fn programs(&self, found: &str, program: &str) -> Vec<String> {
        let (_, text) = marked(found);
        match self {
            Self::Hooks(entries) => entries.programs(text, program),
            Self::JsonMember(member) => member.programs(text),
            Self::TomlTable(table) => table.programs(text),
            Self::Block
            | Self::ShellPrefix(_)
            | Self::JsonList(_)
            | Self::JsonPermissions
            | Self::TomlTools(_) => Vec::new(),
            Self::Own(_) => plugin_file::programs(text),
        }
    }
}

/// A text's mark, if it has one, and what it says.
fn marked(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches(MARK).len())
}

/// Whether a program of that name or place is a consort.
pub(crate) fn is_consort(program: &str) -> bool {
    program.rsplit('/').next().is_some_and(|name| name.contains("consort"))
}
