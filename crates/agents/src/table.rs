//! Our table in a TOML file.
//!
//! One of our name that somebody has changed is theirs: it is left as it is.

use toml_edit::DocumentMut;
use toml_edit::Item;
use toml_edit::TableLike;

use crate::Connection;
use crate::SettingsError;
use crate::connect::is_consort;

/// What our table is called.
const NAME: &str = "consort";

pub struct Table {
    /// The table it is in.
    pub(crate) of: &'static str,
    /// What it says, for a program of ours.
    pub(crate) lines: fn(&str) -> String,
}

impl Table {
    pub(crate) fn connection(&self, settings: &str, program: &str) -> Result<Connection, SettingsError> {
        let document = parse(settings)?;
        let Some(found) = self.found(&document)? else { return Ok(Connection::Absent) };
        Ok(match said(found) {
            Some(found) if self.is_ours(&found) && found != values((self.lines)(program))? => {
                Connection::Outdated
            }
            _ => Connection::Current,
        })
    }

    pub(crate) fn connect(&self, settings: Option<&str>, program: &str) -> Result<String, SettingsError> {
        let settings = settings.unwrap_or_default();
        if self.connection(settings, program)? == Connection::Current {
            return Ok(settings.to_owned());
        }
        let mut text = self.disconnect(settings)?;
        if !text.is_empty() {
            text.truncate(text.trim_end_matches('\n').len());
            text.push_str("\n\n");
        }
        text.push_str(&format!("[{}.{NAME}]\n{}", self.of, (self.lines)(program)));
        // Somebody may have written the whole as one value, to which nothing can be added.
        parse(&text).map(|_| text)
    }

    pub(crate) fn disconnect(&self, settings: &str) -> Result<String, SettingsError> {
        let mut document = parse(settings)?;
        let is_ours = self.found(&document)?.and_then(said).is_some_and(|found| self.is_ours(&found));
        if is_ours && let Some(all) = document.get_mut(self.of).and_then(Item::as_table_like_mut) {
            all.remove(NAME);
            if all.is_empty() {
                document.remove(self.of);
            }
        }
        Ok(document.to_string())
    }

    fn found<'a>(&self, document: &'a DocumentMut) -> Result<Option<&'a dyn TableLike>, SettingsError> {
        let Some(all) = document.get(self.of) else { return Ok(None) };
        let unexpected = || SettingsError::unexpected(&format!("`{}`", self.of), "a table");
        let Some(found) = all.as_table_like().ok_or_else(unexpected)?.get(NAME) else { return Ok(None) };
        let unexpected = || SettingsError::unexpected(&format!("`{}.{NAME}`", self.of), "a table");
        found.as_table_like().map(Some).ok_or_else(unexpected)
    }

    /// Whether that is what we would write for some program of ours.
    fn is_ours(&self, found: &[(String, String)]) -> bool {
        let command = found.iter().find(|(key, _)| key == "command");
        let program =
            command.map(|(_, value)| value.trim_matches(['"', '\'']).to_owned()).unwrap_or_default();
        is_consort(&program) && values((self.lines)(&program)).is_ok_and(|ours| ours == found)
    }
}

/// What a table says; `None` where it says more than values.
fn said(table: &dyn TableLike) -> Option<Vec<(String, String)>> {
    table
        .iter()
        .map(|(key, item)| Some((key.to_owned(), item.as_value()?.to_string().trim().to_owned())))
        .collect()
}

fn values(lines: String) -> Result<Vec<(String, String)>, SettingsError> {
    Ok(said(parse(&lines)?.as_table()).unwrap_or_default())
}

fn parse(text: &str) -> Result<DocumentMut, SettingsError> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or_default();
        SettingsError::Malformed {
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            message: error.message().to_owned(),
        }
    })
}
