//! Waits in the kernel that may last for ever, given up after a time.
//!
//! Such a wait cannot be ended: its thread goes on, and what it gets is dropped. A process that lives long
//! would leave more and more of them behind, so callers ask [`TimeLimit::is_used_up`] first.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Instant;

/// The number of given-up waits that go on, from which on no further one should begin.
const MOST_GIVEN_UP: usize = 8;

/// Counts how many waits go on after they were given up: in a `static` of those who wait for the same thing.
pub(crate) struct TimeLimit {
    given_up: AtomicUsize,
}

impl TimeLimit {
    pub(crate) const fn new() -> Self {
        Self { given_up: AtomicUsize::new(0) }
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.given_up.load(Relaxed) >= MOST_GIVEN_UP
    }

    /// Returns what `wait` returns, or none if it does not return before the deadline.
    pub(crate) fn wait<T: Send + 'static>(
        &'static self,
        deadline: Instant,
        wait: impl FnOnce() -> T + Send + 'static,
    ) -> std::io::Result<Option<T>> {
        // Without a buffer: what could be sent was received.
        let (sender, receiver) = mpsc::sync_channel(0);
        thread::Builder::new().stack_size(64 << 10).spawn(move || {
            if sender.send(wait()).is_err() {
                self.given_up.fetch_sub(1, Relaxed);
            }
        })?;
        let returned = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        if matches!(returned, Err(RecvTimeoutError::Timeout)) {
            self.given_up.fetch_add(1, Relaxed);
        }
        Ok(returned.ok())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn few_waits_go_on_after_they_were_given_up() {
        static LIMIT: TimeLimit = TimeLimit::new();
        static HELD: Mutex<()> = Mutex::new(());
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let wait = || {
            BEGUN.fetch_add(1, Relaxed);
            drop(HELD.lock().unwrap());
        };
        let held = HELD.lock().unwrap();
        while !LIMIT.is_used_up() {
            assert!(LIMIT.wait(Instant::now(), wait).unwrap().is_none());
        }
        drop(held);
        while LIMIT.given_up.load(Relaxed) > 0 {
            thread::yield_now();
        }
        assert_eq!(BEGUN.load(Relaxed), MOST_GIVEN_UP);
        let later = Instant::now() + std::time::Duration::from_secs(60);
        assert_eq!(LIMIT.wait(later, || 7).unwrap(), Some(7));
    }
}
