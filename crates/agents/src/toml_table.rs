//! Adds our table to a CLI's TOML settings (Codex), and removes it.
//!
//! A table with our name that somebody has changed is theirs: it is left as it is. **Everyone else's text
//! stays the same to the byte**: our lines are inserted into the text and cut out of it, and the file is
//! never rewritten from its parsed form.

use std::ops::Range;

use toml_edit::Document;
use toml_edit::TableLike;

use crate::InsertionState;
use crate::SettingsError;
use crate::appended_lines;
use crate::connect::is_consort;

/// The name of our table.
const NAME: &str = "consort";

pub struct TomlTable {
    /// The name of the table that ours is in.
    pub(crate) of: &'static str,
    /// Returns the lines of our table for the path of our program.
    pub(crate) lines: fn(&str) -> String,
    /// Returns the tools that are called without asking, as the value of [`TOOLS`].
    pub(crate) tools: fn() -> String,
}

/// The key of the rules for single tools.
const TOOLS: &str = "tools";
/// The key for all tools at once, which earlier versions wrote.
const ALL_TOOLS: &str = "default_tools_approval_mode";
const APPROVE: &str = "approve";

/// The table with our name that a file has.
enum Found {
    Nothing,
    /// A table that somebody else wrote or changed.
    Theirs,
    Ours(Ours),
}

struct Ours {
    program: String,
    header: Range<usize>,
    /// The lines of the table's keys; others' comments may be between them.
    keys: Vec<KeyLine>,
}

