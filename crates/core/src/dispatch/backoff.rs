//! Decides when a provider is asked again after it has failed or met a limit.

use super::Failure;
use super::FailureKind;
use crate::Timestamp;

/// Failures of a provider in a row, or attempts of a CLI, after which a run waits.
const PATIENCE: u32 = 3;

/// The base of the wait, in milliseconds: every failure in the row after the first doubles it.
const FIRST_WAIT: i64 = 2 * Timestamp::SECOND;

/// Longest wait, before what is added by chance.
const LONGEST_WAIT: i64 = Timestamp::MINUTE;

/// Length of a limit that does not say when it ends.
const LIMIT_WAIT: i64 = 30 * Timestamp::SECOND;

/// Longest limit that is believed: real ones last a week at most, and a time far beyond was
/// misread.
const LONGEST_LIMIT: i64 = 8 * Timestamp::DAY;

/// A run of one CLI that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedRun {
    pub began: Timestamp,
    pub ended: Timestamp,
    /// None if the run succeeded.
    pub failure: Option<FailureKind>,
    /// Time at which the limit ends that the run met, if that was said.
    pub until: Option<Timestamp>,
}

/// Returns the time before which no run of a CLI starts, by its last runs that have ended, in any
/// order; `None` if a run may start at any time. `chance` spreads runs that wait by up to a quarter
/// of the wait: for the same runs and the same `chance` the time does not move.
///
/// - A limit lasts until the time that it names, or for half a minute. Only a run that worked and
///   began after the limit was met has shown that the limit is over.
/// - From the third failure of the provider in a row on, the wait doubles with each. A run that
///   succeeded later, or that only reached its own cap of turns or money, ends the row.
pub fn not_before(runs: &[EndedRun], chance: u64) -> Option<Timestamp> {
    limit_ends(runs).into_iter().chain(backed_off(runs, chance)).max()
}

/// Returns the first moment from `at` on that is at least `stagger` away from all moments that are
/// `taken`.
pub fn staggered(at: Timestamp, mut taken: Vec<Timestamp>, stagger: i64) -> Timestamp {
    taken.sort_unstable();
    taken.into_iter().fold(at, |at, other| {
        let is_near = at.plus(stagger) > other && other.plus(stagger) > at;
        if is_near { other.plus(stagger) } else { at }
    })
}

/// A CLI that tries again by itself, and has reported nothing since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrying {
    /// The failure that it tries again after.
    pub failure: Failure,
    pub attempt: u32,
    /// Time at which it tries again, if it reports that.
    pub until: Option<Timestamp>,
    /// Time at which it reported that it tries again.
    pub since: Timestamp,
}

/// Tells whether to end a CLI that tries again, so that its run goes on when the limit is over: a
/// CLI may try or wait for ever in silence, and its run would count as working.
pub fn should_park(retrying: &Retrying, now: Timestamp) -> bool {
    let Retrying { failure, attempt, until, since } = retrying;
    let is_long = |until: Timestamp| until.since(now) > LONGEST_WAIT;
    let until = failure.until.or(*until);
    let waits_long = match until {
        Some(until) => is_long(until),
        None => now.since(*since) > LIMIT_WAIT,
    };
    failure.kind == FailureKind::Limit && (*attempt >= PATIENCE || waits_long)
}

/// The evidence that the end of a run gives about its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProviderEvidence {
    Works,
    Fails,
    Nothing,
}

fn tells(failure: Option<FailureKind>) -> ProviderEvidence {
    match failure {
        // The provider has answered until then.
        None | Some(FailureKind::Turns | FailureKind::Budget) => ProviderEvidence::Works,
        Some(FailureKind::Limit | FailureKind::Provider) => ProviderEvidence::Fails,
        Some(FailureKind::NotLoggedIn | FailureKind::Argument | FailureKind::Other) => {
            ProviderEvidence::Nothing
        }
    }
}

