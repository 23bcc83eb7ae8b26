//! Opens the SQLite database: pragmas, deadlines, checkpoints, upgrade of an older
//! store.
//!
//! WAL lets readers and the writer work side by side; `synchronous = NORMAL`, which SQLite is built with
//! for WAL (`.cargo/config.toml`), means a commit is a write, not an fsync (a power cut may lose the last
//! commits, a crash of ours never does). Writers queue at the [`WriteLock`] first.
//!
//! **Closing never checkpoints** (several fsyncs take ten times as long as a hook). Instead a process
//! whose commit leaves [`LONGEST_WAL`] frames checkpoints and empties the file: a WAL that is checkpointed
//! but not emptied would grow for ever if every process finds a moment with no reader.

use std::cell::Cell;
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use std::time::Instant;

use consort_core::engine::Engine;
use consort_core::engine::StoreError;
use consort_core::engine::Tx;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::side_files::SideFiles;
use rusqlite::Connection;
use rusqlite::MAIN_DB;
use rusqlite::OpenFlags;
use rusqlite::TransactionBehavior;
use rusqlite::config::DbConfig;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use crate::AfterCommit;
use crate::Knowledge;
use crate::NEWEST_SCHEMA;
use crate::SqliteTx;
use crate::StoreLocation;
use crate::Transaction;
use crate::facts;
use crate::migrations;
use crate::presence;
use crate::published_lines;
use crate::published_lines::DueLines;
use crate::side_files::StoreFiles;
use crate::side_files::published;
use crate::side_files::published::Previous;
use crate::wal_index::Opening;
use crate::write_lock::WriteLock;

/// Frames in the WAL from which a commit checkpoints. A checkpoint is two fsyncs, which a busy disk may
/// take a second for; a message is six frames. Where the index of the WAL is not kept (`wal_index.rs`), a
/// process that opens the store alone replays the WAL at about 2.5 µs a frame.
const LONGEST_WAL: i32 = if cfg!(target_os = "linux") { 512 } else { 64 };

/// Most statements that are kept compiled: as many as a command runs.
const STATEMENTS: usize = 32;

/// The first schema with today's files beside the database.
const SIDE_FILES_SINCE: u32 = 6;

/// The kind of process that opens the store, which decides how long it may wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreUser {
    /// A hook: lives for a millisecond, and an agent waits for it.
    Hook,
    /// A command: a person or an agent waits for its answer.
    Command,
}

impl StoreUser {
    fn budget(self) -> Duration {
        match self {
            Self::Hook => Duration::from_millis(2_000),
            Self::Command => Duration::from_millis(10_000),
        }
    }
}

/// The store. The database is opened when it is first asked for: most hooks never ask.
pub struct Store {
    place: StoreLocation,
    access: StoreUser,
    /// The time until which to wait for others. A hook has one deadline for its whole life, a command one
    /// for each transaction.
    deadline: Instant,
    open: Option<OpenDatabase>,
    /// A hook's files beside the database, once it has asked for them.
    files: RefCell<Option<Rc<StoreFiles>>>,
}

struct OpenDatabase {
    connection: Connection,
    /// Device and inode of the file that was opened, to notice when the file is replaced.
    identity: (u64, u64),
    is_empty: bool,
    /// The schema when it was last looked up; 0 before.
    schema: u32,
}

impl Store {
    pub fn new(path: PathBuf, access: StoreUser) -> Self {
        let budget = access.budget();
        let (place, deadline) = (StoreLocation { path, budget }, Instant::now() + budget);
        Self { place, access, deadline, open: None, files: RefCell::default() }
    }

