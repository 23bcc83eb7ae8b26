//! The kernel lock beside the SQLite database at which writers queue.
//!
//! SQLite's lock is taken by the process that asks at the right moment. With a hundred
//! processes asking, the asking takes all the time there is and some never get
//! a turn: 128 writers that napped and asked again were refused after ten
//! seconds. A lock on a file beside the database is a queue in the kernel:
//! nobody asks twice, the first to come is the first to go, and the kernel
//! opens it when its holder dies.
//!
//! **Waiting has an end**: a holder that hangs costs everyone else their
//! budget, not their life.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::mpsc;
use std::time::Instant;

use consort_core::engine::StoreError;
use rustix::fs::FlockOperation;
use rustix::fs::flock;
use rustix::io::Errno;

use crate::Location;
use crate::side_files::no_waiting;

/// A turn to write; it ends when dropped.
pub(crate) struct WriteLock {
    _file: File,
    /// Others had their turn first, and more may wait behind us.
    pub(crate) has_waited: bool,
}

impl WriteLock {
    /// Takes its turn to write to the store, before the deadline.
    pub(crate) fn acquire(place: &Location, deadline: Instant) -> Result<Self, StoreError> {
        let unusable = |error| unusable(place, error);
        match step_up(place).map_err(unusable)? {
            Ok(gate) => Ok(gate),
            Err(file) => wait(file, deadline).map_err(unusable)?.ok_or_else(|| place.busy()),
        }
    }
}

/// The gate if it is open, else the file to wait at.
fn step_up(place: &Location) -> std::io::Result<Result<WriteLock, File>> {
    let mut options = no_waiting();
    options.create(true).truncate(false).write(true).mode(0o600);
    let file = options.open(place.path.with_extension("lock"))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Ok(WriteLock { _file: file, has_waited: false })),
        Err(Errno::WOULDBLOCK) => Ok(Err(file)),
        Err(error) => Err(error.into()),
    }
}

fn unusable(place: &Location, error: std::io::Error) -> StoreError {
    StoreError::Unusable { path: place.path.clone(), source: error.into() }
}

/// Queues in a thread of its own, because the queue itself knows no time. One
/// that gives up leaves its thread in the queue; its turn passes at once.
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
