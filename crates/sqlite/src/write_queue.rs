//! The order in which those who wait for the write lock get it.
//!
//! The kernel wakes the process that has waited longest, but the lock goes to the one that asks first after
//! it was released: among a hundred that come and go, some waited for ten seconds. So who waits also locks
//! the byte of the lock file whose offset is the time at which it came, and waits until no byte below is
//! locked; and who comes while others wait joins them. The kernel releases the bytes of a process that dies.
//!
//! **The queue only orders, the lock protects.** A process that is stopped in the queue holds up the others
//! for [`PATIENCE`]; then they ask for the lock without a turn.

use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use crate::time_limit::TimeLimit;

/// Longest wait for a turn.
const PATIENCE: Duration = Duration::from_millis(500);

/// The turn of one that waited; dropping it ends it.
pub(crate) struct WriterTurn(Arc<File>);

impl Drop for WriterTurn {
    fn drop(&mut self) {
        platform::unlock_all(&self.0);
    }
}

/// Tells whether nobody waits.
pub(crate) fn is_empty(file: &File) -> bool {
    platform::is_free(file)
}

/// Waits for a turn. Returns none if the wait is too long, if others of this process have waited too long and
/// still do, or if the file system has no such locks.
pub(crate) fn wait_turn(file: &Arc<File>, deadline: Instant) -> Option<WriterTurn> {
    static LIMIT: TimeLimit = TimeLimit::new();
    if LIMIT.is_used_up() {
        return None;
    }
    let since_epoch = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let came = i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX - 1);
    if !platform::try_lock(file, came, 1) {
        return None;
    }
    let waiting = WriterTurn(Arc::clone(file));
    if platform::try_lock(file, 0, came) {
        return Some(waiting);
    }
    let turn = LIMIT.wait(deadline.min(Instant::now() + PATIENCE), move || {
        platform::wait_lock(&waiting.0, 0, came);
        waiting
    });
    if !matches!(turn, Ok(Some(_))) {
        platform::unlock_all(file);
    }
    turn.ok().flatten()
}

/// Locks of byte ranges that belong to an open file, as Linux has them.
#[cfg(target_os = "linux")]
mod platform {
    use std::fs::File;
    use std::io::Error;
    use std::io::ErrorKind;
    use std::os::fd::AsRawFd as _;

    use libc::c_int;

    fn call(file: &File, command: c_int, kind: c_int, start: i64, length: i64) -> std::io::Result<c_int> {
        // SAFETY: a `flock` of zeros is valid, and the call only writes into it.
        #[expect(unsafe_code, reason = "only the C library has these locks")]
        unsafe {
            let mut range: libc::flock = std::mem::zeroed();
            range.l_type = kind as _;
            range.l_whence = libc::SEEK_SET as _;
            (range.l_start, range.l_len) = (start, length);
            match libc::fcntl(file.as_raw_fd(), command, &raw mut range) {
                -1 => Err(Error::last_os_error()),
                _ => Ok(range.l_type.into()),
            }
        }
    }

    pub(super) fn is_free(file: &File) -> bool {
        call(file, libc::F_OFD_GETLK, libc::F_WRLCK, 0, 0).is_ok_and(|found| found == libc::F_UNLCK)
    }

    pub(super) fn try_lock(file: &File, start: i64, length: i64) -> bool {
        call(file, libc::F_OFD_SETLK, libc::F_WRLCK, start, length).is_ok()
    }

    pub(super) fn wait_lock(file: &File, start: i64, length: i64) {
        let wait = || call(file, libc::F_OFD_SETLKW, libc::F_WRLCK, start, length);
        while wait().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {}
    }

    pub(super) fn unlock_all(file: &File) {
        let _ = call(file, libc::F_OFD_SETLK, libc::F_UNLCK, 0, 0);
    }
}

/// Elsewhere the kernel's own order counts.
#[cfg(not(target_os = "linux"))]
mod platform {
    use std::fs::File;

    pub(super) fn is_free(_file: &File) -> bool {
        true
    }

    pub(super) fn try_lock(_file: &File, _start: i64, _length: i64) -> bool {
        true
    }

    pub(super) fn wait_lock(_file: &File, _start: i64, _length: i64) {}

    pub(super) fn unlock_all(_file: &File) {}
}
