//! The engine's tables of fixed-size slots on disk, in files that all sessions share. **If two processes
//! take one slot at the same moment, one value is lost.**

use std::fs::File;
use std::io::ErrorKind;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::side_files::SlotTable;
use consort_core::text;
use consort_files::OurDir;

use super::no_waiting;

pub(super) const DIR: &str = "slots";

/// Number of slots that a key may go into.
const WAYS: usize = 4;

/// The first byte of a slot that was freed.
const FREE: u8 = b'\n';

fn open(dir: &Path, table: SlotTable, to_write: bool) -> std::io::Result<File> {
    let path = dir.join(DIR).join(table.name);
    let open = || no_waiting().create(to_write).truncate(false).read(true).write(to_write).open(&path);
    match open() {
        Err(error) if to_write && error.kind() == ErrorKind::NotFound => {
            OurDir::create(&dir.join(DIR))?;
            open()
        }
        opened => opened,
    }
}

/// Reads the key and the value of a slot: a tab is between them, and a line end after them.
fn read(slot: &[u8]) -> Option<(&str, &str)> {
    let (key, value) = str::from_utf8(slot).ok()?.split_once('\t')?;
    Some((key, value.split_once('\n').map_or(value, |(value, _)| value)))
}

fn has_key(slot: &[u8], key: &str) -> bool {
    slot.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'\t'))
}

fn written(table: SlotTable, key: &str, value: &str) -> Option<Vec<u8>> {
    let mut slot = format!("{key}\t{value}\n").into_bytes();
    let fits = slot.len() <= table.slot;
    slot.resize(table.slot, b' ');
    fits.then_some(slot)
}

/// Reads the slots that a key may be in; returns them, and the offset at which they begin.
fn bucket(file: &File, table: SlotTable, hash: u64) -> (Vec<u8>, u64) {
    let mut bucket = vec![0; table.slot * WAYS];
    let at = hash % table.buckets * bucket.len() as u64;
    let mut length = 0;
    // The last slots may not have been written yet.
    while length < bucket.len()
        && let Ok(count @ 1..) = file.read_at(&mut bucket[length..], at + length as u64)
    {
        length += count;
    }
    (bucket, at)
}

pub(super) fn get(dir: &Path, table: SlotTable, key: &str) -> Option<String> {
    let (bucket, _) = bucket(&open(dir, table, false).ok()?, table, text::stable_hash(key.as_bytes()));
    let slot = bucket.chunks(table.slot).find(|slot| has_key(slot, key))?;
    read(slot).map(|(_, value)| value.to_owned())
}

/// Writes a value into the slot of its key, else a free one, else one of another key.
pub(super) fn put(dir: &Path, table: SlotTable, key: &str, value: &str) -> std::io::Result<()> {
    let Some(slot) = written(table, key, value) else { return Ok(()) };
    let (file, hash) = (open(dir, table, true)?, text::stable_hash(key.as_bytes()));
    let (bucket, at) = bucket(&file, table, hash);
    let find = |is_meant: &dyn Fn(&[u8]) -> bool| bucket.chunks(table.slot).position(is_meant);
    let way = find(&|slot| has_key(slot, key)).or_else(|| find(&|slot| slot[0] == 0));
    let way = way.unwrap_or((hash / table.buckets) as usize % WAYS);
    file.write_all_at(&slot, at + (way * table.slot) as u64)
}

/// A table that was read as a whole.
pub(super) struct Slots {
    dir: PathBuf,
    bytes: Vec<u8>,
    table: SlotTable,
}

impl Slots {
    pub(super) fn read(dir: &Path, table: SlotTable) -> Self {
        let mut bytes = Vec::new();
        // A missing table is not made here: the first process to open the store clears what it finds.
        let _ = open(dir, table, false).and_then(|mut file| file.read_to_end(&mut bytes));
        Self { dir: dir.to_owned(), bytes, table }
    }

    pub(super) fn is_of(&self, table: SlotTable) -> bool {
        self.table == table
    }

    pub(super) fn each(&self) -> impl Iterator<Item = (&str, &str)> {
        self.bytes.chunks(self.table.slot).filter_map(read)
    }

    pub(super) fn put(&self, key: &str, value: &str) -> std::io::Result<()> {
        let Some(slot) = written(self.table, key, value) else { return Ok(()) };
        let place = self.find(|slot| has_key(slot, key)).or_else(|| self.find(|slot| slot[0] == FREE));
        self.write(&slot, place.unwrap_or(self.bytes.len().div_ceil(self.table.slot)))
    }

    pub(super) fn free(&self, key: &str) -> std::io::Result<()> {
        let place = self.find(|slot| has_key(slot, key));
        place.map_or(Ok(()), |place| self.write(&vec![FREE; self.table.slot], place))
    }

    fn find(&self, is_meant: impl Fn(&[u8]) -> bool) -> Option<usize> {
        self.bytes.chunks(self.table.slot).position(is_meant)
    }

    fn write(&self, slot: &[u8], place: usize) -> std::io::Result<()> {
        open(&self.dir, self.table, true)?.write_all_at(slot, (place * self.table.slot) as u64)
    }
}
