//! A whole file of ours in a CLI's directory of plugins or hooks: written whole,
//! recognised by its notice, removed whole.

use serde_json::Value;

use crate::Connection;
use crate::SettingsError;
use crate::hook_entries::program_of;

/// What stands before the program in a plugin of ours.
pub(crate) const PROGRAM: &str = "const PROGRAM = ";

/// By this we know our own.
pub(crate) const NOTICE: &str = "Written by consort: `consort init` renews it, `consort uninit` removes it.";

pub(crate) fn connection(found: &str, wanted: &str) -> Result<Connection, SettingsError> {
    ours(found)?;
    Ok(if found == wanted { Connection::Current } else { Connection::Outdated })
}

pub(crate) fn connect(found: Option<&str>, wanted: String) -> Result<String, SettingsError> {
    found.filter(|found| !found.trim().is_empty()).map_or(Ok(()), ours)?;
    Ok(wanted)
}

/// Nothing is left of it, if it is ours.
pub(crate) fn disconnect(found: &str) -> Option<String> {
    ours(found).err().map(|_| found.to_owned())
}

/// The programs that it calls: a plugin says so in a line, hooks in their
/// command lines.
pub(crate) fn programs(found: &str) -> Vec<String> {
    let said = found.lines().filter_map(|line| line.strip_prefix(PROGRAM));
    let said = said.filter_map(|program| serde_json::from_str(program.trim_end()).ok());
    let hooks: Value = serde_json::from_str(found).unwrap_or_default();
    let hooks = hooks["hooks"].as_object().into_iter().flatten();
    let commands = hooks.filter_map(|(_, entries)| entries[0]["bash"].as_str());
    said.chain(commands.filter_map(program_of)).collect()
}

/// A file of that name that somebody else wrote is not ours to replace.
fn ours(found: &str) -> Result<(), SettingsError> {
    if found.contains(NOTICE) {
        return Ok(());
    }
    Err(SettingsError::unexpected("this file", "one of ours"))
}
