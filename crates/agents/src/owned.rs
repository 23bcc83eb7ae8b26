//! Files that are ours alone, in a place where an agent CLI picks up whatever
//! it finds: written whole, removed whole.

use crate::Connection;
use crate::SettingsError;

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

/// Nothing is left of it.
pub(crate) fn disconnect(found: &str) -> Result<Option<String>, SettingsError> {
    ours(found).map(|()| None)
}

/// A file of that name that somebody else wrote is not ours to replace.
fn ours(found: &str) -> Result<(), SettingsError> {
    if found.contains(NOTICE) {
        return Ok(());
    }
    Err(SettingsError::unexpected("this file", "one of ours"))
}
