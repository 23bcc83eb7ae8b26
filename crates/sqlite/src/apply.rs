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

/// What a change must be kept for.
pub(crate) enum Keep {
    /// Nothing depends on it.
    Never,
    /// As long as this row of a projection is there.
    While(Subject),
    /// It is not ours to judge.
    Always,
}

/// A row: the table and the key.
pub(crate) type Subject = (&'static str, String);

pub(crate) fn keep(change: &Change) -> Keep {
    match change {
        Change::Presence(change) => Keep::While(presence::subject(change)),
        Change::Journal(_) => Keep::Never,
        Change::Unknown(_) => Keep::Always,
    }
}

pub(crate) fn exists(connection: &Connection, (table, key): &Subject) -> rusqlite::Result<bool> {
    let column = PROJECTIONS.iter().find(|(name, _)| name == table).map_or("rowid", |(_, column)| column);
    connection.prepare_cached(&format!("SELECT 1 FROM {table} WHERE {column} = ?1"))?.exists([key])
}
