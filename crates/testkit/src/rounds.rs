//! The number of rounds of long tests, and their random numbers.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

/// The variable that `scripts/test --long` sets.
pub(crate) const LONG: &str = "CONSORT_TEST_LONG";

/// Returns `few` on an ordinary run, `many` on a long one.
pub fn rounds(few: usize, many: usize) -> usize {
    if std::env::var_os(LONG).is_some() { many } else { few }
}

/// Returns a pseudo-random number below a limit: the same sequence in every run.
pub fn random_below(below: u64) -> u64 {
    static STATE: AtomicU64 = AtomicU64::new(0x2545_f491_4f6c_dd1d);
    let step = |state: u64| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        state ^ (state << 17)
    };
    let before = STATE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(step(state))).unwrap();
    (step(before) >> 11) % below
}
