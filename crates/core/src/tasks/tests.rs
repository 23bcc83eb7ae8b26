//! Property tests of the task rules: in any order of requests, a task belongs to one agent at most.

use proptest::prelude::*;

use super::board::Board;
use super::board::holder;
use super::*;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence::Agent;
use crate::presence::Location;
use crate::project::Project;

const SPEC: &str = "## T-1: a\n## T-2: b\n- depends: T-1\n## T-3: c\n";
const NOW: Timestamp = Timestamp(1_000);

#[derive(Clone, Debug)]
enum Verb {
    Claim { who: u8, id: Option<u8> },
    Unclaim { who: u8, id: Option<u8> },
    Complete { who: u8, id: Option<u8>, claimed_under: Option<i64>, take_anyway: bool },
    Leave { who: u8 },
}

fn verb() -> impl Strategy<Value = Verb> {
    let id = || proptest::option::of(1u8..4);
    prop_oneof![
        4 => (0u8..3, id()).prop_map(|(who, id)| Verb::Claim { who, id }),
        2 => (0u8..3, id()).prop_map(|(who, id)| Verb::Unclaim { who, id }),
        3 => (0u8..3, id(), proptest::option::of(0i64..4), any::<bool>()).prop_map(
            |(who, id, claimed_under, take_anyway)| Verb::Complete { who, id, claimed_under, take_anyway }
        ),
        1 => (0u8..3).prop_map(|who| Verb::Leave { who }),
    ]
}

fn agent(who: u8) -> Agent {
    Agent {
        session: format!("s{who}").into(),
        name: format!("a{who}").into(),
        kind: "test".into(),
        project: Project { id: "p".into(), name: "p".into() },
        branch: None,
        model: None,
        joined_at: NOW,
        spec: None,
        location: Location {
            machine: "m".into(),
            process: Default::default(),
            cwd: "/p".into(),
            worktree: "/p".into(),
            terminal: Default::default(),
            spec_file: None,
        },
    }
}

/// A simulated store that only applies changes.
#[derive(Default)]
struct World {
    records: Vec<TaskRecord>,
    gone: Vec<u8>,
    given: i64,
}

impl World {
    fn board(&self, who: u8) -> Board {
        let is_gone = |record: &TaskRecord| {
            let gone = |who: &u8| holder(record) == Some(Actor::Agent(agent(*who).session));
            self.gone.iter().any(gone)
        };
        let in_hand = self.records.iter().filter(|record| holder(record).is_some()).cloned();
        let (gone, claimed) = in_hand.partition(is_gone);
        let spec = SpecRef { project: Some("p".into()), path: "spec.md".into() };
        Board::new(Some(agent(who)), spec, spec::read(SPEC), self.records.clone(), claimed, gone)
    }

    fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            let Change::Tasks(change) = change else { panic!("{change:?}") };
            let former = self.records.iter().position(|record| record.key == *change.key());
            let former = former.map(|at| self.records.remove(at));
            assert!(!matches!(&former, Some(TaskRecord { state: TaskState::Done(_), .. })), "it was done");
            let before = former.as_ref().map_or(0, |record| record.generation);
            let (state, generation) = match &change {
                TaskChange::Claimed { worker, .. } => {
                    assert!(former.as_ref().and_then(holder).is_none(), "it was in somebody's hands");
                    (TaskState::Claimed(worker.clone()), None)
                }
                TaskChange::Freed { worker, .. } => {
                    (TaskState::Free { last: Some((worker.clone(), before)) }, None)
                }
                TaskChange::Completed { worker, .. } => (TaskState::Done(worker.clone()), Some(before)),
            };
            let generation = generation.unwrap_or_else(|| {
                self.given += 1;
                self.given
            });
            self.records.push(TaskRecord { key: change.key().clone(), state, generation });
        }
    }

    fn carry_out(&mut self, verb: &Verb) {
        let name = |id: &Option<u8>| id.map(|id| format!("T-{id}"));
        let decided = match verb {
            Verb::Leave { who } => return self.gone.push(*who),
            Verb::Claim { who, .. } | Verb::Unclaim { who, .. } | Verb::Complete { who, .. }
                if self.gone.contains(who) =>
            {
                return;
            }
            Verb::Claim { who, id } => self.board(*who).claim(name(id).as_deref(), None, NOW),
            Verb::Unclaim { who, id } => self.board(*who).unclaim(name(id).as_deref()),
            Verb::Complete { who, id, claimed_under, take_anyway } => {
                let id = name(id);
                self.board(*who).complete(id.as_deref(), *claimed_under, *take_anyway, None, NOW)
            }
        };
        if let Ok(decided) = decided {
            self.apply(decided.changes);
        }
    }
}

proptest! {
    #[test]
    fn a_task_has_one_worker_a_worker_one_task_and_what_is_done_stays_done(
        verbs in proptest::collection::vec(verb(), 1..40),
    ) {
        let mut world = World::default();
        for verb in &verbs {
            world.carry_out(verb);
            let mut holders: Vec<Actor> = world.records.iter().filter_map(holder).collect();
            let all = holders.len();
            holders.sort();
            holders.dedup();
            prop_assert_eq!(holders.len(), all, "a worker has one task at most");
            let is_taken = |id: &str| world.records.iter().any(|record| {
                record.key.id == id && !matches!(record.state, TaskState::Free { .. })
            });
            let is_done = |id: &str| world.records.iter().any(|record| {
                record.key.id == id && matches!(record.state, TaskState::Done(_))
            });
            let was_anyway = verbs.iter().any(|verb| matches!(verb, Verb::Complete { take_anyway: true, .. }));
            prop_assert!(!is_taken("T-2") || is_done("T-1") || was_anyway, "it waits for another");
        }
    }
}
