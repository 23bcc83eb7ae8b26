//! Property tests of the claims rules: whatever is asked in whatever order, no two agents hold
//! the same resource exclusively.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::claims::ClaimChange;
use crate::claims::ClaimError;
use crate::claims::HoldKey;
use crate::journal::Change;
use crate::messages::MessageChange;
use crate::presence::Agent;
use crate::presence::Location;
use crate::presence::NotAllowed;
use crate::presence::SessionId;
use crate::project::Project;

const SECONDS: i64 = 60;
const PATHS: [&str; 6] = ["src/", "src/auth/", "src/*.rs", "src/main.rs", "docs/a.md", "**/a.md"];

#[derive(Clone, Debug)]
enum Verb {
    Hold { who: u8, what: Vec<usize>, shared: bool, blocking: bool, ttl: Option<i64> },
    Release { who: u8, what: Option<usize>, force: bool },
    Contest { who: u8, what: usize },
    Leave { who: u8 },
    Wait { seconds: i64 },
}

fn verb() -> impl Strategy<Value = Verb> {
    let what = || 0..PATHS.len();
    let ttl = proptest::option::of(1i64..100_000);
    prop_oneof![
        5 => (0u8..4, proptest::collection::vec(what(), 1..3), any::<bool>(), any::<bool>(), ttl)
            .prop_map(|(who, what, shared, blocking, ttl)| Verb::Hold { who, what, shared, blocking, ttl }),
        3 => (0u8..4, proptest::option::of(what()), any::<bool>())
            .prop_map(|(who, what, force)| Verb::Release { who, what, force }),
        3 => (0u8..4, what()).prop_map(|(who, what)| Verb::Contest { who, what }),
        1 => (1u8..4).prop_map(|who| Verb::Leave { who }),
        1 => (1i64..100).prop_map(|seconds| Verb::Wait { seconds }),
    ]
}

/// Makes an asker; zero is the person.
fn asker(who: u8) -> Asker {
    let actor = if who == 0 { Actor::Person } else { Actor::Agent(session(who)) };
    let name = format!("a{who}");
    Asker { actor, label: name, machine: "m".into(), worktree: None, project: None }
}

fn session(who: u8) -> SessionId {
    format!("s{who}").into()
}

