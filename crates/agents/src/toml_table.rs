//! Our table in a CLI's TOML settings (Codex).
//!
//! One of our name that somebody has changed is theirs: it is left as it is.
//! **Everyone else's text stays as it is to the byte**: our lines are put into
//! it and cut out of it, and it is never written anew from what was understood.

use std::ops::Range;

use toml_edit::Document;
use toml_edit::TableLike;

use crate::Connection;
use crate::SettingsError;
use crate::appended_lines;
use crate::connect::is_consort;

/// What our table is called.
const NAME: &str = "consort";

pub struct TomlTable {
    /// The table it is in.
    pub(crate) of: &'static str,
    /// What it says, for a program of ours.
    pub(crate) lines: fn(&str) -> String,
}

/// What there is of our name.
enum Found {
    Nothing,
    /// Written by somebody else, or changed.
    Theirs,
    Ours(Ours),
}

struct Ours {
    program: String,
    header: Range<usize>,
    /// The lines of its keys: between them may be comments of somebody's.
    keys: Vec<Range<usize>>,
}

impl TomlTable {
    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<Connection, SettingsError> {
        Ok(match self.found(settings)? {
            Found::Nothing => Connection::Absent,
            Found::Ours(ours) if ours.program != program => Connection::Outdated,
            Found::Theirs | Found::Ours(_) => Connection::Current,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let settings = settings.unwrap_or_default();
        let wanted = format!("{}\n{}", self.header(), (self.lines)(program));
        let text = match self.found(settings)? {
            Found::Nothing => appended_lines::append(settings, &wanted),
            Found::Ours(ours) if ours.program != program => {
                let mut text = without(settings, &ours.keys);
                text.replace_range(ours.header, &appended_lines::styled(&wanted, settings));
                text
            }
            Found::Theirs | Found::Ours(_) => return Ok(settings.to_owned()),
        };
        // Somebody may have written the whole as one value, to which nothing can be added.
        parse(&text)?;
        Ok(text)
    }

    pub(crate) fn disconnect(&self, settings: &str) -> Result<String, SettingsError> {
        match self.found(settings) {
            Ok(Found::Ours(ours)) => Ok(appended_lines::cut(&without(settings, &ours.keys), ours.header)),
            // Whatever that is, nothing of ours is in it.
            Ok(_) | Err(SettingsError::Unexpected { .. }) => Ok(settings.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// The programs that it tells of.
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

    /// Where it says what we would say for this program, if it does and the
    /// program is one of ours.
    fn ours(&self, found: Vec<Said>, program: &str) -> Option<Vec<Range<usize>>> {
        let lines = (self.lines)(program);
        let wanted = said(parse(&lines).ok()?.as_table(), &lines)?;
        let is_alike =
            |(found, wanted): (&Said, &Said)| found.key == wanted.key && found.value == wanted.value;
        let is_ours =
            is_consort(program) && found.len() == wanted.len() && found.iter().zip(&wanted).all(is_alike);
        is_ours.then(|| found.into_iter().map(|said| said.line).collect())
    }
}

/// A key with its value, as it is written.
struct Said {
    key: String,
    value: String,
    line: Range<usize>,
}

/// What a table says; `None` where it says more than values on lines of their own.
fn said(table: &dyn TableLike, text: &str) -> Option<Vec<Said>> {
    let one = |(key, item): (&str, &toml_edit::Item)| {
        let span = item.as_value()?.span()?;
        let line = appended_lines::around(text, span.start);
        let is_alone = text.get(span.end..line.end)?.trim().is_empty();
        is_alone.then(|| Said { key: key.to_owned(), value: text[span].to_owned(), line })
    };
    table.iter().map(one).collect()
}

/// The text without these parts of it, which are in order.
fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut text = text.to_owned();
    for part in parts.iter().rev() {
        text.replace_range(part.clone(), "");
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
