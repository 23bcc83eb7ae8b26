//! Decides how soon a model should look at an agent again, and when a motionless screen is a stall. Pure.
//!
//! We look every second, which costs no token. The intervals are for models, whom a look costs a turn, and
//! they measure a stall: U is the upper interval for what the agent does. A screen unchanged for 2 U may be
//! a stall, one unchanged for 3 U is.

use std::time::Duration;

use super::PaneState;

/// The kind of work an agent does, which decides how soon its screen should change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// The agent has just been given a prompt.
    JustPrompted,
    Editing,
    /// The agent runs tests, or a build that scrolls.
    Testing,
    /// The agent runs a long compilation or an installation.
    Installing,
    /// Another agent works for the agent.
    Delegating,
    /// The agent reads and plans, or nothing else is known.
    Reading,
    /// The agent asks its user something.
    Asking,
    /// The CLI proposes the next prompt.
    Suggesting,
}

/// Shortest interval between looks that a model is ever given.
pub(super) const SHORTEST_INTERVAL: Duration = Duration::from_secs(10);

/// Interval between looks, and between remedies, while a stall is diagnosed.
pub(super) const DIAGNOSIS: Duration = Duration::from_secs(15);

/// Time for which a prompt counts as just given.
const JUST: Duration = Duration::from_secs(15);

impl WorkKind {
    pub const ALL: [Self; 8] = [
        Self::JustPrompted,
        Self::Editing,
        Self::Testing,
        Self::Installing,
        Self::Delegating,
        Self::Reading,
        Self::Asking,
        Self::Suggesting,
    ];

    /// Returns the shortest and the longest interval between two looks.
    pub fn interval(self) -> (Duration, Duration) {
        let (least, most) = match self {
            Self::JustPrompted => (10, 15),
            Self::Editing => (30, 45),
            Self::Testing => (60, 120),
            Self::Installing => (120, 180),
            Self::Delegating => (90, 120),
            Self::Reading => (45, 60),
            Self::Asking => (30, 30),
            Self::Suggesting => (15, 20),
        };
        (Duration::from_secs(least), Duration::from_secs(most))
    }

    /// Derives the kind of work from the agent's state, its current activity by hooks or screen, and the time since
    /// its prompt.
    pub fn of(state: PaneState, doing: &str, since_prompt: Duration) -> Self {
        if state == PaneState::Suggestion {
            return Self::Suggesting;
        }
        if state.has_menu() {
            return Self::Asking;
        }
        let doing = doing.to_lowercase();
        let is = |words: &[&str]| words.iter().any(|word| doing.contains(word));
        if is(&["npm i", "npm ci", "install", "cargo build", "compil", "docker build", "pnpm ", "yarn "]) {
            Self::Installing
        } else if is(&["task(", "agent(", "task:", "subagent", "background agent"]) {
            Self::Delegating
        } else if is(&["test", "build", "make", "clippy", "lint", "check"]) {
            Self::Testing
        } else if is(&["write", "edit", "update(", "apply_patch", "create", "replace"]) {
            Self::Editing
        } else if since_prompt < JUST {
            Self::JustPrompted
        } else {
            Self::Reading
        }
    }
}

/// The amount of change between one look and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Some lines are new.
    Some,
    /// More is new than fits on a screen.
    Much,
    /// Hardly anything is new, although the agent works.
    Little,
    /// The agent has stalled.
    Stalled,
}

/// Returns the time to wait before the next look; `last` is the interval before the look just taken.
pub fn next_interval(pace: WorkKind, last: Duration, difference: Difference) -> Duration {
    let (least, most) = pace.interval();
    let within = last.clamp(least, most);
    let next = match difference {
        Difference::Some => within,
        Difference::Much => (within * 2 / 3).max(least / 2),
        Difference::Little => (within * 5 / 4).min(most * 5 / 4),
        Difference::Stalled => DIAGNOSIS,
    };
    next.max(SHORTEST_INTERVAL)
}

/// The degree of certainty that an agent has stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StallCertainty {
    No,
    Potential,
    Confirmed,
}

/// Tells whether an agent has stalled whose screen has been the same for the time `unchanged`. `is_busy` says
/// that a process started by the agent computes, reads or writes.
pub(super) fn stall(state: PaneState, pace: WorkKind, unchanged: Duration, is_busy: bool) -> StallCertainty {
    if is_busy || !matches!(state, PaneState::Working | PaneState::Retrying) {
        return StallCertainty::No;
    }
    let (_, most) = pace.interval();
    if unchanged >= most * 3 {
        StallCertainty::Confirmed
    } else if unchanged >= most * 2 {
        StallCertainty::Potential
    } else {
        StallCertainty::No
    }
}

