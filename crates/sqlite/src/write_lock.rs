//! The kernel lock beside the SQLite database at which writers queue.
//!
//! SQLite's own lock goes to the process that asks at the right moment. With a hundred processes asking,
//! the asking takes all the time there is and some never get the lock: 128 writers that slept and asked
//! again were refused after ten seconds. For a lock on a file beside the database nobody asks twice, and the
//! kernel releases it when its holder dies. Those who wait for it have a queue (`write_queue.rs`).
//!
//! **Waiting ends at a deadline**: a holder that hangs makes the others fail, not hang.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;
use std::time::Instant;

use consort_core::engine::StoreError;
use rustix::fs::FlockOperation;
use rustix::fs::FlockOperation::LockExclusive;
use rustix::fs::FlockOperation::NonBlockingLockExclusive;
use rustix::fs::flock;
use rustix::io::Errno;
use rustix::io::retry_on_intr;

use crate::StoreLocation;
use crate::side_files::no_waiting;
use crate::time_limit::TimeLimit;
use crate::write_queue;
use crate::write_queue::WriterTurn;

/// The pause between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The lock of a writer; dropping it releases the lock.
pub(crate) struct WriteLock {
    file: Arc<File>,
    _turn: Option<WriterTurn>,
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // A thread that waits for a turn may still have the file open.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl WriteLock {
    /// Acquires the lock of the store; an error after the deadline.
    pub(crate) fn acquire(place: &StoreLocation, deadline: Instant) -> Result<Self, StoreError> {
        static LIMIT: TimeLimit = TimeLimit::new();
        let unusable = |error| unusable(place, error);
        let mut options = no_waiting();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = Arc::new(options.open(place.path.with_extension("lock")).map_err(unusable)?);
        if write_queue::is_empty(&file) && lock(&file, NonBlockingLockExclusive).map_err(unusable)? {
            return Ok(Self { file, _turn: None });
        }
        let turn = write_queue::wait_turn(&file, deadline);
        if lock(&file, NonBlockingLockExclusive).map_err(unusable)? {
            return Ok(Self { file, _turn: turn });
        }
        let late = Self { file, _turn: turn };
        let waited = match LIMIT.is_used_up() {
            true => late.ask_until(deadline),
            false => LIMIT.wait(deadline, || late.wait()).and_then(|waited| waited.unwrap_or(Ok(None))),
        };
        waited.map_err(unusable)?.ok_or_else(|| place.busy())
    }

    /// Waits in the kernel.
    fn wait(self) -> std::io::Result<Option<Self>> {
        Ok(lock(&self.file, LockExclusive)?.then_some(self))
    }

    /// Waits by asking again and again.
    fn ask_until(self, deadline: Instant) -> std::io::Result<Option<Self>> {
        while !lock(&self.file, NonBlockingLockExclusive)? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            sleep(BETWEEN_TRIES);
        }
        Ok(Some(self))
    }
}

/// Takes the lock; whether it did.
fn lock(file: &File, how: FlockOperation) -> std::io::Result<bool> {
    match retry_on_intr(|| flock(file, how)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn unusable(place: &StoreLocation, error: std::io::Error) -> StoreError {
    StoreError::Unusable { path: place.path.clone(), source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(dir: &tempfile::TempDir) -> StoreLocation {
        StoreLocation { path: dir.path().join("consort.db"), budget: Duration::from_secs(60) }
    }

    fn acquire(place: &StoreLocation) -> WriteLock {
        WriteLock::acquire(place, Instant::now() + place.budget).unwrap()
    }

    fn lock_file(place: &StoreLocation) -> File {
        File::options().write(true).open(place.path.with_extension("lock")).unwrap()
    }

    /// Only Linux has the queue.
    #[cfg(target_os = "linux")]
    #[test]
    fn who_comes_later_gets_the_lock_later() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        for _ in 0..200 {
            let order = std::sync::Mutex::new(Vec::new());
            let held = acquire(&place);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _lock = acquire(&place);
                    order.lock().unwrap().push("first");
                });
                while write_queue::is_empty(&lock_file(&place)) {
                    std::thread::yield_now();
                }
                drop(held);
                let _lock = acquire(&place);
                order.lock().unwrap().push("second");
            });
            assert_eq!(order.into_inner().unwrap(), ["first", "second"]);
        }
    }

    #[test]
    fn who_stands_still_in_the_queue_holds_nobody_up_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        drop(acquire(&place));
        let stopped = write_queue::wait_turn(&Arc::new(lock_file(&place)), Instant::now()).unwrap();
        // The threads that waited for a turn still have their files open.
        for _ in 0..20 {
            let began = Instant::now();
            drop(acquire(&place));
            assert!(began.elapsed() < Duration::from_secs(20));
        }
        #[cfg(target_os = "linux")]
        assert!((2..16).contains(&open_lock_files(&place)), "{}", open_lock_files(&place));
        drop(stopped);
        while !write_queue::is_empty(&lock_file(&place)) {
            std::thread::yield_now();
        }
        drop(acquire(&place));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_was_refused_leaves_few_waits_behind() {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let held = acquire(&place);
        for _ in 0..40 {
            assert!(WriteLock::acquire(&place, Instant::now() + Duration::from_millis(10)).is_err());
        }
        assert!((2..30).contains(&open_lock_files(&place)), "{}", open_lock_files(&place));
        drop(held);
        drop(acquire(&place));
        while open_lock_files(&place) > 0 {
            std::thread::yield_now();
        }
    }

    /// Counts how often this process has the lock file open.
    #[cfg(target_os = "linux")]
    fn open_lock_files(place: &StoreLocation) -> usize {
        let lock = place.path.with_extension("lock");
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|path| path == lock)).count()
    }
}
