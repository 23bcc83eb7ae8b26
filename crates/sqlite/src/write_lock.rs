//! The kernel lock beside the SQLite database at which writers queue.
//!
//! SQLite's own lock goes to the process that asks at the right moment. With a hundred processes asking,
//! the asking takes all the time there is and some never get the lock: 128 writers that slept and asked
//! again were refused after ten seconds. A lock on a file beside the database is a queue in the kernel:
//! nobody asks twice, the first to come is the first to be served, and the kernel releases the lock when
//! its holder dies.
//!
//! **Waiting ends at a deadline**: a holder that hangs makes the others fail, not hang.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::mpsc;
use std::time::Instant;

use consort_core::engine::StoreError;
use rustix::fs::FlockOperation;
use rustix::fs::flock;
use rustix::io::Errno;

use crate::StoreLocation;
use crate::side_files::no_waiting;

/// The lock of a writer; dropping it releases the lock.
pub(crate) struct WriteLock {
    _file: File,
    /// Whether others had the lock first: then more may wait behind us.
    pub(crate) has_waited: bool,
}

impl WriteLock {
    /// Acquires the lock of the store; an error after the deadline.
    pub(crate) fn acquire(place: &StoreLocation, deadline: Instant) -> Result<Self, StoreError> {
        let unusable = |error| unusable(place, error);
        match try_acquire(place).map_err(unusable)? {
            Ok(gate) => Ok(gate),
            Err(file) => wait(file, deadline).map_err(unusable)?.ok_or_else(|| place.busy()),
        }
    }
}

/// Takes the lock if it is free; otherwise returns the file to wait at.
fn try_acquire(place: &StoreLocation) -> std::io::Result<Result<WriteLock, File>> {
    let mut options = no_waiting();
    options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.open(place.path.with_extension("lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Ok(WriteLock { _file: file, has_waited: false })),
        Err(Errno::WOULDBLOCK) => Ok(Err(file)),
        Err(error) => Err(error.into()),
    }
}

fn unusable(place: &StoreLocation, error: std::io::Error) -> StoreError {
    StoreError::Unusable { path: place.path.clone(), source: error.into() }
}

/// Waits for the lock in a thread of its own, because `flock` has no time limit. After the deadline the
/// thread stays in the queue, and releases the lock as soon as it gets it.
fn wait(file: File, deadline: Instant) -> std::io::Result<Option<WriteLock>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        let turn = loop {
            match flock(&file, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                result => break result.map(|()| WriteLock { _file: file, has_waited: true }),
            }
        };
        let _ = sender.send(turn);
    })?;
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(turn) => Ok(Some(turn?)),
        Err(_) => Ok(None),
    }
}
