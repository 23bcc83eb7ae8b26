//! The engine's published file on disk: sorted lines under a stamp, which hooks read
//! instead of the database.
//!
//! The first line is a stamp: the store it was made from, the last entry by then, how far the lines are
//! sorted, the identity of the database and WAL files, and the boot. Lines are found by how they begin, with a
//! few reads however many there are. A line that hooks must see before its commit is added at the end,
//! which every reader reads too.
//!
//! **A hook compares the stamp with the files as they are, and asks the store when
//! they differ**: after a crash between commit and publishing, a power cut, a restored
//! backup or a copied home. A missing or torn file is stale too. The holder of the
//! write lock brings the file up to date after its commit.

use std::borrow::Cow;
use std::fs;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::OnceLock;

use consort_files::OurDir;
use consort_files::replace_whole;
use rusqlite::Connection;

use super::no_waiting;

pub(super) const DIR: &str = "published";
const FILE: &str = "store";

/// Length of the stamp, which is fixed because the stamp is overwritten in place.
const STAMP: usize = 256;

/// Bytes that are read at first, and then at a time: few during a search, and more with every read where
/// many lines are wanted.
const HEAD: usize = 2 << 10;
const BLOCK: u64 = 1_024;
const LARGEST_BLOCK: u64 = 64 << 10;

/// Most bytes that are read of the file, far more than it ever has.
const LONGEST: u64 = 64 << 20;

/// The published file as a hook reads it.
#[derive(Debug)]
pub(crate) struct Published {
    file: Option<File>,
    /// The beginning of the file, which as a rule is all of it.
    head: Vec<u8>,
    /// The offset at which the sorted lines end; then that of the end of the file.
    sorted: u64,
    end: u64,
    /// Whether the store has not changed since the file was written.
    pub(crate) is_current: bool,
}

impl Published {
    pub(crate) fn read(store: &Path) -> Self {
        let file = no_waiting().read(true).open(file(store)).ok();
        let mut head = vec![0; HEAD];
        let length = file.as_ref().and_then(|file| file.read_at(&mut head, 0).ok()).unwrap_or(0);
        head.truncate(length);
        let end = match &file {
            Some(file) if length == HEAD => file.metadata().map_or(0, |found| found.len()),
            _ => length as u64,
        };
        let stamp = head.first_chunk().and_then(read_stamp);
        let sorted = stamp.as_ref().map_or(0, |stamp| stamp.sorted).min(end);
        let is_current = stamp.is_some_and(|stamp| stamp.files == files(store) && stamp.sorted <= end);
        Self { file, head, sorted, end, is_current }
    }

    /// Returns the first lines that begin so, of the sorted lines and of those that were added since.
    /// `None` if an added or a sorted line was cut short.
    pub(crate) fn lines(&self, beginning: &str, most: usize) -> Option<Vec<String>> {
        let beginning = beginning.as_bytes();
        let added = self.bytes(self.sorted.max(STAMP as u64), self.end)?;
        if !(added.is_empty() || added.ends_with(b"\n")) {
            return None;
        }
        let mut found: Vec<String> =
            lines_of(&added).filter(|line| line.starts_with(beginning)).map(text).collect();
        let (mut at, mut length) = (self.near(beginning)?, BLOCK);
        while found.len() < most && at < self.sorted {
            let block = self.block(at, length)?;
            length = (length * 2).min(LARGEST_BLOCK);
            for line in lines_of(&block) {
                match line.starts_with(beginning) {
                    true => found.push(text(line)),
                    false if line < beginning => {}
                    false => return Some(found),
                }
            }
            at += block.len() as u64;
        }
        found.truncate(most);
        Some(found)
    }

    /// Returns the offset of a line that comes before all lines that begin so, and not far before them.
    fn near(&self, beginning: &[u8]) -> Option<u64> {
        let (mut low, mut high) = (STAMP as u64, self.sorted);
        // If the first line does not come before them, the lines are at the beginning.
        if low < high && lines_of(&self.block(low, BLOCK)?).next().is_some_and(|first| first >= beginning) {
            return Some(low);
        }
        while high > low + BLOCK {
            let middle = low + (high - low) / 2;
            // The first whole line after the middle decides.
            let block = self.block(middle, BLOCK)?;
            let cut = block.iter().position(|byte| *byte == b'\n')? + 1;
            match lines_of(&block[cut..]).next() {
                Some(line) if line < beginning => low = middle + cut as u64,
                _ => high = middle,
            }
        }
        Some(low)
    }

