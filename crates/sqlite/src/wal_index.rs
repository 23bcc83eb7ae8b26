//! Keeps SQLite's index of the WAL (`-shm`) from one process to the next.
//!
//! All processes that have a store open share this index. The first one to open a store cannot know whether the
//! machine has stopped since the last, so SQLite empties the index and makes it again from the whole WAL:
//! 2.5 µs a frame and a tenth of a millisecond besides, for nearly every hook and command, because most find
//! nobody else.
//!
//! Consort does know. **The index stays if three things hold**: the published stamp is of this boot and names the
//! database and the WAL as they are; the last frame in the index is that of the WAL, by its checksum, which counts
//! all frames before it; and no frame follows. SQLite then goes on as if another process had had the store open all
//! the time. Only how many frames the database already has is forgotten, as where SQLite makes the index.
//!
//! After a power cut, where a copy was put back or another program wrote, one of the three fails, and SQLite makes
//! the index again. A disk that forgets part of what was written, while the machine runs on, cannot be told.

use std::cell::RefCell;
use std::ffi::c_int;
use std::fs::File;
use std::mem::transmute;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;

use rusqlite::ffi;

use crate::side_files::published;

/// The length to which SQLite cuts an index before it makes it again; no other file of its is ever so short.
const EMPTIED: i64 = 3;

type Truncate = unsafe extern "C" fn(c_int, i64) -> c_int;

/// The system call that SQLite had before ours was put in its place.
static TRUNCATE: OnceLock<Truncate> = OnceLock::new();

thread_local! {
    /// The store that this thread is opening.
    static STORE: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// The time in which this thread opens a store, whose index may stay.
pub(crate) struct Opening;

impl Opening {
    pub(crate) fn begin(store: &Path) -> Self {
        STORE.set(take_place().then(|| store.to_owned()));
        Self
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        STORE.set(None);
    }
}

/// The version of an index that SQLite has had since there was a WAL. It refuses another one without making it again.
const VERSION: u32 = 3_007_000;

/// The length of an index's first part.
const LENGTH: u64 = 32 << 10;
/// The number of frames that this part has room for: more than our WAL has as a rule.
const MOST_FRAMES: u64 = 4_062;

/// Where an index says how many frames were copied to the database.
const COPIED: u64 = 96;

/// Tells whether an index is that of the WAL as it is now.
fn is_index_of(index: BorrowedFd<'_>, wal: &File) -> Option<bool> {
    let mut head = [0; 48];
    (rustix::io::pread(index, &mut head, 0).ok()? == head.len()).then_some(())?;
    let number = |at| Some(u32::from_ne_bytes(*head[at..].first_chunk()?));
    let page = u64::from(u16::from_ne_bytes(*head[14..].first_chunk()?));
    let frames = u64::from(number(16)?);
    let checksum = [number(24)?.to_be_bytes(), number(28)?.to_be_bytes()].concat();
    let salt = head[32..40].first_chunk();
    let in_wal = |offset| {
        let mut bytes = [0; 8];
        wal.read_exact_at(&mut bytes, offset).is_ok().then_some(bytes)
    };
    // The head of the WAL has 32 bytes with the salt at 16, that of a frame 24 with the salt at 8, then the checksum.
    let frame = |number: u64| 32 + (number - 1) * (24 + page);
    Some(
        number(0)? == VERSION
            && rustix::fs::fstat(index).ok()?.st_size as u64 >= LENGTH
            && (1..=MOST_FRAMES).contains(&frames)
            && in_wal(16).as_ref() == salt
            && in_wal(frame(frames) + 8).as_ref() == salt
            && in_wal(frame(frames) + 16).is_some_and(|found| found[..] == checksum)
            && in_wal(frame(frames + 1) + 8).as_ref() != salt,
    )
}

/// Keeps the index of a store that nobody has open, if it is up to date; whether it did.
fn keep(index: BorrowedFd<'_>, store: &Path) -> bool {
    let mut wal = store.as_os_str().to_owned();
    wal.push("-wal");
    let is_current = published::is_of_this_boot(store)
        && File::open(wal).is_ok_and(|wal| is_index_of(index, &wal) == Some(true));
    is_current && rustix::io::pwrite(index, &[0; 4], COPIED) == Ok(4)
}

/// Answers SQLite's calls of `ftruncate`. It calls for an index while nobody else has the store open or can open it.
#[expect(unsafe_code, reason = "called by SQLite, with a file that it has opened")]
unsafe extern "C" fn truncate(file: c_int, length: i64) -> c_int {
    let is_kept = |store: &Option<PathBuf>| {
        let index = unsafe { BorrowedFd::borrow_raw(file) };
        store.as_ref().is_some_and(|store| keep(index, store))
    };
    if length == EMPTIED && STORE.with_borrow(is_kept) {
        return 0;
    }
    match TRUNCATE.get() {
        Some(original) => unsafe { original(file, length) },
        None => -1,
    }
}

/// Puts [`truncate`] in the place of SQLite's own, once; whether that succeeded.
#[expect(unsafe_code, reason = "SQLite's interface for replacing a system call")]
fn take_place() -> bool {
    static IS_TAKEN: OnceLock<bool> = OnceLock::new();
    let take = || unsafe {
        let name = c"ftruncate".as_ptr();
        let files = ffi::sqlite3_vfs_find(ptr::null()).as_mut()?;
        let original = files.xGetSystemCall?(files, name)?;
        TRUNCATE.get_or_init(|| transmute::<unsafe extern "C" fn(), Truncate>(original));
        let ours: unsafe extern "C" fn() = transmute(truncate as Truncate);
        Some(files.xSetSystemCall?(files, name, Some(ours)) == ffi::SQLITE_OK)
    };
    *IS_TAKEN.get_or_init(|| take().unwrap_or(false))
}
