//! Verifies the SQLite tables: replays the journal beside them, and compares.

use std::collections::BTreeMap;
use std::path::Path;

use consort_core::engine::StoreError;
use consort_core::journal::Change;
use consort_core::journal::JournalChange;
use consort_core::journal::Seq;
use consort_core::journal::Verification;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::apply::PROJECTIONS;
use crate::apply::Projection;
use crate::journal;
use crate::migrations;
use crate::side_files::published;

/// Most findings of a kind that a report names.
const FEW: usize = 20;

pub(crate) fn verify(
    store: &Path,
    connection: &Connection,
    failed: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<Verification, StoreError> {
    let mut found = Verification {
        entries: 0,
        last_seq: 0,
        missing: Vec::new(),
        unknown: Vec::new(),
        unreadable: Vec::new(),
        differences: Vec::new(),
        integrity: integrity(connection).map_err(&failed)?,
        is_published: published::is_of(store, connection).map_err(&failed)?,
    };
    let mut pruned_through: Seq = 0;
    let mut gaps = Vec::new();
    journal::for_each(connection, Seq::MAX, &failed, |entry| {
        let (seq, changes) = match entry {
            Ok(entry) => (entry.seq, entry.changes),
            Err(StoreError::Entry { seq, .. }) => {
                found.unreadable.push(seq);
                (seq, Vec::new())
            }
            Err(error) => return Err(error),
        };
        if seq > found.last_seq + 1 {
            gaps.push(found.last_seq + 1..seq);
        }
        found.entries += 1;
        found.last_seq = seq;
        for kept in &changes {
            match &kept.change {
                Change::Journal(JournalChange::Pruned { through, .. }) => {
                    pruned_through = pruned_through.max(*through);
                }
                Change::Unknown(_) => found.unknown.push(seq),
                Change::Presence(_)
                | Change::Messages(_)
                | Change::Claims(_)
                | Change::Tasks(_)
                | Change::Monitor(_)
                | Change::Policy(_)
                | Change::Dispatch(_)
                | Change::Convergence(_)
                | Change::Knowledge(_)
                | Change::Dropped => {}
            }
        }
        Ok(())
    })?;
    let missing = gaps.into_iter().flat_map(|gap| gap.start.max(pruned_through + 1)..gap.end);
    found.missing = missing.take(FEW).collect();
    found.unknown.truncate(FEW);
    if found.unreadable.is_empty() {
        found.differences = differences(connection, &failed)?;
    }
    found.unreadable.truncate(FEW);
    Ok(found)
}

fn differences(
    connection: &Connection,
    failed: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<Vec<String>, StoreError> {
    let mut replayed = Connection::open_in_memory().map_err(&failed)?;
    migrations::run(&replayed).map_err(&failed)?;
    // One transaction for all: a commit per change would be most of the work.
    let replayed = replayed.transaction().map_err(&failed)?;
    journal::replay(connection, &replayed, &failed)?;
    let mut differences = Vec::new();
    for projection in PROJECTIONS {
        let table = projection.name;
        let found = rows(connection, projection).map_err(&failed)?;
        let expected = rows(&replayed, projection).map_err(&failed)?;
        for (row, text) in &expected {
            match found.get(row) {
                None => differences.push(format!("{table}: {row} is missing")),
                Some(other) if other != text => {
                    differences.push(format!("{table}: {row} is {other}, the journal says {text}"));
                }
                Some(_) => {}
            }
        }
        let extra = found.keys().filter(|row| !expected.contains_key(*row));
        differences.extend(extra.map(|row| format!("{table}: {row} is not in the journal")));
    }
    differences.truncate(FEW);
    Ok(differences)
}

/// Runs SQLite's own check of the file; an empty list means that the file is sound.
pub(crate) fn integrity(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA integrity_check(20)")?;
    let mut lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    lines.retain(|line| line != "ok");
    Ok(lines)
}

/// Reads rows as text by key, so that rows of any table can be compared.
fn rows(connection: &Connection, projection: &Projection) -> rusqlite::Result<BTreeMap<String, String>> {
    let Projection { key, rows, .. } = projection;
    let mut statement = connection.prepare(&format!("SELECT CAST({key} AS TEXT), * FROM {rows}"))?;
    let columns = statement.column_count();
    statement
        .query_map([], |row| {
            let cells = (1..columns).map(|column| row.get_ref(column).map(cell));
            Ok((row.get(0)?, cells.collect::<Result<Vec<_>, _>>()?.join(" | ")))
        })?
        .collect()
}

fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{bytes:02x?}"),
    }
}
