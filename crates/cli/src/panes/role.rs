//! The watcher's role: one process on this machine has it at a time.
//!
//! The role is a lock on a file, which the kernel frees when its holder dies. A process that was stopped
//! keeps its lock, so the file also says when the holder last looked: after three looks that did not come,
//! others look for themselves, without acting.

use std::fs::File;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use rustix::fs::FlockOperation;
use rustix::fs::flock;

/// Milliseconds without a look after which a holder is silent.
const SILENT: i64 = 3 * Timestamp::SECOND;

/// The role, held or wanted by this process.
pub(crate) struct WatcherRole {
    path: PathBuf,
    held: Option<File>,
}

/// Another process that holds the role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// Whether it has not looked for long, and still holds the lock.
    pub(crate) is_silent: bool,
}

impl WatcherRole {
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join("watcher.lock"), held: None }
    }

    /// Takes the role if nobody else has it, and writes that we look now; else returns the holder.
    pub(crate) fn take(&mut self, now: Timestamp) -> Result<(), Holder> {
        if self.held.is_none() {
            self.held = self.lock();
        }
        match &self.held {
            Some(file) => {
                let line = format!("{:>10} {:>20}\n", std::process::id(), now.0);
                // A failed write only makes us seem silent.
                let _ = file.write_all_at(line.as_bytes(), 0);
                Ok(())
            }
            None => Err(self.holder(now)),
        }
    }

    fn lock(&self) -> Option<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&self.path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(file)
    }

    fn holder(&self, now: Timestamp) -> Holder {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        let mut words = text.split_whitespace();
        let pid = words.next().and_then(|pid| pid.parse().ok()).unwrap_or_default();
        let looked = words.next().and_then(|at| at.parse().ok()).map_or(Timestamp(0), Timestamp);
        Holder { pid, is_silent: now.since(looked) > SILENT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_and_a_silent_one_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut other) = (WatcherRole::new(dir.path()), WatcherRole::new(dir.path()));
        assert_eq!(one.take(Timestamp(10_000)), Ok(()));
        let pid = std::process::id();
        assert_eq!(other.take(Timestamp(11_000)), Err(Holder { pid, is_silent: false }));
        assert_eq!(other.take(Timestamp(14_000)), Err(Holder { pid, is_silent: true }));
        assert_eq!(one.take(Timestamp(15_000)), Ok(()));
        assert_eq!(other.take(Timestamp(15_500)), Err(Holder { pid, is_silent: false }));
        drop(one);
        assert_eq!(other.take(Timestamp(16_000)), Ok(()));
    }
}
