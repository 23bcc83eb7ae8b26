//! Adds the insertions of `init` to the files of any agent CLI, recognises them and removes them.

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

/// The part that we add to one file of a CLI.
pub struct Insertion {
    pub purpose: InsertionContent,
    pub file: PathBuf,
    pub format: InsertionFormat,
}

/// The purpose of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionContent {
    /// Sessions report their events to us.
    Hooks,
    /// Sessions can call our MCP server.
    Mcp,
    /// Sessions read how to work with others.
    Primer,
    /// Commands of sessions run behind the shield.
    Shield,
    /// Sessions may use Consort without asking the person.
    Allow,
}

/// The form that an insertion has in its file.
pub enum InsertionFormat {
    /// Hook entries in JSON, among others' hooks.
    Hooks(HookEntries),
    /// One member of a JSON object.
    JsonMember(JsonMember),
    /// Some strings in a JSON list.
    JsonList(JsonList),
    /// Rules among OpenCode's permissions.
    JsonPermissions,
    /// A TOML table.
    TomlTable(TomlTable),
    /// The rules for single tools inside a TOML table of ours.
    TomlTools(TomlTable),
    /// The setting with the program that Claude Code runs all commands through.
    ShellPrefix(ShellPrefix),
    /// A block of lines in a text file.
    Block,
    /// A whole file of ours; the function returns its text for the path of our program.
    Own(fn(&str) -> String),
}

/// The state of an insertion in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertionState {
    Absent,
    /// Connected by another version, from another place, or only in part.
    Outdated,
    /// Connected, but the CLI is told to run no hooks.
    SwitchedOff,
    Current,
}

/// The byte order mark that some editors put before a text. It is not parsed, and is kept.
const MARK: char = '\u{feff}';

impl InsertionFormat {
    /// Returns the state of this insertion in a file with the text `found`.
    pub fn insertion_state(&self, found: &str, program: &str) -> Result<InsertionState, SettingsError> {
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

    /// Returns the text of the file with the insertion in it; `found` is `None` for a new file.
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

    /// Returns the text of the file without the insertion; `None` if the file should be deleted. `before` is
    /// the file's text before `init` changed it, if that is known.
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

    /// Describes the hooks for people: `13 hooks`, or `a plugin`.
    pub fn hooks_in_words(&self) -> String {
        let count = match self {
            Self::Hooks(entries) => entries.events.len(),
            Self::Own(file) => plugin_file::programs(&file("consort")).len(),
            _ => 0,
        };
        // A plugin names our program in one place only.
        if count > 1 { format!("{count} hooks") } else { "a plugin".to_owned() }
    }

    /// Returns the programs that our insertion in a file with the text `found` calls.
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

/// Splits a text into its byte order mark, if it has one, and the rest.
fn marked(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches(MARK).len())
}

/// Tells whether a program's name or path is that of Consort.
pub(crate) fn is_consort(program: &str) -> bool {
    program.rsplit('/').next().is_some_and(|name| name.contains("consort"))
}
