//! SQL of the monitor room: panes, among the facts.

use consort_core::engine::StoreError;
use consort_core::monitor::MonitorChange;
use consort_core::monitor::MonitorStore;
use consort_core::monitor::PaneIdentity;
use consort_core::monitor::PaneRecord;
use rusqlite::Connection;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::facts;
use crate::facts::Keys;

const PANE: &str = "pane";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &MonitorChange,
) -> rusqlite::Result<()> {
    let key = change.place().key();
    let former = pane(connection, &key)?.unwrap_or(PaneRecord {
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
        MonitorChange::Closed { .. } => return facts::remove_key(connection, PANE, &key),
    };
    facts::put(connection, PANE, &key, "", &json(&record)?)
}

/// Tells how long a change is kept: all about a pane until the pane is closed.
pub(crate) fn keep(change: &MonitorChange) -> Keep {
    Keep::Story(("panes", change.place().key()))
}

impl MonitorStore for SqliteTx<'_> {
    fn panes(&self) -> Result<Vec<PaneRecord>, StoreError> {
        self.ask(|tx| facts::parsed(tx, PANE, Keys::All))
    }

    fn pane(&self, place: &PaneIdentity) -> Result<Option<PaneRecord>, StoreError> {
        self.ask(|tx| pane(tx, &place.key()))
    }
}

fn pane(connection: &Connection, key: &str) -> rusqlite::Result<Option<PaneRecord>> {
    Ok(facts::parsed(connection, PANE, Keys::Is(key))?.pop())
}
