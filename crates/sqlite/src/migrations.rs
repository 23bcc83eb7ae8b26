//! Creates and upgrades the database schema: numbered, append-only migrations.
//!
//! A database says which one it is at (`user_version`). A newer binary runs
//! what is missing, under a write lock while others wait; an older binary that
//! meets a newer database reads what it still understands and writes nothing.

use rusqlite::Connection;
use rusqlite::TransactionBehavior;

use crate::journal;
use crate::old_formats;

const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_foundation.sql"),
    include_str!("../migrations/0002_messages.sql"),
    include_str!("../migrations/0003_facts.sql"),
    include_str!("../migrations/0004_hands_and_indexes.sql"),
    include_str!("../migrations/0005_store_id.sql"),
    include_str!("../migrations/0006_side_files.sql"),
    include_str!("../migrations/0007_travelling_journal.sql"),
];

/// Since this schema entries have a form.
const FORM_SINCE: usize = 7;

/// The schema this binary knows.
pub const SCHEMA: u32 = MIGRATIONS.len() as u32;

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))
}

/// Brings the schema up to date; does nothing if another process just has.
pub(crate) fn run(connection: &mut Connection) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from = version(&tx)? as usize;
    for (number, sql) in MIGRATIONS.iter().enumerate().skip(from) {
        tx.execute_batch(sql)?;
        if number + 1 == FORM_SINCE {
            old_formats::rewrite(&tx)?;
        }
        tx.pragma_update(None, "user_version", number as u32 + 1)?;
    }
    // What was not understood may be now.
    let is_behind = "SELECT 1 FROM facts WHERE kind = 'newer'";
    if from < MIGRATIONS.len() && tx.prepare(is_behind)?.exists([])? {
        journal::remake_projections(&tx)?;
    }
    tx.commit()
}