    fn begin(&mut self, behavior: TransactionBehavior) -> Result<SqliteTx<'_>, StoreError> {
        self.start_deadline();
        let Self { place, open, deadline, files, .. } = self;
        let _opening = open.is_none().then(|| Opening::begin(&place.path));
        let is_writer = !matches!(behavior, TransactionBehavior::Deferred);
        if is_writer {
            *files.get_mut() = None;
        }
        let open = match open {
            Some(open) => open,
            none => none.insert(open_or_create(place)?),
        };
        if is_writer && open.schema == 0 && !open.is_empty {
            facts::prepare(&open.connection);
        }
        let sqlite = |error| place.translate(error);
        let lock = if is_writer { Some(WriteLock::acquire(place, *deadline)?) } else { None };
        let upgraded = |connection: &Connection| {
            // Switching to WAL does not wait for others, hence the write lock.
            let _lock = if is_writer { None } else { Some(WriteLock::acquire(place, *deadline)?) };
            upgrade(place, connection).map_err(sqlite)
        };
        // The first transaction in an empty file has a rollback journal for a moment, which others may
        // try to recover; so it runs under the lock.
        if open.is_empty {
            open.schema = upgraded(&open.connection)?;
            open.is_empty = false;
        }
        let mut tx = Transaction::begin(&open.connection, behavior).map_err(sqlite)?;
        // A reader looks up the schema once; a writer each time, for a newer consort may have come.
        if is_writer || open.schema < NEWEST_SCHEMA {
            open.schema = migrations::version(&tx).map_err(sqlite)?;
        }
        if open.schema < NEWEST_SCHEMA {
            drop(tx);
            open.schema = upgraded(&open.connection)?;
            tx = Transaction::begin(&open.connection, behavior).map_err(sqlite)?;
        }
        let files = StoreFiles::beside(&place.path);
        // If the published file belongs to another state of the store, all its lines are due.
        let publish = DueLines::all_if(is_writer && !published::is_current(&place.path));
        Ok(SqliteTx {
            tx,
            store: place,
            files,
            after: AfterCommit { publish, ..AfterCommit::default() },
            raised: Vec::new(),
            is_writer,
            schema: open.schema,
            is_changed: Cell::new(false),
            _lock: lock,
        })
    }

    /// Starts the time limit of a transaction.
    fn start_deadline(&mut self) {
        if self.access == StoreUser::Command {
            self.deadline = Instant::now() + self.place.budget;
        }
        DEADLINE.set(Some(self.deadline));
    }
}

impl Engine for Store {
    fn close_if_replaced(&mut self) -> bool {
        let replaced =
            self.open.as_ref().is_some_and(|open| Some(open.identity) != identity(&self.place.path));
        if replaced {
            self.open = None;
        }
        replaced
    }

    fn newer_schema(&mut self) -> Result<Option<u32>, StoreError> {
        let tx = self.begin(TransactionBehavior::Deferred)?;
        let found = tx.ask(migrations::version)?;
        Ok((found > NEWEST_SCHEMA).then_some(found))
    }

    fn write(&mut self) -> Result<Box<dyn Tx + '_>, StoreError> {
        Ok(Box::new(self.begin(TransactionBehavior::Immediate)?))
    }

    fn read(&mut self) -> Result<Box<dyn Tx + '_>, StoreError> {
        Ok(Box::new(self.begin(TransactionBehavior::Deferred)?))
    }

    fn side_files(&self) -> Rc<dyn SideFiles> {
        match self.access {
            StoreUser::Hook => {
                let of_hook = || Rc::new(StoreFiles::for_hook(&self.place.path));
                Rc::clone(self.files.borrow_mut().get_or_insert_with(of_hook)) as Rc<dyn SideFiles>
            }
            StoreUser::Command => Rc::new(StoreFiles::beside(&self.place.path)),
        }
    }

    fn knowledge(&self) -> Box<dyn KnowledgeIndex> {
        Box::new(Knowledge::beside(&self.place.path))
    }

    fn temporary_knowledge(&self) -> Box<dyn KnowledgeIndex> {
        Box::new(Knowledge::in_memory())
    }
}

/// Opens the database, which may be empty.
fn open_or_create(place: &StoreLocation) -> Result<OpenDatabase, StoreError> {
    let unusable =
        |error: std::io::Error| StoreError::Unusable { path: place.path.clone(), source: error.into() };
    let file = match fs::metadata(&place.path) {
        Ok(file) => file,
        Err(_) => create(&place.path).map_err(unusable)?,
    };
    let connection = connect(&place.path).map_err(|error| place.translate(error))?;
    Ok(OpenDatabase { connection, identity: (file.dev(), file.ino()), is_empty: file.len() == 0, schema: 0 })
}

