//! Decides for a batch of runs which of its tasks start now, which are stopped and which never
//! start.

use serde::Serialize;

use super::Cost;
use crate::Timestamp;

/// The most tasks that a batch may have.
pub const MOST_TASKS: usize = 1_000;

/// Number of runs at once, unless set otherwise.
pub const CONCURRENCY: usize = 4;

/// Milliseconds from the start of one run to the start of the next, unless set otherwise.
pub const STAGGER: i64 = 150;

/// Tasks that run side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub tasks: Vec<BatchTask>,
}

/// One task of a batch, with its own options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchTask {
    pub task: String,
    pub role: Option<String>,
    pub cli: Option<String>,
    pub model: Option<String>,
    pub worktree: bool,
    pub timeout_s: Option<u64>,
    pub budget_usd: Option<Cost>,
}

/// Tells whether a word that should be a task is rather the name of a file of tasks: one word, with
/// a slash or with the ending of such a file.
pub fn looks_like_file(word: &str) -> bool {
    let has_ending = [".txt", ".md", ".toml", ".json"].iter().any(|ending| word.ends_with(ending));
    !word.contains(char::is_whitespace) && (word.contains('/') || has_ending)
}

/// The effect of one failed task on the others of its batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// No more tasks start, and those that run are stopped.
    Stop,
    /// The other tasks go on.
    #[default]
    Continue,
    /// The other tasks go on until the batch's deadline; then no more start, and those that run are
    /// stopped.
    Deadline,
}

impl OnFailure {
    pub const ALL: [Self; 3] = [Self::Stop, Self::Continue, Self::Deadline];

    /// Returns the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Continue => "continue",
            Self::Deadline => "deadline",
        }
    }

    /// Finds the variant by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// The progress of one task of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchTaskState {
    Waiting,
    Running,
    Done,
    /// The task failed, timed out, was refused or ran out of money.
    Failed,
    /// The task was stopped, or never started.
    Cancelled,
}

impl BatchTaskState {
    fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// The rules that a batch is run by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchPolicy {
    pub concurrency: usize,
    /// Milliseconds between two starts.
    pub stagger: i64,
    pub on_failure: OnFailure,
    /// Time at which the batch must be over. Only [`OnFailure::Deadline`] looks at it.
    pub deadline: Option<Timestamp>,
}

impl Default for BatchPolicy {
    fn default() -> Self {
        let on_failure = OnFailure::default();
        Self { concurrency: CONCURRENCY, stagger: STAGGER, on_failure, deadline: None }
    }
}

/// The next steps of a batch. Tasks are named by their index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchStep {
    pub start: Vec<usize>,
    /// Tasks that run and are to be ended.
    pub stop: Vec<usize>,
    /// Tasks that will never start.
    pub cancel: Vec<usize>,
    /// The time to ask again, if nothing happens before.
    pub again_at: Option<Timestamp>,
    /// Whether nothing runs and nothing will.
    pub is_over: bool,
}

