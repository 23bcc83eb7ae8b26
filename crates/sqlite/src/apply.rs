//! Applying an entry's changes: the only code that writes the rooms' tables.

use consort_core::Timestamp;
use consort_core::journal::Change;
use rusqlite::Connection;

use crate::presence;

/// The tables that are projections, with a key to order their rows by.
pub(crate) const PROJECTIONS: &[(&str, &str)] = &[("repositories", "repository"), ("agents", "session")];

pub(crate) fn apply(connection: &Connection, at: Timestamp, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Presence(change) => presence::apply(connection, at, change),
        Change::Journal(_) | Change::Unknown(_) => Ok(()),
    }
}

/// Whether a row still depends on this change, so that it must be kept.
pub(crate) fn is_needed(connection: &Connection, change: &Change) -> rusqlite::Result<bool> {
    match change {
        Change::Presence(change) => presence::is_needed(connection, change),
        Change::Journal(_) => Ok(false),
        Change::Unknown(_) => Ok(true),
    }
}
