//! Notices that a worker stands still: it reports nothing, and the programs that it has started do nothing.

use std::time::Instant;

use consort_core::dispatch::DEAD_AFTER;
use consort_core::monitor::TreeProcess;
use consort_core::text;

use crate::panes::what_lives;

/// Processor time in ms plus I/O in KiB since the last look, above which a worker is not idle.
const EFFORT: u64 = 50;

/// Milliseconds of silence after which a worker's processes are looked at.
const SILENT: i64 = 20_000;

/// The time since which a worker has stood still, and what is known of it.
pub(super) struct Stillness {
    since: Instant,
    /// Processor time and I/O of its tools at the last look.
    effort: u64,
    is_told: bool,
}

impl Default for Stillness {
    fn default() -> Self {
        Self { since: Instant::now(), effort: 0, is_told: false }
    }
}

impl Stillness {
    /// Notes that the worker has reported something.
    pub(super) fn ends(&mut self) {
        (self.since, self.is_told) = (Instant::now(), false);
    }

    /// Returns for how many milliseconds the worker has stood still, and a remark to record, once each time
    /// that this lasts for long. Its processes are looked at only when it is silent.
    pub(super) fn look(&mut self, tree: impl FnOnce() -> Vec<TreeProcess>) -> (i64, Option<String>) {
        if self.quiet() < SILENT {
            return (self.quiet(), None);
        }
        let tree = tree();
        // The CLI itself is left out: it keeps its clocks going whatever happens.
        let effort = tree.iter().skip(1).map(|one| one.cpu_ms + one.io / 1_024).sum();
        let before = std::mem::replace(&mut self.effort, effort);
        if before > 0 && effort > before + EFFORT {
            self.since = Instant::now();
        }
        let quiet = self.quiet();
        if quiet <= DEAD_AFTER || std::mem::replace(&mut self.is_told, true) {
            return (quiet, None);
        }
        (quiet, Some(format!("nothing new for {}; {}", text::age(quiet), what_lives(&tree))))
    }

    fn quiet(&self) -> i64 {
        i64::try_from(self.since.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tree(effort: u64) -> Vec<TreeProcess> {
        let one = |cpu_ms| TreeProcess { cpu_ms, ..TreeProcess::default() };
        vec![one(1_000_000), one(effort)]
    }

    /// Returns a stillness that began so many seconds ago.
    fn still(seconds: u64) -> Stillness {
        let since = Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        Stillness { since, ..Stillness::default() }
    }

    #[test]
    fn one_that_stands_still_is_told_of_once() {
        let mut stillness = still(121);
        let (quiet, found) = stillness.look(|| tree(100));
        let found = found.unwrap();
        assert!(quiet > DEAD_AFTER, "{quiet}");
        assert!(found.starts_with("nothing new for 2") && found.contains("lives"), "{found}");
        assert_eq!(stillness.look(|| tree(100)).1, None);
        stillness.ends();
        let (quiet, found) = stillness.look(|| panic!("one that talks is not looked at"));
        assert!(quiet < 1_000 && found.is_none());
    }

    #[test]
    fn what_computes_does_not_stand_still() {
        let mut stillness = still(100);
        assert_eq!(stillness.look(|| tree(100)).1, None, "not yet");
        assert!(stillness.look(|| tree(120)).0 >= 100_000, "its clocks go on");
        assert!(stillness.look(|| tree(500)).0 < 1_000);
    }
}
