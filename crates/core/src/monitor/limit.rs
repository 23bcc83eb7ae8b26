//! Decides which agent to tell to go on when usage limits have ended: one agent after the other. Pure.

use crate::Timestamp;

/// Time after the end of a limit before the first agent goes on, because clocks differ.
const AFTER: i64 = Timestamp::MINUTE;

/// Time between one agent and the next.
const STAGGER: i64 = 15 * Timestamp::SECOND;

/// Time before an agent that did not go on is told again.
const AGAIN: i64 = 5 * Timestamp::MINUTE;

/// An agent that has reached its usage limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The time when the limit ends.
    pub reset: Timestamp,
    /// Milliseconds since the agent was last told to go on.
    pub rested: i64,
}

/// Returns the index of the agent to tell to go on now; `since_any` is the milliseconds since any agent was
/// told so.
pub fn next_to_continue(limited: &[Limited], since_any: i64, now: Timestamp) -> Option<usize> {
    let is_due = |one: &Limited| now >= one.reset.plus(AFTER) && one.rested >= AGAIN;
    let due = limited.iter().enumerate().filter(|(_, one)| is_due(one));
    due.min_by_key(|(_, one)| one.reset).map(|(at, _)| at).filter(|_| since_any >= STAGGER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a look every second at limits that end at the same time or a little later.
    #[test]
    fn they_go_on_one_after_the_other() {
        let second = |count: i64| Timestamp(count * Timestamp::SECOND);
        let resets = [100, 100, 130, 100, 5_000].map(second);
        let mut told: Vec<Option<Timestamp>> = vec![None; resets.len()];
        let mut order = Vec::new();
        for now in (0..600).map(second) {
            let rested = |at: Option<Timestamp>| at.map_or(i64::MAX, |at| now.since(at));
            // An agent that goes on is no longer at a limit.
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
