//! SQL of the monitor room: panes, among the facts.

use consort_core::engine::StoreError;
use consort_core::monitor::MonitorChange;
use consort_core::monitor::MonitorStore;
use consort_core::monitor::PaneIdentity;
use consort_core::monitor::PaneRecord;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;

const PANES: &str = "facts WHERE kind = 'pane'";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &MonitorChange,
) -> rusqlite::Result<()> {
    let key = change.place().key();
    let sql = format!("SELECT value FROM {PANES} AND key = ?1");
    let former = connection.prepare_cached(&sql)?.query_row([&key], read).optional()?;
    connection.prepare_cached(&format!("DELETE FROM {PANES} AND key = ?1"))?.execute([&key])?;
    let former = former.unwrap_or(PaneRecord {
        number: None,
        opened: None,
        opened_at: None,
        turn: None,
        turned_at: None,
    });
    let record = match change {
        MonitorChange::Opened(opened) => PaneRecord {
            number: origin.number,
            opened: Some(*opened.clone()),
            opened_at: Some(origin.at),
            ..former
        },
        MonitorChange::Turned(turn) => {
            PaneRecord { turn: Some(*turn.clone()), turned_at: Some(origin.at), ..former }
        }
        MonitorChange::Closed { .. } => return Ok(()),
    };
    connection
        .prepare_cached("INSERT INTO facts VALUES ('pane', ?1, '', ?2)")?
        .execute([key, json(&record)?])
        .map(drop)
}

/// Tells how long a change is kept: all about a pane until the pane is closed.
pub(crate) fn keep(change: &MonitorChange) -> Keep {
    Keep::Story(("panes", change.place().key()))
}

impl MonitorStore for SqliteTx<'_> {
    fn panes(&self) -> Result<Vec<PaneRecord>, StoreError> {
        let sql = format!("SELECT value FROM {PANES}");
        self.ask(|tx| tx.prepare_cached(&sql)?.query_map([], read)?.collect())
    }

    fn pane(&self, place: &PaneIdentity) -> Result<Option<PaneRecord>, StoreError> {
        let sql = format!("SELECT value FROM {PANES} AND key = ?1");
        self.ask(|tx| tx.prepare_cached(&sql)?.query_row([place.key()], read).optional())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<PaneRecord> {
    parse(row.get_ref(0)?.as_str()?, 0)
}
