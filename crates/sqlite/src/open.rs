//! The one place that opens the store.
//!
//! WAL lets readers and the writer go on side by side; `synchronous = NORMAL`
//! means a commit is a write, not an fsync (a power cut may lose the last
//! commits, a crash of ours never does). Who wants to write queues at the
//! [`Gate`] first.
//!
//! **Closing never checkpoints** (several fsyncs, ten times a hook). Instead
//! the commit that finds [`LONGEST_WAL`] frames checkpoints, whoever made it,
//! and empties the file: a process that opens the store alone replays the WAL
//! from its first frame and cannot know which part was checkpointed before, so
//! where only hooks run a WAL that is merely checkpointed would grow for ever.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_core::engine::Engine;
use consort_core::engine::StoreError;
use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::Transaction;
use rusqlite::TransactionBehavior;
use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use crate::Pulses;
use crate::SCHEMA;
use crate::SqliteTx;
use crate::gate::Gate;
use crate::migrations;
use crate::translate;

/// A lone opener replays the WAL at about 2.5 µs a frame; a checkpoint is two
/// fsyncs. Sixty-four frames are some twenty entries.
const LONGEST_WAL: i32 = 64;

/// Who opens, and how long it may wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Lives for a millisecond; an agent waits for it.
    Hook,
    /// A person or an agent waits for an answer.
    Command,
}

impl Access {
    fn budget(self) -> Duration {
        match self {
            Self::Hook => Duration::from_millis(2_000),
            Self::Command => Duration::from_millis(10_000),
        }
    }

    fn budget_ms(self) -> u64 {
        self.budget().as_millis() as u64
    }
}

/// The store. The database is opened when it is first asked for: most hooks
/// never ask.
pub struct Store {
    path: PathBuf,
    access: Access,
    open: Option<Open>,
}

struct Open {
    connection: Connection,
    /// The schema found, where it is newer than ours.
    newer: Option<u32>,
    /// Which file was opened, to notice when it is replaced.
    identity: (u64, u64),
}

impl Store {
    pub fn new(path: PathBuf, access: Access) -> Self {
        Self { path, access, open: None }
    }

    /// Lets go of a file that was deleted or replaced; the next transaction
    /// opens the one that is there then.
    pub fn let_go_if_replaced(&mut self) -> bool {
        let replaced = self.open.as_ref().is_some_and(|open| Some(open.identity) != identity(&self.path));
        if replaced {
            self.open = None;
        }
        replaced
    }

    /// The schema of the store, where a newer consort made it.
    pub fn newer_schema(&mut self) -> Result<Option<u32>, StoreError> {
        Ok(self.opened()?.newer)
    }

    fn opened(&mut self) -> Result<&mut Open, StoreError> {
        match &mut self.open {
            Some(open) => Ok(open),
            none => Ok(none.insert(open(&self.path, self.access)?)),
        }
    }

    fn begin(
        &mut self,
        behavior: TransactionBehavior,
        gate: Option<Gate>,
    ) -> Result<SqliteTx<'_>, StoreError> {
        let budget_ms = self.access.budget_ms();
        let Open { connection, newer, .. } = self.opened()?;
        let tx = Transaction::new(connection, behavior).map_err(|error| translate(error, budget_ms))?;
        Ok(SqliteTx { tx, budget_ms, writable: newer.map_or(Ok(()), Err), _gate: gate })
    }
}

impl Engine for Store {
    type Tx<'t> = SqliteTx<'t>;
    type Pulses = Pulses;

    fn write(&mut self) -> Result<SqliteTx<'_>, StoreError> {
        self.opened()?;
        let gate = Gate::enter(&self.path, self.access.budget())?;
        self.begin(TransactionBehavior::Immediate, Some(gate))
    }

    fn read(&mut self) -> Result<SqliteTx<'_>, StoreError> {
        self.begin(TransactionBehavior::Deferred, None)
    }

    fn pulses(&self) -> Pulses {
        Pulses::new(self.path.with_file_name("pulses"))
    }
}

/// Opens the database, making or migrating it where needed.
fn open(path: &Path, access: Access) -> Result<Open, StoreError> {
    let unusable = |source: Box<dyn std::error::Error + Send + Sync>| StoreError::Unusable {
        path: path.to_owned(),
        source,
    };
    let sqlite = |error: rusqlite::Error| match translate(error, access.budget_ms()) {
        StoreError::Failed(source) => unusable(source),
        busy => busy,
    };
    let identity = match identity(path) {
        Some(identity) => identity,
        None => create(path).map_err(|error| unusable(error.into()))?,
    };
    let mut connection = connect(path, access).map_err(sqlite)?;
    let mut found = migrations::version(&connection).map_err(sqlite)?;
    if found < SCHEMA {
        // Switching to WAL does not wait for others, hence the gate.
        let gate = Gate::enter(path, access.budget())?;
        connection.pragma_update(None, "journal_mode", "WAL").map_err(sqlite)?;
        migrations::run(&mut connection).map_err(sqlite)?;
        drop(gate);
        found = SCHEMA;
    }
    Ok(Open { connection, newer: (found > SCHEMA).then_some(found), identity })
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // First of all, before anything that takes a lock.
    connection.busy_handler(Some(match access {
        Access::Hook => |tries| nap(tries, Access::Hook.budget()),
        Access::Command => |tries| nap(tries, Access::Command.budget()),
    }))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL")?;
    connection.wal_hook(Some(keep_short))?;
    Ok(connection)
}

thread_local! {
    /// When the current wait for a lock began.
    static WAITING_SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Set while checkpointing: that is a favour, and waits for nobody.
    static IN_A_HURRY: Cell<bool> = const { Cell::new(false) };
}

/// Sleeps for a tenth to a whole millisecond, until the budget is used up. Past
/// the gate there is hardly ever anyone to wait for: a checkpoint, a recovery.
fn nap(tries: i32, budget: Duration) -> bool {
    let now = Instant::now();
    let since = if tries == 0 { now } else { WAITING_SINCE.get().unwrap_or(now) };
    WAITING_SINCE.set(Some(since));
    if IN_A_HURRY.get() || now.duration_since(since) >= budget {
        return false;
    }
    // Spread by process and try, so that those who wait do not wake as one.
    let spread = std::process::id().wrapping_mul(2_654_435_761).wrapping_add(tries as u32 * 37) % 10;
    std::thread::sleep(Duration::from_micros(100 + 90 * u64::from(spread)));
    true
}

/// After a commit that left a long WAL: checkpoints and empties it. Where
/// others are in the way it does what it can; a later commit does the rest.
fn keep_short(wal: &mut Wal, frames: i32) -> rusqlite::Result<()> {
    if frames >= LONGEST_WAL {
        IN_A_HURRY.set(true);
        let _ = wal.checkpoint_v2(CheckpointMode::TRUNCATE);
        IN_A_HURRY.set(false);
    }
    Ok(())
}

/// Makes the directory (0700) and the empty database (0600). SQLite gives its
/// companions the database's own mode.
fn create(path: &Path) -> std::io::Result<(u64, u64)> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    identity(path).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
