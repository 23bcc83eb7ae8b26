//! What hooks read instead of the database, in one file.
//!
//! The first line is a stamp: which store it was made from, after which entry,
//! and which database and WAL files were there then. After it come the holds
//! (`held.rs`), and the settings and predictions (`radar.rs`). Whoever holds the
//! write lock brings the file up to date after its commit.
//!
//! **A hook compares the stamp with the files as they are, and asks the store
//! when they differ**: after a crash between commit and publishing, a power cut,
//! a restored backup or a copied home. A missing or torn file is stale too.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::held;
use crate::radar;

pub(crate) const FILE: &str = "published";

/// Files of earlier versions, whose place this one has taken. Their program asks
/// the store when they are missing.
pub(crate) const FORMER: [&str; 2] = ["held", "radar"];

/// The stamp is written over in place, so it has a fixed length.
const STAMP: usize = 256;

/// Far longer than it ever is.
const LONGEST: u64 = 64 << 20;

/// Which parts have to be made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) holds: bool,
    pub(crate) radar: bool,
}

impl Parts {
    pub(crate) const ALL: Self = Self { holds: true, radar: true };
}

/// What the file says.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    whole: String,
    /// Nothing has happened to the store since.
    pub(crate) is_current: bool,
}

impl Published {
    /// All after the stamp.
    pub(crate) fn text(&self) -> &str {
        self.whole.get(STAMP..).unwrap_or_default()
    }
}

/// Where it is, for the store at `store`.
pub(crate) fn file(store: &Path) -> PathBuf {
    store.with_file_name(FILE)
}

/// Reads the file, for hooks.
pub(crate) fn read(store: &Path) -> Published {
    let bytes = consort_files::read(&file(store), LONGEST).unwrap_or_default();
    let whole = String::from_utf8(bytes).unwrap_or_default();
    let is_current = stamped_files(&whole).is_some_and(|found| found == files(store));
    Published { whole, is_current }
}

/// Whether the file belongs to the store as it is now. Only for whoever holds
/// the write lock or has nothing to decide by it.
pub(crate) fn is_current(store: &Path) -> bool {
    let mut stamp = [0; STAMP];
    let read = fs::OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
        .open(file(store))
        .and_then(|file| file.read_exact_at(&mut stamp, 0));
    let stamp = str::from_utf8(&stamp).ok().filter(|_| read.is_ok());
    stamp.and_then(stamped_files).is_some_and(|found| found == files(store))
}

/// Whether the stamp names this store and its last entry.
pub(crate) fn is_of(store: &Path, connection: &Connection) -> rusqlite::Result<bool> {
    let bytes = consort_files::read(&file(store), LONGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let (id, seq) = identity(connection)?;
    let mut words = text.lines().next().unwrap_or_default().split_whitespace();
    Ok(words.next() == Some("consort")
        && words.next() == Some(&id)
        && words.next() == Some(&seq.to_string())
        && is_current(store))
}

/// The parts that changed, as the tables have them in this transaction. The
/// others are taken over from a file that is current.
pub(crate) fn render(store: &Path, connection: &Connection, parts: Parts) -> rusqlite::Result<String> {
    let bytes = consort_files::read(&file(store), LONGEST).unwrap_or_default();
    let old = String::from_utf8(bytes).unwrap_or_default();
    let lines = old.get(STAMP..).unwrap_or_default();
    let kept = |is_part: fn(&str) -> bool| -> String {
        lines.split_inclusive('\n').filter(|line| is_part(line) && line.ends_with('\n')).collect()
    };
    let holds = if parts.holds { held::render(connection)? } else { kept(held::is_line) };
    let radar = if parts.radar { radar::render(connection)? } else { kept(radar::is_line) };
    Ok(holds + &radar)
}

/// Puts a new file in the place of the old one; whether it did. If not the old one
/// stays, and its stamp no longer fits.
pub(crate) fn replace(store: &Path, connection: &Connection, text: &str) -> bool {
    let file = file(store);
    let temporary = file.with_extension(format!("{}.new", std::process::id()));
    let write = || {
        let mut options = fs::OpenOptions::new();
        let mut new = options.create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
        new.write_all(stamp(store, connection).as_bytes())?;
        new.write_all(text.as_bytes())?;
        fs::rename(&temporary, &file)
    };
    write().is_ok()
}

/// Writes a new stamp over the old one of a file that is up to date; whether it did.
/// A file that begins with something else keeps it.
pub(crate) fn restamp(store: &Path, connection: &Connection) -> bool {
    let write = |file: fs::File| {
        let mut old = [0; STAMP];
        file.read_exact_at(&mut old, 0)?;
        let is_stamp = str::from_utf8(&old).is_ok_and(|old| stamped_files(old).is_some());
        if !is_stamp {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        file.write_all_at(stamp(store, connection).as_bytes(), 0)
    };
    fs::OpenOptions::new().read(true).write(true).open(file(store)).and_then(write).is_ok()
}

fn stamp(store: &Path, connection: &Connection) -> String {
    let (id, seq) = identity(connection).unwrap_or_default();
    let width = STAMP - 1;
    format!("{:<width$}\n", format!("consort {id} {seq} {}", files(store)))
}

/// The part of a stamp that can be compared without opening the store.
fn stamped_files(text: &str) -> Option<&str> {
    let line = text.get(..STAMP)?.strip_suffix('\n')?;
    let mut words = line.trim_end().splitn(4, ' ');
    (words.next()? == "consort").then_some(())?;
    words.nth(2)
}

/// Which files the database and its WAL are: they change with every commit and
/// every checkpoint.
fn files(store: &Path) -> String {
    let mut wal = store.as_os_str().to_owned();
    wal.push("-wal");
    let one = |path: &Path| match fs::metadata(path) {
        Ok(file) => format!("{}:{}:{}.{:09}", file.ino(), file.size(), file.mtime(), file.mtime_nsec()),
        Err(_) => "-".to_owned(),
    };
    format!("{} {}", one(store), one(Path::new(&wal)))
}

fn identity(connection: &Connection) -> rusqlite::Result<(String, i64)> {
    let sql = "SELECT value, (SELECT coalesce(max(seq), 0) FROM journal) FROM facts
               WHERE kind = 'store' AND key = 'id' AND owner = ''";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}