    /// Reads sorted bytes from an offset to the end of a line: at least two lines, unless they are the
    /// last.
    fn block(&self, at: u64, mut length: u64) -> Option<Cow<'_, [u8]>> {
        loop {
            let end = (at + length).min(self.sorted);
            let bytes = self.bytes(at, end)?;
            let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            if lines_of(&bytes[..last]).nth(1).is_some() || end == self.sorted {
                return (last > 0).then(|| match bytes {
                    Cow::Borrowed(bytes) => bytes[..last].into(),
                    Cow::Owned(mut bytes) => {
                        bytes.truncate(last);
                        bytes.into()
                    }
                });
            }
            length *= 4;
        }
    }

    fn bytes(&self, from: u64, to: u64) -> Option<Cow<'_, [u8]>> {
        if let Some(bytes) = self.head.get(from as usize..to.max(from) as usize) {
            return Some(bytes.into());
        }
        if to <= from {
            return Some(Cow::Borrowed(&[]));
        }
        let mut bytes = vec![0; (to - from).min(LONGEST) as usize];
        self.file.as_ref()?.read_exact_at(&mut bytes, from).ok()?;
        Some(bytes.into())
    }
}

/// Splits bytes into their whole lines, without the line ends.
fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"))
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

/// The state of the published file when the transaction began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Previous {
    IsCurrent,
    IsStale,
}

struct PublishedStamp {
    id: String,
    seq: i64,
    sorted: u64,
    files: String,
    boot: String,
}

fn stamp_of(file: &File) -> Option<PublishedStamp> {
    let mut bytes = [0; STAMP];
    file.read_exact_at(&mut bytes, 0).ok()?;
    read_stamp(&bytes)
}

fn stamp_in(store: &Path) -> Option<PublishedStamp> {
    no_waiting().read(true).open(file(store)).ok().as_ref().and_then(stamp_of)
}

fn read_stamp(bytes: &[u8; STAMP]) -> Option<PublishedStamp> {
    let line = str::from_utf8(bytes.trim_ascii_end()).ok().filter(|_| bytes.ends_with(b"\n"))?;
    let mut words = line.splitn(5, ' ');
    (words.next()? == "consort").then_some(())?;
    let (id, seq, sorted) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (files, boot) = words.next()?.rsplit_once(' ')?;
    Some(PublishedStamp { id: id.to_owned(), seq, sorted, files: files.to_owned(), boot: boot.to_owned() })
}

/// Returns the path of the published file for the store at `store`.
fn file(store: &Path) -> PathBuf {
    store.with_file_name(DIR).join(FILE)
}

/// Whether the file fits the store as it is now. Only for a caller that holds the write lock or has
/// nothing to decide by it.
pub(crate) fn is_current(store: &Path) -> bool {
    Published::read(store).is_current
}

/// Whether the file fits the store as it is now, and the machine has not been restarted since it was
/// written.
pub(crate) fn is_of_this_boot(store: &Path) -> bool {
    stamp_in(store)
        .is_some_and(|stamp| stamp.files == files(store) && stamp.boot == *boot() && stamp.boot != NO_BOOT)
}

/// Whether the stamp names this store and its last entry.
pub(crate) fn is_of(store: &Path, connection: &Connection) -> rusqlite::Result<bool> {
    let stamp = stamp_in(store);
    let (id, seq) = identity(connection)?;
    Ok(stamp.is_some_and(|stamp| stamp.id == id && stamp.seq == seq) && is_current(store))
}

/// Adds lines at the end, before the commit that makes them true.
pub(crate) fn announce(store: &Path, lines: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    OurDir::create(&store.with_file_name(DIR))?;
    // Begins a new line, in case the last one was cut short.
    let lines = format!("\n{lines}");
    no_waiting().create(true).append(true).open(file(store))?.write_all(lines.as_bytes())
}

/// Reads all lines, to write the file again.
pub(crate) fn all_lines(store: &Path) -> String {
    let bytes = consort_files::read_regular_file(&file(store), LONGEST).unwrap_or_default();
    let text = String::from_utf8(bytes).unwrap_or_default();
    text.get(STAMP..).unwrap_or_default().to_owned()
}