fn limit_ends(runs: &[EndedRun]) -> Option<Timestamp> {
    let is_over = |limit: &EndedRun| {
        runs.iter().any(|run| tells(run.failure) == ProviderEvidence::Works && run.began >= limit.ended)
    };
    let limits = runs.iter().filter(|run| run.failure == Some(FailureKind::Limit) && !is_over(run));
    let ends = limits.map(|run| match run.until {
        Some(until) => until.min(run.ended.plus(LONGEST_LIMIT)),
        None => run.ended.plus(LIMIT_WAIT),
    });
    ends.max()
}

fn backed_off(runs: &[EndedRun], chance: u64) -> Option<Timestamp> {
    let worked =
        runs.iter().filter(|run| tells(run.failure) == ProviderEvidence::Works).map(|run| run.ended).max();
    let failures = runs.iter().filter(|run| tells(run.failure) == ProviderEvidence::Fails);
    let row = failures.map(|run| run.ended).filter(|at| worked.is_none_or(|worked| *at > worked));
    let (count, last) = row.fold((0u32, None), |(count, last), at| (count + 1, last.max(Some(at))));
    let doubled = count.checked_sub(PATIENCE)?;
    let wait = FIRST_WAIT.saturating_mul(1 << (PATIENCE - 1 + doubled).min(16)).min(LONGEST_WAIT);
    let more = i64::try_from(chance % 1_001).unwrap_or(0) * wait / 4_000;
    Some(last?.plus(wait + more))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(began: i64, ended: i64, failure: Option<FailureKind>) -> EndedRun {
        EndedRun { began: Timestamp(began), ended: Timestamp(ended), failure, until: None }
    }

    fn failures(count: i64) -> Vec<EndedRun> {
        (1..=count).map(|at| run(at - 1, at, Some(FailureKind::Provider))).collect()
    }

    #[test]
    fn who_waits_long_or_for_ever_is_parked_instead() {
        let now = Timestamp(1_000_000);
        let after = |seconds: i64| now.plus(seconds * Timestamp::SECOND);
        let retrying = |kind, attempt, limit: Option<i64>, again: Option<i64>| Retrying {
            failure: Failure { kind, message: String::new(), until: limit.map(after) },
            attempt,
            until: again.map(after),
            since: now,
        };
        let limit = |attempt, limit, again| retrying(FailureKind::Limit, attempt, limit, again);
        assert!(!should_park(&limit(2, None, None), now) && should_park(&limit(3, None, None), now));
        assert!(!should_park(&limit(1, Some(60), None), now) && should_park(&limit(1, Some(61), None), now));
        assert!(!should_park(&limit(1, None, Some(60)), now) && should_park(&limit(1, None, Some(61)), now));
        // The CLI has not said for how long it waits.
        assert!(
            !should_park(&limit(1, None, None), after(30)) && should_park(&limit(1, None, None), after(31))
        );
        assert!(!should_park(&limit(1, None, Some(60)), after(59)));
        // Failures that are no limits are left to the CLI's own retries.
        assert!(!should_park(&retrying(FailureKind::Provider, 9, None, Some(900)), after(900)));
    }

    #[test]
    fn the_wait_doubles_from_the_third_failure_on() {
        let waits: Vec<Option<i64>> =
            (0..9).map(|count| not_before(&failures(count), 0).map(|at| at.0 - count)).collect();
        let seconds = |seconds: i64| Some(seconds * 1_000);
        assert_eq!(
            waits,
            [None, None, None, seconds(8), seconds(16), seconds(32), seconds(60), seconds(60), seconds(60)]
        );
        let most = not_before(&failures(3), 1_000).unwrap();
        assert_eq!(most.0 - 3, 10_000, "a quarter more at most");
    }

    #[test]
    fn what_worked_ends_the_row() {
        let mut runs = failures(5);
        runs.push(run(5, 6, None));
        assert_eq!(not_before(&runs, 0), None);
        runs.extend((7..=8).map(|at| run(at - 1, at, Some(FailureKind::Provider))));
        assert_eq!(not_before(&runs, 0), None, "only two since");
        let mut runs = failures(5);
        runs.push(run(5, 6, Some(FailureKind::Turns)));
        assert_eq!(not_before(&runs, 0), None, "it has answered");
        let mut runs = failures(3);
        runs.push(run(3, 4, Some(FailureKind::Argument)));
        assert!(not_before(&runs, 0).is_some(), "that says nothing of the provider");
    }

    #[test]
    fn a_limit_lasts_until_it_says() {
        let limit = |until: Option<i64>| EndedRun {
            until: until.map(Timestamp),
            ..run(0, 1_000, Some(FailureKind::Limit))
        };
        assert_eq!(not_before(&[limit(Some(90_000))], 7), Some(Timestamp(90_000)));
        assert_eq!(not_before(&[limit(None)], 7), Some(Timestamp(31_000)));
        let far = not_before(&[limit(Some(i64::MAX))], 7).unwrap();
        assert_eq!(far, Timestamp(1_000 + LONGEST_LIMIT));
        // A run that began before the limit shows nothing; one that began after it does.
        assert_eq!(not_before(&[limit(None), run(500, 2_000, None)], 7), Some(Timestamp(31_000)));
        assert_eq!(not_before(&[limit(None), run(1_000, 2_000, None)], 7), None);
    }

    proptest! {
        /// A greater `chance` waits longer, within a quarter; the order of the runs plays no part;
        /// no wait but a limit's is longer than it may be.
        #[test]
        fn waits_are_bounded(
            runs in proptest::collection::vec((0i64..5_000, 0i64..5_000, 0usize..8, proptest::option::of(0i64..90_000)), 0..30),
            chance in any::<u64>(),
        ) {
            const KINDS: [Option<FailureKind>; 8] = [
                None,
                Some(FailureKind::NotLoggedIn),
                Some(FailureKind::Limit),
                Some(FailureKind::Provider),
                Some(FailureKind::Turns),
                Some(FailureKind::Budget),
                Some(FailureKind::Argument),
                Some(FailureKind::Other),
            ];
            let mut runs: Vec<EndedRun> = runs
                .into_iter()
                .map(|(began, lasted, kind, until)| EndedRun {
                    until: until.map(Timestamp),
                    ..run(began, began + lasted, KINDS[kind])
                })
                .collect();
            let at = not_before(&runs, chance);
            let least = not_before(&runs, 0);
            prop_assert_eq!(at.is_some(), least.is_some());
            prop_assert!(at >= least);
            let last = runs.iter().map(|run| run.ended).max().unwrap_or_default();
            let limit = runs.iter().filter_map(|run| run.until).max().unwrap_or_default();
            let longest = LONGEST_WAIT + LONGEST_WAIT / 4;
            prop_assert!(at.is_none_or(|at| at <= last.plus(longest).max(limit)));
            runs.reverse();
            prop_assert_eq!(not_before(&runs, chance), at);
            let fails = runs.iter().filter(|run| tells(run.failure) == ProviderEvidence::Fails).count();
            let limits = runs.iter().filter(|run| run.failure == Some(FailureKind::Limit)).count();
            prop_assert!(at.is_none() || fails >= 3 || limits > 0);
        }

        #[test]
        fn parked_runs_come_one_by_one(limits in proptest::collection::vec(0i64..60_000, 1..50), stagger in 1i64..10_000) {
            let mut starts = Vec::new();
            for limit in limits {
                let start = staggered(Timestamp(limit), starts.clone(), stagger);
                prop_assert!(start.0 >= limit);
                starts.push(start);
            }
            starts.sort_unstable();
            prop_assert!(starts.windows(2).all(|pair| pair[1].since(pair[0]) >= stagger));
        }
    }
}