/// Decides the next steps of a batch whose tasks are in these states, and of which a task was last
/// started at `last_start`.
pub fn batch_step(
    policy: &BatchPolicy,
    states: &[BatchTaskState],
    last_start: Option<Timestamp>,
    now: Timestamp,
) -> BatchStep {
    let in_state = |wanted: BatchTaskState| {
        states.iter().enumerate().filter(move |(_, state)| **state == wanted).map(|(at, _)| at)
    };
    let deadline = policy.deadline.filter(|_| policy.on_failure == OnFailure::Deadline);
    let has_failed = states.contains(&BatchTaskState::Failed);
    let is_ended = match policy.on_failure {
        OnFailure::Stop => has_failed,
        OnFailure::Continue => false,
        OnFailure::Deadline => deadline.is_some_and(|deadline| now >= deadline),
    };
    if is_ended {
        let stop: Vec<usize> = in_state(BatchTaskState::Running).collect();
        let is_over = stop.is_empty();
        return BatchStep {
            stop,
            cancel: in_state(BatchTaskState::Waiting).collect(),
            is_over,
            ..BatchStep::default()
        };
    }
    // A batch that is allowed nothing at once would never end.
    let room = policy.concurrency.max(1).saturating_sub(in_state(BatchTaskState::Running).count());
    let stagger = policy.stagger.max(0);
    let next_start = last_start.map_or(now, |last| last.plus(stagger));
    // A clock that was set back must not delay a start by more than `stagger`.
    let is_early = now < next_start && next_start <= now.plus(stagger);
    let at_once = if is_early {
        0
    } else if stagger == 0 {
        room
    } else {
        room.min(1)
    };
    let start: Vec<usize> = in_state(BatchTaskState::Waiting).take(at_once).collect();
    let has_more = room > start.len() && in_state(BatchTaskState::Waiting).count() > start.len();
    let next = has_more.then(|| if is_early { next_start } else { now.plus(stagger) });
    BatchStep {
        again_at: next.into_iter().chain(deadline).min(),
        is_over: states.iter().all(|state| state.is_over()),
        start,
        ..BatchStep::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::BatchTaskState::*;
    use super::*;

    fn step(policy: &BatchPolicy, states: &[BatchTaskState], last: Option<i64>, now: i64) -> BatchStep {
        batch_step(policy, states, last.map(Timestamp), Timestamp(now))
    }

    #[test]
    fn names_of_files_are_told_from_tasks() {
        for name in ["/nonexistent/tasks.txt", "tasks.txt", "a/b", "plan.md", "batch.toml", "x.json"] {
            assert!(looks_like_file(name), "{name}");
        }
        for task in ["test", "fix a/b", "read tasks.txt", "write\tnotes.md", "", "v1.2"] {
            assert!(!looks_like_file(task), "{task}");
        }
    }

    #[test]
    fn starts_are_staggered() {
        let policy = BatchPolicy::default();
        let first = step(&policy, &[Waiting; 3], None, 1_000);
        assert_eq!((first.start, first.again_at), (vec![0], Some(Timestamp(1_150))));
        let early = step(&policy, &[Running, Waiting, Waiting], Some(1_000), 1_100);
        assert_eq!((early.start, early.again_at), (vec![], Some(Timestamp(1_150))));
        assert_eq!(step(&policy, &[Running, Waiting, Waiting], Some(1_000), 1_150).start, [1]);
        let at_once = BatchPolicy { stagger: 0, concurrency: 2, ..policy };
        assert_eq!(step(&at_once, &[Waiting; 3], None, 0).start, [0, 1]);
        // The clock was set back by an hour.
        assert_eq!(step(&policy, &[Running, Waiting], Some(3_600_000), 0).start, [1]);
    }

    #[test]
    fn what_one_failure_does_to_the_others() {
        let states = [Failed, Running, Waiting];
        let of =
            |on_failure| BatchPolicy { on_failure, deadline: Some(Timestamp(100)), ..Default::default() };
        let stopped = step(&of(OnFailure::Stop), &states, Some(0), 10);
        assert_eq!((stopped.start, stopped.stop, stopped.cancel), (vec![], vec![1], vec![2]));
        assert!(!stopped.is_over);
        assert!(step(&of(OnFailure::Stop), &[Failed, Cancelled, Waiting], Some(0), 10).is_over);
        assert_eq!(step(&of(OnFailure::Continue), &states, Some(0), 1_000).start, [2]);
        let before = step(&of(OnFailure::Deadline), &states, Some(-500), 10);
        assert_eq!((before.start, before.again_at), (vec![2], Some(Timestamp(100))));
        let after = step(&of(OnFailure::Deadline), &states, Some(0), 100);
        assert_eq!((after.start, after.stop, after.cancel), (vec![], vec![1], vec![2]));
    }

    /// Generates the tasks of a simulated batch: the length of each, and whether it fails.
    fn tasks() -> impl Strategy<Value = Vec<(i64, bool)>> {
        proptest::collection::vec((0i64..600, proptest::bool::weighted(0.2)), 1..20)
    }

    proptest! {
        /// Plays a batch to its end: never too many tasks at once, never too close together, every
        /// task is over, and the batch ends.
        #[test]
        fn a_batch_ends_and_keeps_its_limits(
            tasks in tasks(), concurrency in 0usize..6, stagger in 0i64..200, mode in 0usize..3,
        ) {
            let on_failure = OnFailure::ALL[mode];
            let policy = BatchPolicy { concurrency, stagger, on_failure, deadline: Some(Timestamp(900)) };
            let mut states = vec![Waiting; tasks.len()];
            let (mut began, mut last, mut now) = (vec![0i64; tasks.len()], None, 0i64);
            for round in 0.. {
                prop_assert!(round < 5_000, "it goes on for ever: {:?}", states);
                for at in 0..tasks.len() {
                    if states[at] == Running && now >= began[at] + tasks[at].0 {
                        states[at] = if tasks[at].1 { Failed } else { Done };
                    }
                }
                let step = batch_step(&policy, &states, last.map(Timestamp), Timestamp(now));
                for at in &step.start {
                    prop_assert_eq!(states[*at], Waiting);
                    prop_assert!(last.is_none_or(|last| now - last >= stagger));
                    (states[*at], began[*at]) = (Running, now);
                }
                last = if step.start.is_empty() { last } else { Some(now) };
                for at in &step.stop {
                    prop_assert_eq!(states[*at], Running);
                    states[*at] = Cancelled;
                }
                step.cancel.iter().for_each(|at| states[*at] = Cancelled);
                let running = states.iter().filter(|state| **state == Running).count();
                prop_assert!(running <= concurrency.max(1));
                if step.is_over {
                    break;
                }
                // Goes on to the next end of a run, or to the time at which the batch has asked to
                // be looked at.
                let ends = (0..tasks.len()).filter(|at| states[*at] == Running);
                let ends = ends.map(|at| began[at] + tasks[at].0);
                let next = ends.chain(step.again_at.map(|at| at.0)).filter(|at| *at > now).min();
                now = next.unwrap_or(now + 1);
            }
            prop_assert!(states.iter().all(|state| state.is_over()));
            let has_failed = states.contains(&Failed);
            if on_failure == OnFailure::Continue || on_failure == OnFailure::Stop && !has_failed {
                prop_assert!(!states.contains(&Cancelled));
            }
            if on_failure == OnFailure::Deadline {
                prop_assert!(now <= 901, "{}", now);
            }
        }
    }
}
