//! Applies a journal entry's changes to the tables in SQLite: the only code that writes
//! the rooms' tables.

use consort_core::Timestamp;
use consort_core::journal::Change;
use consort_core::journal::ChangeId;
use consort_core::journal::Number;
use consort_core::journal::Seq;
use consort_core::journal::UnknownChange;
use consort_core::project::ProjectId;
use rusqlite::Connection;
use rusqlite::types::Type;

use crate::claims;
use crate::convergence;
use crate::dispatch;
use crate::facts;
use crate::messages;
use crate::monitor;
use crate::policy;
use crate::presence;
use crate::tasks;

/// Rows that are made by applying entries.
pub(crate) struct Projection {
    pub(crate) name: &'static str,
    /// The table, and the condition for its rows.
    pub(crate) rows: &'static str,
    /// The SQL expression for the subject of a row.
    subject: &'static str,
    /// The SQL expression that tells rows apart.
    pub(crate) key: &'static str,
}

pub(crate) const PROJECTIONS: &[Projection] = &[
    Projection { name: "repositories", rows: "facts WHERE kind = 'repository'", subject: "key", key: "key" },
    Projection { name: "agents", rows: "agents WHERE true", subject: "session", key: "session" },
    Projection {
        name: "letters",
        rows: "letters WHERE true",
        subject: "hex(message)",
        key: "hex(message) || ' to ' || recipient",
    },
    Projection { name: "deliveries", rows: "facts WHERE kind = 'delivery'", subject: "key", key: "key" },
    Projection {
        name: "holds",
        rows: "facts WHERE kind IN ('hold', 'override')",
        subject: "key",
        key: "key || ' of ' || owner",
    },
    Projection { name: "tasks", rows: "facts WHERE kind = 'task'", subject: "key", key: "key" },
    Projection { name: "predictions", rows: "facts WHERE kind = 'prediction'", subject: "key", key: "key" },
    Projection { name: "panes", rows: "facts WHERE kind = 'pane'", subject: "key", key: "key" },
    Projection { name: "rules", rows: "facts WHERE kind = 'rule'", subject: "key", key: "key" },
    Projection { name: "asks", rows: "facts WHERE kind = 'ask'", subject: "key", key: "key" },
    Projection {
        name: "runs",
        rows: "facts WHERE kind IN ('run', 'run number', 'open run', 'spent', 'last receipt')",
        subject: "key",
        key: "kind || ' ' || key",
    },
    Projection { name: "tally", rows: "facts WHERE kind = 'tally'", subject: "key", key: "key" },
    Projection { name: "domains", rows: "facts WHERE kind = 'domain'", subject: "key", key: "key" },
    Projection { name: "newer", rows: "facts WHERE kind = 'newer'", subject: "key", key: "key" },
    Projection { name: "learned", rows: "facts WHERE kind = 'learned'", subject: "key", key: "key" },
];

/// The place of a change in the journal.
pub(crate) struct ChangeOrigin<'a> {
    /// The sequence number of its entry.
    pub(crate) seq: Seq,
    pub(crate) at: Timestamp,
    pub(crate) project: Option<&'a ProjectId>,
    pub(crate) id: ChangeId,
    pub(crate) number: Option<Number>,
}

/// Applies one change to the tables.
pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &Change,
) -> rusqlite::Result<()> {
    match change {
        Change::Presence(change) => presence::apply(connection, origin.at, change),
        Change::Messages(change) => messages::apply(connection, origin, change),
        Change::Claims(change) => claims::apply(connection, origin, change),
        Change::Tasks(change) => tasks::apply(connection, origin, change),
        Change::Convergence(change) => convergence::apply(connection, origin, change),
        Change::Monitor(change) => monitor::apply(connection, origin, change),
        Change::Policy(change) => policy::apply(connection, origin, change),
        Change::Dispatch(change) => dispatch::apply(connection, origin, change),
        Change::Unknown(change) => not_understood(connection, origin, change),
        // Knowledge is read from an index of its own.
        Change::Journal(_) | Change::Knowledge(_) | Change::Dropped => Ok(()),
    }
}

/// Notes the subjects that only a newer consort may change from now on.
fn not_understood(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &UnknownChange,
) -> rusqlite::Result<()> {
    change
        .about
        .iter()
        .try_for_each(|about| facts::put(connection, "newer", about, "", &origin.seq.to_string()))
}

/// The reason why a change must be kept.
pub(crate) enum Keep {
    /// Nothing depends on the change.
    Never,
    /// The change is needed with all others about this row of a projection, as long as the row is there.
    Story(Subject),
    /// The change is needed as long as one of these rows is there.
    WhileAny(Vec<Subject>),
    /// The change is always needed, or it is not ours to judge.
    Always,
}

/// The subject of a change: the name of a projection, and the value of its `subject`.
pub(crate) type Subject = (&'static str, String);

pub(crate) fn keep(seq: Seq, id: ChangeId, change: &Change) -> Keep {
    match change {
        Change::Presence(change) => Keep::Story(presence::subject(change)),
        Change::Messages(change) => messages::keep(id, change),
        Change::Claims(change) => claims::keep(change),
        Change::Tasks(change) => tasks::keep(change),
        Change::Convergence(change) => convergence::keep(seq, id, change),
        Change::Monitor(change) => monitor::keep(change),
        Change::Policy(change) => policy::keep(id, change),
        Change::Dispatch(change) => dispatch::keep(id, change),
        Change::Journal(_) | Change::Dropped => Keep::Never,
        // The knowledge index is made from these changes, and so is the index of a past moment.
        Change::Knowledge(_) | Change::Unknown(_) => Keep::Always,
    }
}

pub(crate) fn exists(connection: &Connection, (name, key): &Subject) -> rusqlite::Result<bool> {
    let Some(Projection { rows, subject, .. }) = PROJECTIONS.iter().find(|one| one.name == *name) else {
        return Ok(false);
    };
    connection.prepare_cached(&format!("SELECT 1 FROM {rows} AND {subject} = ?1"))?.exists([key])
}

pub(crate) fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

pub(crate) fn parse<T: serde::de::DeserializeOwned>(text: &str, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}
