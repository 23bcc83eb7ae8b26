//! The embedded engine: one SQLite database per user; its transactions and errors.
//!
//! Only `open` opens the database, only `migrations` makes its schema, and each room's SQL is in a file
//! of its own. No other crate knows SQL.

mod apply;
mod claims;
mod config;
mod convergence;
mod dispatch;
mod facts;
mod journal;
mod knowledge;
mod messages;
mod migrations;
mod monitor;
mod old_formats;
mod open;
mod policy;
mod presence;
mod published_lines;
mod side_files;
mod tasks;
mod time_limit;
mod verify;
mod wal_index;
mod write_lock;
mod write_queue;

pub use knowledge::Knowledge;
pub use migrations::NEWEST_SCHEMA;
use open::Checkpoint;
pub use open::Store;
pub use open::StoreUser;

use std::cell::Cell;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::engine::StoreError;
use consort_core::engine::Tx;
use consort_core::host::NewsTopic;
use consort_core::messages::MailFlags;
use consort_core::presence::SessionId;
use consort_core::side_files::SideFiles;
use published_lines::DueLines;
use rusqlite::Connection;
use rusqlite::TransactionBehavior;
use side_files::StoreFiles;
use side_files::published;
use side_files::published::Previous;

/// A transaction: every room's store, and the journal.
pub struct SqliteTx<'t> {
    tx: Transaction<'t>,
    store: &'t StoreLocation,
    files: StoreFiles,
    after: AfterCommit,
    /// The sessions whose mail flags are known to be raised. Only the holder of the write lock lowers a
    /// flag.
    raised: Vec<SessionId>,
    is_writer: bool,
    /// The schema of the store when a writer's transaction began.
    schema: u32,
    /// Whether anything was written.
    is_changed: Cell<bool>,
    /// The write lock, which a writer holds until the transaction is over.
    _lock: Option<write_lock::WriteLock>,
}

/// A transaction that is rolled back unless it was committed. Unlike rusqlite's own, it compiles the
/// statements that begin and end it once: a hook has half a dozen transactions.
struct Transaction<'t>(&'t Connection);

impl<'t> Transaction<'t> {
    fn begin(connection: &'t Connection, behavior: TransactionBehavior) -> rusqlite::Result<Self> {
        let is_read = matches!(behavior, TransactionBehavior::Deferred);
        run(connection, if is_read { "BEGIN DEFERRED" } else { "BEGIN IMMEDIATE" })?;
        Ok(Self(connection))
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            let _ = run(self.0, "ROLLBACK");
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

/// The work that is left to do once a transaction is committed.
#[derive(Default)]
struct AfterCommit {
    flags: Vec<(SessionId, MailFlags)>,
    /// Whether an agent has come.
    has_arrivals: bool,
    ended: Vec<SessionId>,
    topics: Vec<NewsTopic>,
    /// The published lines that have changed.
    publish: DueLines,
    /// Whether something was forgotten that the WAL still has.
    empties_wal: bool,
}

/// The path of a database, and how long its callers may wait: errors name both.
pub(crate) struct StoreLocation {
    pub(crate) path: PathBuf,
    pub(crate) budget: Duration,
}

impl AfterCommit {
    /// Updates the files of sessions, before anyone else gets the write lock. A flag that stays raised
    /// says too much, which does no harm.
    fn lower(&self, files: &dyn SideFiles) {
        self.flags.iter().for_each(|(session, flag)| drop(files.set_mail_flags(session, *flag)));
        if self.has_arrivals {
            files.count_arrival();
        }
        for session in &self.ended {
            files.mark_contacts_of_departed(session);
            files.end_trail(session);
            files.end_notes(session);
        }
    }
}

impl Tx for SqliteTx<'_> {
    fn commit(mut self: Box<Self>) -> Result<Vec<NewsTopic>, StoreError> {
        let topics = std::mem::take(&mut self.after.topics);
        let checkpoint = if self.after.empties_wal { Checkpoint::Now } else { Checkpoint::IfLong };
        let is_published = self.commit_and_tell()?;
        if open::checkpoint_if_due(&self.tx, checkpoint) && is_published {
            published::restamp(&self.store.path, &self.tx);
        }
        Ok(topics)
    }
}

impl SqliteTx<'_> {
    /// Commits, and updates the published file and the files of sessions before anyone else gets the
    /// write lock. Returns whether the published file is up to date with this transaction.
    fn commit_and_tell(&mut self) -> Result<bool, StoreError> {
        let concerned = &self.after.publish;
        // A session that goes on changes nothing as a rule: then the published file stays as it is.
        let is_idle = !self.is_changed.get() && *concerned == DueLines::default();
        let text = match self.is_writer && !is_idle {
            true => self.ask(|tx| published_lines::render(&self.store.path, tx, concerned))?,
            false => None,
        };
        self.ask(|tx| run(tx, "COMMIT"))?;
        let is_published = match text {
            Some(text) => {
                let former = if concerned.all { Previous::IsStale } else { Previous::IsCurrent };
                published::write(&self.store.path, &self.tx, former, text.lines().collect())
            }
            None => self.is_writer && !is_idle && published::restamp(&self.store.path, &self.tx),
        };
        let after = std::mem::take(&mut self.after);
        after.lower(&self.files);
        self.raised.clear();
        Ok(is_published)
    }

    /// Runs a query, and translates its error.
    fn ask<T>(&self, question: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        question(&self.tx).map_err(|error| self.failed(error))
    }

    /// Runs a statement that changes something. Refused if a newer consort has shaped the store: its data
    /// is not ours to break.
    fn change<T>(&self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        if self.schema > NEWEST_SCHEMA {
            return Err(StoreError::Newer { found: self.schema, known: NEWEST_SCHEMA });
        }
        self.is_changed.set(true);
        self.ask(change)
    }

    /// Translates an error. If a newer consort has shaped the store, that is the reason.
    fn failed(&self, error: rusqlite::Error) -> StoreError {
        match migrations::version(&self.tx) {
            Ok(found) if found > NEWEST_SCHEMA => StoreError::Newer { found, known: NEWEST_SCHEMA },
            _ => self.store.translate(error),
        }
    }
}

impl StoreLocation {
    pub(crate) fn busy(&self) -> StoreError {
        StoreError::Busy { waited_ms: self.budget.as_millis() as u64 }
    }

    /// Translates an error of SQLite into one of ours.
    pub(crate) fn translate(&self, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        // SQLite's own chain of causes says the same thing twice. If a disk failed, only the code says in
        // which operation.
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