/// Brings an older or empty database up to date, and returns its schema. The caller holds the write lock.
fn upgrade(place: &StoreLocation, connection: &Connection) -> rusqlite::Result<u32> {
    let from = migrations::version(connection)?;
    // The process that had the lock before may have done it.
    if from >= NEWEST_SCHEMA {
        return Ok(from);
    }
    if from > 0 {
        back_up(connection, &place.path)?;
    }
    if fs::metadata(&place.path).is_ok_and(|file| file.len() == 0) {
        make_tables(&place.path)?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    migrations::run(connection)?;
    checkpoint_if_due(connection, Checkpoint::IfLong);
    if from < SIDE_FILES_SINCE {
        // The files beside the database are of another store, or of another version.
        let files = StoreFiles::beside(&place.path);
        files.clear();
        if from > 0 {
            files.clear_former();
        }
        files.make_agent_files(&presence::present(connection)?);
    }
    let text = published_lines::render(&place.path, connection, &DueLines::all_if(true))?;
    let lines = text.as_deref().unwrap_or_default().lines().collect();
    published::write(&place.path, connection, Previous::IsStale, lines);
    Ok(NEWEST_SCHEMA)
}

/// Makes the tables of an empty database with one flush instead of six: a busy disk may take a second for
/// each, and a hook has two. Over a connection of its own, whose settings end with it.
fn make_tables(path: &Path) -> rusqlite::Result<()> {
    let connection = connect(path)?;
    // A journal file would be flushed too, and the one page is written whole or not at all.
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    // The page is on the disk now. The WAL need not be before its first checkpoint: any beginning of it is
    // sound. A file system that cannot have a WAL is for the caller.
    if mode == "wal" {
        connection.pragma_update(None, "synchronous", "OFF")?;
        migrations::run(&connection)?;
    }
    Ok(())
}

/// Copies the store as it is before it is migrated, once for each version it comes
/// from: `consort.db.v4`. Without the copy there is no migration.
fn back_up(connection: &Connection, store: &Path) -> rusqlite::Result<()> {
    let copy = store.with_extension(format!("db.v{}", migrations::version(connection)?));
    if copy.exists() {
        return Ok(());
    }
    // The copy is whole under its name, or not there at all.
    let part = copy.with_extension("part");
    let _ = fs::remove_file(&part);
    connection.execute("VACUUM INTO ?1", [part.to_string_lossy()])?;
    let place = |_| rusqlite::Error::InvalidPath(copy.clone());
    fs::set_permissions(&part, fs::Permissions::from_mode(0o600)).map_err(place)?;
    fs::rename(&part, &copy).map_err(place)
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Set before anything that takes a lock.
    connection.busy_handler(Some(nap))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement that uses an index of only some rows would be compiled again for every value
    // it is given.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.wal_hook(Some(|_: &mut Wal, frames| {
        FRAMES.set(frames);
        Ok(())
    }))?;
    Ok(connection)
}

thread_local! {
    /// The time until which this thread may wait for a lock.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Frames that the last commit has left in the WAL.
    static FRAMES: Cell<i32> = const { Cell::new(0) };
    /// Set during a checkpoint that is optional, and so waits for nobody.
    static IN_A_HURRY: Cell<bool> = const { Cell::new(false) };
}

/// Sleeps for a tenth to a whole millisecond; false after the deadline. The holder of the write lock
/// hardly ever has to wait: for a checkpoint, or a recovery.
fn nap(tries: i32) -> bool {
    let is_late = DEADLINE.get().is_none_or(|deadline| Instant::now() >= deadline);
    if IN_A_HURRY.get() || is_late {
        return false;
    }
    // Spread by process and try, so that those who wait do not wake at the same time.
    let spread = std::process::id().wrapping_mul(2_654_435_761).wrapping_add(tries as u32 * 37) % 10;
    std::thread::sleep(Duration::from_micros(100 + 90 * u64::from(spread)));
    true
}

/// Whether a commit empties the WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checkpoint {
    /// Something is to be forgotten: the WAL is emptied however short it is, and others are waited for.
    Now,
    /// The WAL is emptied if it has become long.
    IfLong,
}

/// Checkpoints and empties the WAL after a commit that left it long. If others are in the way it does
/// what it can; a later commit does the rest. Returns whether the files may have changed.
pub(crate) fn checkpoint_if_due(connection: &Connection, checkpoint: Checkpoint) -> bool {
    let frames = FRAMES.replace(0);
    let is_forgetting = checkpoint == Checkpoint::Now;
    let is_due = is_forgetting || frames >= LONGEST_WAL;
    if is_due {
        IN_A_HURRY.set(!is_forgetting);
        // VACUUM, because pages keep old bytes in their free room.
        if is_forgetting {
            let _ = connection.execute_batch("VACUUM");
        }
        let _ = connection.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::TRUNCATE);
        IN_A_HURRY.set(false);
    }
    is_due
}

/// Makes the directory (0700) and the empty database (0600). SQLite gives the WAL and its index the
/// database's own mode.
fn create(path: &Path) -> std::io::Result<fs::Metadata> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    fs::metadata(path)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
