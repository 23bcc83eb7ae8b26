//! Ends a test's work at any step, as if its process had died there.

use std::cell::Cell;

use crate::run_worktree::WorktreeError;

thread_local! {
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
    static HAS_STRUCK: Cell<bool> = const { Cell::new(false) };
}

/// Lets this number of steps succeed, and every later one fail; `None` ends the faults.
pub(super) fn after(steps: Option<usize>) {
    LEFT.set(steps);
    HAS_STRUCK.set(false);
}

/// Whether a step has failed.
pub(super) fn has_struck() -> bool {
    HAS_STRUCK.get()
}

pub(in crate::run_worktree) fn step() -> Result<(), WorktreeError> {
    match LEFT.get() {
        Some(0) => {
            HAS_STRUCK.set(true);
            Err(WorktreeError::Git { doing: "killed".into(), said: "the test wants it".into() })
        }
        left => {
            LEFT.set(left.map(|left| left - 1));
            Ok(())
        }
    }
}
