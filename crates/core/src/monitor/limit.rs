//! When agents whose usage limit has ended are told to go on: one after the other. Pure.

use crate::Timestamp;

/// How long after a limit has ended the first one goes on: clocks differ.
const AFTER: i64 = Timestamp::MINUTE;

/// How long after one the next goes on.
const STAGGER: i64 = 15 * Timestamp::SECOND;

/// How long it has to go on before it is told so again.
const AGAIN: i64 = 5 * Timestamp::MINUTE;

/// An agent at its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// When the limit ends.
    pub reset: Timestamp,
    /// For how many milliseconds it was told nothing.
    pub rested: i64,
}

/// Which of these goes on now; `since_any` is for how many milliseconds nobody was told to.
pub fn next_to_continue(limited: &[Limited], since_any: i64, now: Timestamp) -> Option<usize> {
    let is_due = |one: &Limited| now >= one.reset.plus(AFTER) && one.rested >= AGAIN;
    let due = limited.iter().enumerate().filter(|(_, one)| is_due(one));
    due.min_by_key(|(_, one)| one.reset).map(|(at, _)| at).filter(|_| since_any >= STAGGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks every second, with all that end at once or a little later: who goes on when.
    #[test]
    fn they_go_on_one_after_the_other() {
        let second = |count: i64| Timestamp(count * Timestamp::SECOND);
        let resets = [100, 100, 130, 100, 5_000].map(second);
        let mut told: Vec<Option<Timestamp>> = vec![None; resets.len()];
        let mut order = Vec::new();
        for now in (0..600).map(second) {
            let rested = |at: Option<Timestamp>| at.map_or(i64::MAX, |at| now.since(at));
            // Who goes on is at no limit any more.
            let left: Vec<usize> = (0..resets.len()).filter(|at| told[*at].is_none()).collect();
            let limited: Vec<Limited> =
                left.iter().map(|at| Limited { reset: resets[*at], rested: rested(told[*at]) }).collect();
            let since_any = told.iter().map(|at| rested(*at)).min().unwrap();
            if let Some(next) = next_to_continue(&limited, since_any, now) {
                told[left[next]] = Some(now);
                order.push((left[next], now.0 / Timestamp::SECOND));
            }
        }
        assert_eq!(order, [(0, 160), (1, 175), (3, 190), (2, 205)]);
    }

    #[test]
    fn one_that_does_not_go_on_is_told_again_after_a_while() {
        let one = |rested| [Limited { reset: Timestamp(0), rested }];
        let now = Timestamp(AFTER);
        assert_eq!(next_to_continue(&one(AGAIN - 1), i64::MAX, now), None);
        assert_eq!(next_to_continue(&one(AGAIN), i64::MAX, now), Some(0));
        assert_eq!(next_to_continue(&one(AGAIN), STAGGER - 1, now), None);
        assert_eq!(next_to_continue(&one(AGAIN), i64::MAX, Timestamp(AFTER - 1)), None);
    }
}
