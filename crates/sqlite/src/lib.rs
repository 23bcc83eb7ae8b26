//! The embedded engine: one SQLite database per user.
//!
//! `open` is the only place that opens it; `migrations` the only way a schema
//! comes to be; one file per room holds that room's SQL. No other crate knows
//! SQL.

mod apply;
mod board;
mod claims;
mod config;
mod convergence;
mod flags;
mod gate;
mod held;
mod journal;
mod knowledge;
mod messages;
mod migrations;
mod notes;
mod open;
mod presence;
mod published;
mod pulses;
mod radar;
mod tasks;
mod trails;
mod verify;

pub use flags::Flags;
pub use knowledge::Knowledge;
pub use migrations::SCHEMA;
pub use notes::Notes;
pub use open::Access;
pub use open::Store;
pub use pulses::Pulses;

use std::path::PathBuf;
use std::time::Duration;

use consort_core::engine::StoreError;
use consort_core::engine::Tx;
use consort_core::messages::Flag;
use consort_core::presence::SessionId;
use published::Parts;
use rusqlite::Connection;
use rusqlite::Transaction;

/// A transaction: every room's store, and the journal.
pub struct SqliteTx<'t> {
    tx: Transaction<'t>,
    store: &'t Location,
    flags: Flags,
    after: After,
    /// Whose flags are known to be up. Only who holds the gate lowers one.
    raised: Vec<SessionId>,
    is_writer: bool,
    /// Held by writers until the transaction is over.
    _gate: Option<gate::Gate>,
}

/// What is to be done once a transaction is committed.
#[derive(Default)]
struct After {
    flags: Vec<(SessionId, Flag)>,
    over: Vec<SessionId>,
    /// What hooks read has changed.
    publish: Parts,
}

/// Where the store is, and how long its callers may wait: what errors tell.
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    pub(crate) budget: Duration,
}

impl After {
    /// Before anyone else has a turn. A flag that stays up says too much, which
    /// is no harm.
    fn lower(&self, flags: &Flags) {
        self.flags.iter().for_each(|(session, flag)| drop(flags.set(session, *flag)));
        self.over.iter().for_each(|session| flags.clear(session));
    }
}

impl Tx for SqliteTx<'_> {
    fn commit(mut self: Box<Self>) -> Result<(), StoreError> {
        let is_published = self.commit_and_tell()?;
        if open::keep_short(&self.tx) && is_published {
            published::restamp(&self.store.path, &self.tx);
        }
        Ok(())
    }
}

impl SqliteTx<'_> {
    /// Commits, and tells whoever depends on it before anyone else has a turn;
    /// whether what is published is this transaction's.
    fn commit_and_tell(&mut self) -> Result<bool, StoreError> {
        let parts = self.after.publish;
        let is_due = self.is_writer && parts != Parts::default();
        let text = match is_due {
            true => Some(self.ask(|tx| published::render(&self.store.path, tx, parts))?),
            false => None,
        };
        self.ask(|tx| tx.execute_batch("COMMIT"))?;
        let is_published = match text {
            Some(text) => published::replace(&self.store.path, &self.tx, &text),
            None => self.is_writer && published::restamp(&self.store.path, &self.tx),
        };
        let after = std::mem::take(&mut self.after);
        after.lower(&self.flags);
        self.raised.clear();
        Ok(is_published)
    }

    /// Asks something.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.tx).map_err(|error| self.failed(error))
    }

    /// Changes something, unless a newer consort has shaped the store: what it
    /// keeps there is not ours to break. It may have come while we ran, so
    /// every transaction looks.
    fn change<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let found = self.ask(migrations::version)?;
        if found > SCHEMA {
            return Err(StoreError::Newer { found, known: SCHEMA });
        }
        self.ask(change)
    }

    /// What a newer consort has made of the store may be beyond us.
    fn failed(&self, error: rusqlite::Error) -> StoreError {
        match migrations::version(&self.tx) {
            Ok(found) if found > SCHEMA => StoreError::Newer { found, known: SCHEMA },
            _ => self.store.translate(error),
        }
    }
}

impl Location {
    pub(crate) fn busy(&self) -> StoreError {
        StoreError::Busy { waited_ms: self.budget.as_millis() as u64 }
    }

    /// What SQLite complains about, in our words.
    pub(crate) fn translate(&self, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        // Its own chain of causes says the same thing twice. Of a disk that failed,
        // only the code says what it failed at.
        let source = || match error.sqlite_error() {
            Some(found) if found.code == ErrorCode::SystemIoFailure => {
                format!("{error} (SQLite code {})", found.extended_code).into()
            }
            _ => error.to_string().into(),
        };
        let path = self.path.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => self.busy(),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::SystemIoFailure
                | ErrorCode::PermissionDenied,
            ) => StoreError::Unusable { path, source: source() },
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                StoreError::Damaged { path, source: source() }
            }
            _ => StoreError::Failed(source()),
        }
    }
}