fn agent(who: u8) -> Agent {
    Agent {
        session: session(who),
        name: format!("a{who}").into(),
        kind: "test".into(),
        project: Project { id: "p".into(), name: "p".into() },
        branch: None,
        model: None,
        joined_at: Timestamp(0),
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

fn resource(what: usize) -> ParsedResource {
    let pattern = Pattern::new(PATHS[what]).unwrap();
    ParsedResource { project: Some("p".into()), resource: Resource::Paths(pattern), worktree: None }
}

/// A store that applies changes, and does no more.
struct World {
    holds: Vec<Hold>,
    here: Vec<u8>,
    now: Timestamp,
    granted: i64,
}

impl World {
    fn live(&self) -> LiveHolds {
        let agents: BTreeMap<SessionId, Agent> =
            self.here.iter().map(|who| (session(*who), agent(*who))).collect();
        LiveHolds::of(self.holds.clone(), agents, self.now)
    }

    fn apply(&mut self, changes: Vec<Change>) {
        for change in changes {
            match change {
                Change::Claims(ClaimChange::Held(hold)) => {
                    self.holds.retain(|known| known.key() != hold.key());
                    let mut hold = *hold;
                    if hold.generation == 0 {
                        self.granted += 1;
                        hold.generation = self.granted;
                    }
                    self.holds.push(hold);
                }
                Change::Claims(ClaimChange::Contested { key, contest }) => {
                    for hold in self.holds.iter_mut().filter(|hold| hold.key() == key) {
                        hold.contest = Some(contest.clone());
                    }
                }
                Change::Claims(ClaimChange::Released { key, .. }) => {
                    self.holds.retain(|hold| hold.key() != key);
                }
                Change::Messages(MessageChange::Sent(sent)) => {
                    assert!(sent.to.iter().all(|to| to.who != sent.from.who), "nobody writes to itself");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn carry_out(&mut self, verb: &Verb) {
        let (live, now, case) = (self.live(), self.now, Case::Matters);
        match verb {
            Verb::Hold { who, what, shared, blocking, ttl } => {
                let asked: Vec<ParsedResource> = what.iter().map(|what| resource(*what)).collect();
                let strength = if *blocking { Strength::Blocking } else { Strength::Advisory };
                let mode = if *shared { HoldMode::Shared } else { HoldMode::Exclusive };
                let terms = Terms { strength, mode, reason: None, ttl: *ttl };
                match hold(&live, &asker(*who), &asked, &terms, case, now) {
                    Ok((holds, changes)) => {
                        assert_eq!(holds.len(), asked.len(), "all of it");
                        self.apply(changes);
                    }
                    Err(conflicts) => {
                        assert!(conflicts.iter().all(|hold| hold.holder != asker(*who).actor));
                    }
                }
            }
            Verb::Release { who, what, force } => {
                let wanted = match what {
                    None => HoldSelector::Mine,
                    Some(what) => HoldSelector::These(vec![(PATHS[*what].into(), vec![resource(*what)])]),
                };
                // The person has not confirmed: only contested holds can be taken.
                let right = ForceRight { force: *force, confirmed: Err(NotAllowed::NotConfirmed) };
                let asker = asker(*who);
                let contested: Vec<HoldKey> = live
                    .holds
                    .iter()
                    .filter(|hold| hold.contest.as_ref().is_some_and(|contest| contest.until <= now))
                    .map(Hold::key)
                    .collect();
                if let Ok((released, changes)) = release(&live, &asker, &wanted, None, &right, case, now) {
                    for hold in released.iter().filter(|hold| live.holds.contains(hold)) {
                        let may = hold.holder == asker.actor || contested.contains(&hold.key());
                        assert!(may, "{hold:?} is another's");
                    }
                    self.apply(changes);
                    assert!(released.iter().all(|hold| !self.holds.contains(hold)));
                }
            }
            Verb::Contest { who, what } => {
                let want = Want {
                    typed: PATHS[*what],
                    meant: vec![resource(*what)],
                    reason: None,
                    seconds: SECONDS,
                };
                match contest(&live, &asker(*who), &want, case, now) {
                    Ok((hold, changes)) => {
                        assert!(hold.holder != asker(*who).actor && hold.contest.is_some());
                        self.apply(changes);
                    }
                    Err(ClaimError::NotHeld { .. } | ClaimError::Yours { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Verb::Leave { who } => self.here.retain(|here| here != who),
            Verb::Wait { seconds } => self.now = now.plus(seconds * Timestamp::SECOND),
        }
    }

    fn check(&self) {
        let live = self.live().holds;
        for (n, one) in live.iter().enumerate() {
            for other in &live[n + 1..] {
                let (Some(a), Some(b)) = (one.resource.pattern(), other.resource.pattern()) else { continue };
                let both_share = one.mode == HoldMode::Shared && other.mode == HoldMode::Shared;
                let is_one = one.holder == other.holder;
                assert!(is_one || both_share || !a.overlaps(b, Case::Matters), "{one:?} and {other:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_two_that_live_hold_the_same_unless_both_share_it(
        verbs in proptest::collection::vec(verb(), 1..40),
    ) {
        let mut world = World { holds: Vec::new(), here: vec![1, 2, 3], now: Timestamp(1_000_000), granted: 0 };
        for verb in &verbs {
            world.carry_out(verb);
            world.check();
        }
    }

    /// Two verbs that decided on the same facts are put in order: the second decides again.
    #[test]
    fn who_comes_second_decides_again_and_is_refused_or_harmless(
        before in proptest::collection::vec(verb(), 0..10),
        one in verb(),
        other in verb(),
    ) {
        let mut world = World { holds: Vec::new(), here: vec![1, 2, 3], now: Timestamp(1_000_000), granted: 0 };
        before.iter().for_each(|verb| world.carry_out(verb));
        world.carry_out(&one);
        world.carry_out(&other);
        world.check();
        let granted: Vec<i64> = world.holds.iter().map(|hold| hold.generation).collect();
        let distinct: std::collections::BTreeSet<&i64> = granted.iter().collect();
        prop_assert_eq!(distinct.len(), granted.len(), "a token is given once");
    }
}