/// Puts a new file in the place of the old one; whether that succeeded. If not, the old file stays, and
/// its stamp no longer fits.
pub(crate) fn write(store: &Path, connection: &Connection, former: Previous, mut lines: Vec<&str>) -> bool {
    // All but a few lines are in order, which this kind of sorting makes use of.
    lines.sort();
    lines.dedup();
    let length = STAMP + lines.iter().map(|line| line.len() + 1).sum::<usize>();
    let mut text = String::with_capacity(length);
    let (id, seq) = match (former, stamp_in(store)) {
        (Previous::IsCurrent, Some(stamp)) => next(stamp, connection),
        _ => identity(connection).unwrap_or_default(),
    };
    text.push_str(&stamp(store, &id, seq, length as u64));
    lines.iter().for_each(|line| text.extend([*line, "\n"]));
    OurDir::create(&store.with_file_name(DIR))
        .and_then(|()| replace_whole(&file(store), text.as_bytes()))
        .is_ok()
}

/// Returns how many bytes were added after the sorted lines.
pub(crate) fn added_length(store: &Path) -> u64 {
    let length = fs::metadata(file(store)).map_or(0, |file| file.len());
    length.saturating_sub(stamp_in(store).map_or(0, |stamp| stamp.sorted))
}

/// Overwrites the stamp of a file that is up to date; whether that succeeded. A file that does not begin
/// with a stamp is left as it is.
pub(crate) fn restamp(store: &Path, connection: &Connection) -> bool {
    let write = |file: File| {
        let former = stamp_of(&file).ok_or(std::io::ErrorKind::InvalidData)?;
        let sorted = former.sorted;
        let (id, seq) = next(former, connection);
        file.write_all_at(stamp(store, &id, seq, sorted).as_bytes(), 0)
    };
    no_waiting().read(true).write(true).open(file(store)).and_then(write).is_ok()
}

fn stamp(store: &Path, id: &str, seq: i64, sorted: u64) -> String {
    let mut line = format!("consort {id} {seq} {sorted} {} {}", files(store), boot());
    // One that would be too long is cut, and fits nothing.
    line.truncate(STAMP - 1);
    line.push_str(&" ".repeat(STAMP - 1 - line.len()));
    line + "\n"
}

/// The boot in the stamp of a system that does not name its boots.
const NO_BOOT: &str = "-";

/// Returns the id of this boot, as the kernel names it.
fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let mut id = [0; 36];
        let read =
            File::open("/proc/sys/kernel/random/boot_id").and_then(|mut file| file.read_exact(&mut id));
        read.map_or_else(|_| NO_BOOT.to_owned(), |()| String::from_utf8_lossy(&id).into_owned())
    })
}

/// Identifies the database file and its WAL by inode, size and time, which change with every commit and
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

/// Returns the store's id and last entry from a stamp that was up to date before this connection's
/// transaction. No other table than the journal has row ids, so the connection's last row id is that of
/// an entry, of this transaction or of an earlier one.
fn next(former: PublishedStamp, connection: &Connection) -> (String, i64) {
    (former.id, former.seq.max(connection.last_insert_rowid()))
}

fn identity(connection: &Connection) -> rusqlite::Result<(String, i64)> {
    let sql = "SELECT value, (SELECT coalesce(max(seq), 0) FROM journal) FROM facts
               WHERE kind = 'store' AND key = 'id' AND owner = ''";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of all lengths are found by any beginning of theirs.
    #[test]
    fn a_line_is_found_among_any_number() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        for count in [0, 1, 3, 100, 3_000] {
            let name = |n: usize| format!("by\tdir{:03}/é{n:05}{}\tx", n % 97, "y".repeat(n * 7 % 300));
            let mut lines: Vec<String> = (0..count).map(name).collect();
            lines.sort_unstable();
            let sorted: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let stamp = " ".repeat(STAMP - 1) + "\n";
            fs::write(&path, format!("{stamp}{sorted}\nby\tdir005/late\tx\n")).unwrap();
            let file = File::open(&path).unwrap();
            let (sorted, end) = ((STAMP + sorted.len()) as u64, file.metadata().unwrap().len());
            for head in [0, 8 << 10] {
                let head = fs::read(&path).unwrap().into_iter().take(head).collect();
                let file = Some(file.try_clone().unwrap());
                let published = Published { file, head, sorted, end, is_current: true };
                for beginning in ["by\t", "by\tdir005/", "by\tdir096/", "aa", "zz", "by\tdir005/é00005"] {
                    let mut expected: Vec<&str> =
                        lines.iter().map(String::as_str).filter(|line| line.starts_with(beginning)).collect();
                    expected.extend(["by\tdir005/late\tx"].iter().filter(|line| line.starts_with(beginning)));
                    let mut found = published.lines(beginning, usize::MAX).unwrap();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(found, expected, "{count} {beginning}");
                    assert_eq!(published.lines(beginning, 1).unwrap().len(), expected.len().min(1));
                }
            }
        }
    }
}
