//! What hooks read instead of the database, in one file of sorted lines.
//!
//! The first line is a stamp: which store it was made from, after which entry, which
//! database and WAL files were there then, and how far the lines are sorted. Lines are
//! found by how they begin, with a few reads however many there are. A line that must
//! be known before its commit is added at the end, where every reader looks too.
//!
//! **A hook compares the stamp with the files as they are, and asks the store when
//! they differ**: after a crash between commit and publishing, a power cut, a restored
//! backup or a copied home. A missing or torn file is stale too. Whoever holds the
//! write lock brings the file up to date after its commit.

use std::fs;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_files::OurDir;
use rusqlite::Connection;

use super::no_waiting;
use super::replace;

pub(super) const DIR: &str = "published";
const FILE: &str = "store";

/// The stamp is written over in place, so it has a fixed length.
const STAMP: usize = 256;

/// What is read at once.
const BLOCK: usize = 4_096;

/// Far longer than it ever is.
const LONGEST: u64 = 64 << 20;

/// The file as a hook reads it.
#[derive(Debug)]
pub(crate) struct Published {
    file: Option<File>,
    /// Where the sorted lines end, and where the file does.
    sorted: u64,
    end: u64,
    /// Nothing has happened to the store since.
    pub(crate) is_current: bool,
}

impl Published {
    pub(crate) fn read(store: &Path) -> Self {
        let file = no_waiting().read(true).open(file(store)).ok();
        let end = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |found| found.len());
        let stamp = file.as_ref().and_then(read_stamp);
        let sorted = stamp.as_ref().map_or(0, |stamp| stamp.sorted).min(end);
        let is_current = stamp.is_some_and(|stamp| stamp.files == files(store) && stamp.sorted <= end);
        Self { file, sorted, end, is_current }
    }

    /// The lines that begin so, with their beginning: the sorted ones, and those that
    /// were added since. `None` if a line of either was cut short.
    pub(crate) fn lines(&self, beginning: &str) -> Option<Vec<String>> {
        let mut found = Vec::new();
        let mut at = self.first(beginning);
        while at < self.sorted {
            let line = self.line(at)?;
            if !line.starts_with(beginning) {
                break;
            }
            at += line.len() as u64 + 1;
            found.push(line);
        }
        let added = self.text(self.sorted.max(STAMP as u64), self.end)?;
        if !(added.is_empty() || added.ends_with('\n')) {
            return None;
        }
        found.extend(added.lines().filter(|line| line.starts_with(beginning)).map(str::to_owned));
        Some(found)
    }

    /// Where the first line lies that does not come before that.
    fn first(&self, beginning: &str) -> u64 {
        let (mut low, mut high) = (STAMP as u64, self.sorted);
        while high > low + BLOCK as u64 {
            let middle = low + (high - low) / 2;
            let Some(start) = self.next_line(middle) else { return low };
            match self.line(start) {
                Some(line) if start < high && *line < *beginning => low = start,
                Some(_) if start < high => high = middle,
                _ => high = middle,
            }
        }
        while low < self.sorted {
            match self.line(low) {
                Some(line) if *line < *beginning => low += line.len() as u64 + 1,
                _ => break,
            }
        }
        low
    }

    /// The line that begins there.
    fn line(&self, at: u64) -> Option<String> {
        let mut length = BLOCK as u64;
        loop {
            let text = self.text(at, (at + length).min(self.end))?;
            match text.find('\n') {
                Some(end) => return Some(text[..end].to_owned()),
                None if at + length >= self.end => return None,
                None => length *= 4,
            }
        }
    }

    /// Where the next line after that place begins.
    fn next_line(&self, at: u64) -> Option<u64> {
        Some(at + self.line(at)?.len() as u64 + 1)
    }

    fn text(&self, from: u64, to: u64) -> Option<String> {
        let mut bytes = vec![0; to.saturating_sub(from).min(LONGEST) as usize];
        if !bytes.is_empty() {
            self.file.as_ref()?.read_exact_at(&mut bytes, from).ok()?;
        }
        // Both ends may lie within a character: what is looked for does not.
        Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        )
    }
}

struct Stamp {
    id: String,
    seq: i64,
    sorted: u64,
    files: String,
}

fn read_stamp(file: &File) -> Option<Stamp> {
    let mut bytes = [0; STAMP];
    file.read_exact_at(&mut bytes, 0).ok()?;
    let line = str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.trim_end();
    let mut words = line.splitn(5, ' ');
    (words.next()? == "consort").then_some(())?;
    Some(Stamp {
        id: words.next()?.to_owned(),
        seq: words.next()?.parse().ok()?,
        sorted: words.next()?.parse().ok()?,
        files: words.next()?.to_owned(),
    })
}

/// Where it is, for the store at `store`.
fn file(store: &Path) -> PathBuf {
    store.with_file_name(DIR).join(FILE)
}

/// Whether the file belongs to the store as it is now. Only for whoever holds the
/// write lock or has nothing to decide by it.
pub(crate) fn is_current(store: &Path) -> bool {
    Published::read(store).is_current
}

/// Whether the stamp names this store and its last entry.
pub(crate) fn is_of(store: &Path, connection: &Connection) -> rusqlite::Result<bool> {
    let stamp = no_waiting().read(true).open(file(store)).ok().as_ref().and_then(read_stamp);
    let (id, seq) = identity(connection)?;
    Ok(stamp.is_some_and(|stamp| stamp.id == id && stamp.seq == seq) && is_current(store))
}

/// Adds lines before the commit of what they say.
pub(crate) fn announce(store: &Path, lines: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    OurDir::create(&store.with_file_name(DIR))?;
    // On a line of its own, whatever was cut short before.
    let lines = format!("\n{lines}");
    no_waiting().create(true).append(true).open(file(store))?.write_all(lines.as_bytes())
}

/// All lines there are, for whoever writes the file again.
pub(crate) fn all_lines(store: &Path) -> String {
    let bytes = consort_files::read(&file(store), LONGEST).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.get(STAMP..).unwrap_or_default().to_owned()
}

/// Puts a new file in the place of the old one; whether it did. If not the old one
/// stays, and its stamp no longer fits.
pub(crate) fn write(store: &Path, connection: &Connection, mut lines: Vec<&str>) -> bool {
    lines.sort_unstable();
    lines.dedup();
    let length = STAMP + lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let mut text = String::with_capacity(length);
    text.push_str(&stamp(store, connection, length as u64));
    lines.iter().for_each(|line| text.extend([*line, "\n"]));
    OurDir::create(&store.with_file_name(DIR)).and_then(|()| replace(&file(store), text.as_bytes())).is_ok()
}

/// Writes a new stamp over the old one of a file that is up to date; whether it did.
/// A file that begins with something else keeps it.
pub(crate) fn restamp(store: &Path, connection: &Connection) -> bool {
    let write = |file: File| {
        let sorted = read_stamp(&file).ok_or(std::io::ErrorKind::InvalidData)?.sorted;
        file.write_all_at(stamp(store, connection, sorted).as_bytes(), 0)
    };
    no_waiting().read(true).write(true).open(file(store)).and_then(write).is_ok()
}

fn stamp(store: &Path, connection: &Connection, sorted: u64) -> String {
    let (id, seq) = identity(connection).unwrap_or_default();
    let width = STAMP - 1;
    format!("{:<width$}\n", format!("consort {id} {seq} {sorted} {}", files(store)))
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
