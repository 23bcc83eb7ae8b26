//! Whole files of ours in a CLI's directories, such as plugins: written whole, recognised by their notice,
//! removed whole.

use serde_json::Value;

use crate::InsertionState;
use crate::SettingsError;
use crate::hook_entries::program_of;

/// The text before the program's path in a plugin of ours.
pub(crate) const PROGRAM_PREFIX: &str = "const PROGRAM = ";

/// The notice by which we recognise our own files.
pub(crate) const NOTICE: &str = "Written by consort: `consort init` renews it, `consort uninit` removes it.";

pub(crate) fn connection(found: &str, wanted: &str) -> Result<InsertionState, SettingsError> {
    ours(found)?;
    Ok(if found == wanted { InsertionState::Current } else { InsertionState::Outdated })
}

pub(crate) fn connect(found: Option<&str>, wanted: String) -> Result<String, SettingsError> {
    found.filter(|found| !found.trim().is_empty()).map_or(Ok(()), ours)?;
    Ok(wanted)
}

/// Returns `None` if the file is ours, and so is to be deleted; otherwise its text unchanged.
pub(crate) fn disconnect(found: &str) -> Option<String> {
    ours(found).err().map(|_| found.to_owned())
}

/// Returns the programs that a file of ours calls: a plugin has its program in a line, hooks have theirs in
/// their command lines.
pub(crate) fn programs(found: &str) -> Vec<String> {
    let said = found.lines().filter_map(|line| line.strip_prefix(PROGRAM_PREFIX));
    let said = said.filter_map(|program| serde_json::from_str(program.trim_end()).ok());
    let hooks: Value = serde_json::from_str(found).unwrap_or_default();
    let hooks = hooks["hooks"].as_object().into_iter().flatten();
    let commands = hooks.filter_map(|(_, entries)| entries[0]["bash"].as_str());
    said.chain(commands.filter_map(program_of)).collect()
}

/// Fails if a file is not ours: a file of the same name that somebody else wrote must not be replaced.
fn ours(found: &str) -> Result<(), SettingsError> {
    if found.contains(NOTICE) {
        return Ok(());
    }
    Err(SettingsError::unexpected("this file", "one of ours"))
}