/// The next step to take about a stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallResponse {
    /// Only look again, more often.
    Watch,
    /// Look at the agent's processes, and take one action that the policy allows.
    Act,
    /// Let the person decide.
    Escalate,
    /// Do nothing more: the person was asked, and nothing has changed.
    Wait,
}

/// Number of actions about a stall before the person is asked.
pub(super) const MOST_STALL_ACTIONS: u32 = 3;

/// Returns the next step about a stall after `acts` actions, the last of which was `since_act` ago.
pub(super) fn triage(
    stall: StallCertainty,
    acts: u32,
    since_act: Duration,
    is_escalated: bool,
) -> StallResponse {
    match stall {
        StallCertainty::No | StallCertainty::Potential => StallResponse::Watch,
        StallCertainty::Confirmed if is_escalated => StallResponse::Wait,
        StallCertainty::Confirmed if acts > 0 && since_act < DIAGNOSIS => StallResponse::Watch,
        StallCertainty::Confirmed if acts < MOST_STALL_ACTIONS => StallResponse::Act,
        StallCertainty::Confirmed => StallResponse::Escalate,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pace() -> impl Strategy<Value = WorkKind> {
        proptest::sample::select(WorkKind::ALL.to_vec())
    }

    fn state() -> impl Strategy<Value = PaneState> {
        proptest::sample::select(PaneState::ALL.to_vec())
    }

    proptest! {
        #[test]
        fn nobody_is_told_to_look_under_the_floor(pace in pace(), last in 0u64..100_000, which in 0usize..4) {
            let difference = [Difference::Some, Difference::Much, Difference::Little, Difference::Stalled][which];
            let next = next_interval(pace, Duration::from_secs(last), difference);
            prop_assert!(next >= SHORTEST_INTERVAL);
            prop_assert!(next <= pace.interval().1 * 5 / 4 || next == DIAGNOSIS);
        }

        #[test]
        fn a_stall_only_grows_with_time_and_never_without_work(
            state in state(), pace in pace(), seconds in 0u64..2_000, more in 0u64..2_000, is_busy: bool,
        ) {
            let at = |seconds| stall(state, pace, Duration::from_secs(seconds), is_busy);
            prop_assert!(at(seconds) <= at(seconds + more));
            if is_busy || !matches!(state, PaneState::Working | PaneState::Retrying) {
                prop_assert_eq!(at(seconds), StallCertainty::No);
            } else {
                let most = pace.interval().1.as_secs();
                prop_assert_eq!(at(2 * most - 1), StallCertainty::No);
                prop_assert_eq!(at(2 * most), StallCertainty::Potential);
                prop_assert_eq!(at(3 * most - 1), StallCertainty::Potential);
                prop_assert_eq!(at(3 * most), StallCertainty::Confirmed);
            }
        }

        #[test]
        fn the_person_is_asked_after_three_acts_and_once(since in 0u64..100, escalated: bool) {
            let step = |acts| triage(StallCertainty::Confirmed, acts, Duration::from_secs(since), escalated);
            for acts in 0..10 {
                match step(acts) {
                    StallResponse::Escalate => prop_assert!(acts >= MOST_STALL_ACTIONS && !escalated),
                    StallResponse::Act => prop_assert!(acts < MOST_STALL_ACTIONS && !escalated && (acts == 0 || since >= 15)),
                    StallResponse::Wait => prop_assert!(escalated),
                    StallResponse::Watch => prop_assert!(!escalated && acts > 0 && since < 15),
                }
            }
        }
    }

    #[test]
    fn the_pace_follows_what_is_done() {
        let of = |doing| WorkKind::of(PaneState::Working, doing, Duration::from_secs(60));
        assert_eq!(of("Bash: cargo test"), WorkKind::Testing);
        assert_eq!(of("Bash: npm install"), WorkKind::Installing);
        assert_eq!(of("Edit src/lib.rs"), WorkKind::Editing);
        assert_eq!(of("Task(review)"), WorkKind::Delegating);
        assert_eq!(of("Read src/lib.rs"), WorkKind::Reading);
        assert_eq!(WorkKind::of(PaneState::Working, "", Duration::from_secs(3)), WorkKind::JustPrompted);
        assert_eq!(WorkKind::of(PaneState::Question, "Edit", Duration::ZERO), WorkKind::Asking);
    }
}
