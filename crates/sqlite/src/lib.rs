//! The embedded engine: one SQLite database per user.
//!
//! `open` is the only place that opens it; `migrations` the only way a schema
//! comes to be; one file per room holds that room's SQL. No other crate knows
//! SQL.

mod apply;
mod config;
mod gate;
mod journal;
mod migrations;
mod open;
mod presence;
mod pulses;
mod verify;

pub use migrations::SCHEMA;
pub use open::Access;
pub use open::Store;
pub use pulses::Pulses;

use consort_core::engine::StoreError;
use consort_core::engine::Tx;
use rusqlite::Connection;
use rusqlite::Transaction;

/// A transaction: every room's store, and the journal.
pub struct SqliteTx<'t> {
    tx: Transaction<'t>,
    budget_ms: u64,
    writable: Result<(), u32>,
    /// Held by writers until the transaction is over.
    _gate: Option<gate::Gate>,
}

impl Tx for SqliteTx<'_> {
    fn commit(self) -> Result<(), StoreError> {
        let Self { tx, budget_ms, _gate, .. } = self;
        tx.commit().map_err(|error| translate(error, budget_ms))
    }
}

impl SqliteTx<'_> {
    /// Asks something.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.tx).map_err(|error| self.failed(error))
    }

    /// Changes something, unless a newer consort has shaped the store: what it
    /// keeps there is not ours to break.
    fn change<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        self.writable.map_err(|found| StoreError::Newer { found, known: SCHEMA })?;
        self.ask(change)
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        translate(error, self.budget_ms)
    }
}

/// Turns SQLite's "busy" into ours; everything else is a failure.
pub(crate) fn translate(error: rusqlite::Error, budget_ms: u64) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            StoreError::Busy { waited_ms: budget_ms }
        }
        _ => StoreError::Failed(Box::new(error)),
    }
}