impl TomlTable {
    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<InsertionState, SettingsError> {
        Ok(match self.found(settings)? {
            Found::Nothing => InsertionState::Absent,
            Found::Ours(ours) if ours.program != program => InsertionState::Outdated,
            Found::Theirs | Found::Ours(_) => InsertionState::Current,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let settings = settings.unwrap_or_default();
        let wanted = format!("{}\n{}", self.header(), (self.lines)(program));
        let text = match self.found(settings)? {
            Found::Nothing => appended_lines::append(settings, &wanted),
            Found::Ours(ours) if ours.program != program => {
                let mut text = without(settings, ours.keys.iter());
                text.replace_range(ours.header, &appended_lines::with_line_endings(&wanted, settings));
                text
            }
            Found::Theirs | Found::Ours(_) => return Ok(settings.to_owned()),
        };
        // The tables may be written as one inline value, to which no lines can be added.
        parse(&text)?;
        Ok(text)
    }

    pub(crate) fn disconnect(&self, settings: &str) -> Result<String, SettingsError> {
        match self.found(settings) {
            Ok(Found::Ours(ours)) => {
                Ok(appended_lines::cut(&without(settings, ours.keys.iter()), ours.header))
            }
            // Settings of an unexpected shape have no table of ours.
            Ok(_) | Err(SettingsError::Unexpected { .. }) => Ok(settings.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// Returns the state of the rules that let our tools be called without asking. In somebody else's table
    /// the rules are theirs too.
    pub(crate) fn approval(&self, settings: &str) -> Result<InsertionState, SettingsError> {
        let Found::Ours(ours) = self.found(settings)? else { return Ok(InsertionState::Absent) };
        let approvals: Vec<&KeyLine> = ours.keys.iter().filter(|said| said.is_approval).collect();
        Ok(match approvals.as_slice() {
            [] => InsertionState::Absent,
            [only] if only.key == TOOLS && only.value == (self.tools)() => InsertionState::Current,
            _ => InsertionState::Outdated,
        })
    }

    /// Adds the rules to our table, if there is one.
    pub(crate) fn approve(&self, settings: Option<&str>) -> Result<String, SettingsError> {
        let settings = settings.unwrap_or_default();
        if self.approval(settings)? == InsertionState::Current {
            return Ok(settings.to_owned());
        }
        let settings = self.unapprove(settings)?;
        let Found::Ours(ours) = self.found(&settings)? else { return Ok(settings) };
        let at = ours.keys.last().map_or(ours.header.end, |said| said.line.end);
        let line = appended_lines::with_line_endings(&format!("{TOOLS} = {}\n", (self.tools)()), &settings);
        Ok(format!("{}{line}{}", &settings[..at], &settings[at..]))
    }

    /// Removes the rules from our table.
    pub(crate) fn unapprove(&self, settings: &str) -> Result<String, SettingsError> {
        match self.found(settings) {
            Ok(Found::Ours(ours)) => Ok(without(settings, ours.keys.iter().filter(|said| said.is_approval))),
            Ok(_) | Err(SettingsError::Unexpected { .. }) => Ok(settings.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// Returns the program of our table, if there is one.
    pub(crate) fn programs(&self, settings: &str) -> Vec<String> {
        match self.found(settings) {
            Ok(Found::Ours(ours)) => vec![ours.program],
            _ => Vec::new(),
        }
    }

    fn header(&self) -> String {
        format!("[{}.{NAME}]", self.of)
    }

    fn found(&self, settings: &str) -> Result<Found, SettingsError> {
        let document = parse(settings)?;
        let Some(all) = document.get(self.of) else { return Ok(Found::Nothing) };
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "a table");
        let Some(found) = all.as_table_like().ok_or_else(unexpected)?.get(NAME) else {
            return Ok(Found::Nothing);
        };
        let unexpected = || SettingsError::unexpected(&format!("`{}.{NAME}`", self.of), "a table");
        let table = found.as_table_like().ok_or_else(unexpected)?;
        let program = table.get("command").and_then(|command| command.as_str()).unwrap_or_default();
        let header =
            found.as_table().and_then(|table| Some(appended_lines::around(settings, table.span()?.start)));
        let header = header.filter(|line| settings[line.clone()].trim() == self.header());
        let keys = said(table, settings).and_then(|said| self.ours(said, program));
        let ours = header.zip(keys).map(|(header, keys)| Ours { program: program.to_owned(), header, keys });
        Ok(ours.map_or(Found::Theirs, Found::Ours))
    }

    /// Returns the keys of a table if the table is as we would write it for this program, with or without the
    /// rules for tools, and the program is a consort.
    fn ours(&self, found: Vec<KeyLine>, program: &str) -> Option<Vec<KeyLine>> {
        let lines = (self.lines)(program);
        let wanted = said(parse(&lines).ok()?.as_table(), &lines)?;
        let is_alike =
            |(found, wanted): (&KeyLine, &KeyLine)| found.key == wanted.key && found.value == wanted.value;
        let plain: Vec<&KeyLine> = found.iter().filter(|said| !said.is_approval).collect();
        let is_ours = is_consort(program)
            && plain.len() == wanted.len()
            && plain.into_iter().zip(&wanted).all(is_alike);
        is_ours.then_some(found)
    }
}

/// A key with its value, as they are written in the file.
struct KeyLine {
    key: String,
    value: String,
    line: Range<usize>,
    /// Whether this key lets tools be called without asking.
    is_approval: bool,
}

/// Returns the keys of a table; `None` if not every key is a value alone on its line.
fn said(table: &dyn TableLike, text: &str) -> Option<Vec<KeyLine>> {
    let one = |(key, item): (&str, &toml_edit::Item)| {
        let value = item.as_value()?;
        let span = value.span()?;
        let line = appended_lines::around(text, span.start);
        let is_alone = text.get(span.end..line.end)?.trim().is_empty();
        let is_approval = is_approval(key, value);
        is_alone.then(|| KeyLine { key: key.to_owned(), value: text[span].to_owned(), line, is_approval })
    };
    table.iter().map(one).collect()
}

/// Tells whether a key is a rule for tools that this or an earlier version writes.
fn is_approval(key: &str, value: &toml_edit::Value) -> bool {
    let is_rule = |(_, rule): (&str, &toml_edit::Value)| {
        let rule = rule.as_inline_table();
        rule.is_some_and(|rule| {
            rule.len() == 1 && rule.get("approval_mode").and_then(|mode| mode.as_str()) == Some(APPROVE)
        })
    };
    match key {
        ALL_TOOLS => value.as_str() == Some(APPROVE),
        TOOLS => value.as_inline_table().is_some_and(|tools| tools.iter().all(is_rule)),
        _ => false,
    }
}

/// Returns the text without the lines of these keys, which are in order.
fn without<'a>(text: &str, parts: impl DoubleEndedIterator<Item = &'a KeyLine>) -> String {
    let mut text = text.to_owned();
    for part in parts.rev() {
        text.replace_range(part.line.clone(), "");
    }
    text
}

fn parse(text: &str) -> Result<Document<&str>, SettingsError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or_default();
        SettingsError::Malformed {
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            message: error.message().to_owned(),
        }
    })
}
