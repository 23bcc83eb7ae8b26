//! Tests of the convergence rules: topics, trails, signals and domains, by examples and by properties.

use proptest::prelude::*;

use super::ConvergenceChange;
use super::Counters;
use super::Domains;
use super::FileVisit;
use super::Heading;
use super::KEPT_PROMPTS;
use super::PredictionNote;
use super::PredictionOutcome;
use super::ScoringContext;
use super::Signal;
use super::SignalKind;
use super::TopicSummary;
use super::Trail;
use super::TrailProfile;
use super::TrailStep;
use super::Trajectory;
use super::foresight::Foresight;
use super::foresight::Party;
use super::foresight::Sighting;
use super::rules;
use super::rules::LaterEvents;
use super::signals;
use super::trail::Marks;
use crate::Timestamp;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::presence::Agent;
use crate::presence::Location;
use crate::presence::SessionId;
use crate::project::Project;

fn steps(prompts: &[&str]) -> Vec<TrailStep> {
    let topics = |prompt: &&str| prompt.split_whitespace().map(str::to_owned).collect();
    let step = |(at, prompt)| TrailStep {
        at: Timestamp(at as i64 * 1_000),
        topics: topics(prompt),
        ..TrailStep::default()
    };
    prompts.iter().enumerate().map(step).collect()
}

fn trail(name: &str, prompts: &[&str]) -> Trail {
    Trail { session: name.into(), project: None, worktree: "/".into(), steps: steps(prompts) }
}

fn seen(one: &Trail, other: &Trail, files: bool) -> Vec<Signal> {
    let domains = Domains::parse("auth: jwt login; database: sql schema").unwrap();
    let scoring_context =
        ScoringContext { files, threshold: 0.35, domains: &domains, without: None, now: Timestamp(100_000) };
    signals(
        &TrailProfile::new(one, &scoring_context),
        &TrailProfile::new(other, &scoring_context),
        &scoring_context,
    )
}

#[test]
fn every_topic_has_one_heading() {
    let trajectory =
        Trajectory::of(&steps(&["auth db", "auth ui", "auth", "auth jwt", "auth jwt", "auth jwt ui"]));
    // `auth` is in all six prompts, as often early as late.
    assert_eq!(trajectory.stable, ["auth", "ui"]);
    assert_eq!(trajectory.emerging, ["jwt"]);
    assert_eq!(trajectory.fading, ["db"]);
    let growing = Trajectory::of(&steps(&["db", "auth", "auth", "auth", "auth"]));
    assert_eq!(growing.deepening, ["auth"]);
    assert_eq!(Trajectory::of(&steps(&["auth", "auth"])), Trajectory::default());
}

#[test]
fn the_four_signals_have_the_originals_confidences() {
    let deep = ["db", "auth jwt", "auth jwt", "auth jwt"];
    let [mutual, ..] = &seen(&trail("a", &deep), &trail("b", &deep), false)[..] else { panic!() };
    assert_eq!((mutual.kind, mutual.confidence, mutual.distance), (SignalKind::MutualDeepening, 0.8, 1));

    let stable = ["auth", "x", "auth", "y", "auth", "z"];
    let cross = seen(&trail("a", &deep), &trail("b", &stable), false);
    let cross = cross.iter().find(|signal| signal.kind == SignalKind::CrossApproach).unwrap();
    assert_eq!(
        (cross.confidence, cross.distance, cross.topics.as_slice()),
        (0.6, 3, &["auth".to_owned()][..])
    );

    let approaching = seen(&trail("a", &["cookie page"]), &trail("b", &["cookie page header"]), false);
    let [approaching] = &approaching[..] else { panic!() };
    assert_eq!((approaching.kind, approaching.confidence), (SignalKind::Approaching, 0.53));
    assert_eq!(approaching.distance, 5);
    assert!(seen(&trail("a", &["cookie page a1 b1"]), &trail("b", &["cookie header c1"]), false).is_empty());

    let near = seen(&trail("a", &["jwt", "jwt", "jwt"]), &trail("b", &["login", "login", "login"]), false);
    let [near] = &near[..] else { panic!() };
    assert_eq!((near.kind, near.confidence), (SignalKind::DomainProximity, 0.5));
    assert_eq!(near.domains, ["auth"]);
}

/// Makes a trail that visits files in its last step: path, `r` or `w`, and second.
fn visiting(name: &str, prompts: &[&str], visits: &[(&str, char, i64)]) -> Trail {
    let mut trail = trail(name, prompts);
    let last = trail.steps.last_mut().unwrap();
    for (path, how, at) in visits {
        let visit = FileVisit { path: (*path).to_owned(), at: Timestamp(at * 1_000) };
        if *how == 'w' { last.written.push(visit) } else { last.read.push(visit) }
    }
    trail
}

#[test]
fn who_turns_to_what_another_has_in_hand_is_about_to_meet_it() {
    let writer = visiting("a", &["one"], &[("src/auth.rs", 'w', 50)]);
    let settled = ["two", "three", "four"];
    let reader = visiting("b", &settled, &[("src/auth.rs", 'r', 60)]);
    let [signal] = &seen(&writer, &reader, true)[..] else { panic!() };
    assert_eq!((signal.kind, signal.confidence), (SignalKind::CrossApproach, 0.6));
    assert_eq!(signal.files, ["src/auth.rs"]);
    assert!(seen(&writer, &reader, false).is_empty());
    // A session that has just begun only looks around.
    let newcomer = visiting("c", &["two"], &[("src/auth.rs", 'r', 60)]);
    assert!(seen(&writer, &newcomer, true).is_empty());
    // But a file that another writes while the session looks at it counts, unless the session went on.
    let watching = visiting("d", &["two"], &[("src/auth.rs", 'r', 40)]);
    assert_eq!(seen(&writer, &watching, true).len(), 1);
    let went_on = visiting("e", &["two"], &[("src/auth.rs", 'r', 40), ("README", 'w', 45)]);
    assert!(seen(&writer, &went_on, true).is_empty());
    // A file that was written long ago does not count.
    let mut long_ago = writer.clone();
    long_ago.steps[0].written[0].at = Timestamp(-30 * Timestamp::MINUTE);
    assert!(seen(&long_ago, &reader, true).is_empty());
}

#[test]
fn words_count_less_where_the_files_are_apart() {
    let deep = ["db", "auth", "auth", "auth page header"];
    let one = visiting("a", &deep, &[("web/login.ts", 'w', 50)]);
    let guide = ["db", "auth", "auth", "auth chapter index"];
    let apart = visiting("b", &guide, &[("docs/login.md", 'w', 50)]);
    assert!(seen(&one, &apart, true).is_empty());
    assert_eq!(seen(&one, &apart, false)[0].kind, SignalKind::MutualDeepening);
    let together = visiting("c", &deep, &[("web/login.ts", 'w', 50)]);
    let found = seen(&one, &together, true);
    assert_eq!((found[0].confidence, found[0].files.as_slice()), (0.8, &["web/login.ts".to_owned()][..]));
}

#[test]
fn a_prediction_ends_by_what_happens_after_it() {
    let (made, later) = (Timestamp(0), Timestamp(Timestamp::HOUR));
    let verdict = |now, since: LaterEvents| rules::verdict(made, now, &since).map(|(outcome, _)| outcome);
    let at = |minutes: i64| Some((Timestamp(minutes * Timestamp::MINUTE), "x".to_owned()));
    let none = LaterEvents::default;
    assert_eq!(verdict(later, none()), None);
    assert_eq!(
        verdict(later, LaterEvents { both_worked_on: true, ..none() }),
        Some(PredictionOutcome::FalsePositive)
    );
    assert_eq!(verdict(made, LaterEvents { both_worked_on: true, ..none() }), None);
    assert_eq!(
        verdict(made, LaterEvents { left: Some("B".into()), ..none() }),
        Some(PredictionOutcome::Expired)
    );
    let met = LaterEvents { written: at(1), left: Some("B".into()), ..none() };
    assert_eq!(verdict(made, met), Some(PredictionOutcome::Occurred));
    assert_eq!(verdict(made, LaterEvents { spoken: at(1), ..none() }), Some(PredictionOutcome::Occurred));
    // The first event counts: a message after the collision prevents nothing.
    let agreed = LaterEvents { understanding: at(1), written: at(2), ..none() };
    assert_eq!(verdict(made, agreed), Some(PredictionOutcome::Prevented));
    let sorry = LaterEvents { understanding: at(3), written: at(2), ..none() };
    assert_eq!(verdict(made, sorry), Some(PredictionOutcome::Occurred));
}

#[test]
fn every_tenth_moves_the_threshold() {
    let after = |outcomes: &[(PredictionOutcome, usize)]| {
        let all = outcomes.iter().flat_map(|(outcome, times)| std::iter::repeat_n(*outcome, *times));
        all.fold(Counters::default(), Counters::with).threshold
    };
    use PredictionOutcome::*;
    assert_eq!(after(&[(FalsePositive, 9)]), 0.35);
    assert_eq!(after(&[(FalsePositive, 4), (Prevented, 6)]), 0.40);
    assert_eq!(after(&[(FalsePositive, 3), (Prevented, 6), (Occurred, 1)]), 0.35);
    assert_eq!(after(&[(Occurred, 2), (Prevented, 8)]), 0.33);
    // Too many false positives outweigh collisions that occurred.
    assert_eq!(after(&[(Occurred, 6), (FalsePositive, 4)]), 0.40);
    assert_eq!(after(&[(FalsePositive, 1_000)]), 0.70);
    assert_eq!(after(&[(Occurred, 1_000)]), 0.15);
}

#[test]
fn domains_are_learned_and_fade() {
    let domains = Domains::parse("auth: jwt login").unwrap();
    let taught = steps(&["jwt keycloak", "login keycloak", "jwt keycloak", "sql"]);
    let learned = super::learn(&taught, &domains, &[], Timestamp(0));
    let counts: Vec<_> = super::established(&learned, Timestamp(0))
        .map(|one| (one.topic.as_str(), one.domain.as_str()))
        .collect();
    assert_eq!(counts, [("keycloak", "auth")]);
    let month = Timestamp(28 * Timestamp::DAY);
    let faded = super::learn(&steps(&["jwt passkey"]), &domains, &learned, month);
    assert_eq!(super::established(&faded, month).count(), 0);
    assert_eq!(super::established(&learned, month).count(), 0, "without a new lesson too");
    assert!(faded.iter().all(|one| one.topic == "passkey"), "{faded:?}");
    assert_eq!(Domains::parse("auth jwt").unwrap_err(), "auth jwt");
}

fn any_steps() -> impl Strategy<Value = Vec<TrailStep>> {
    let topics = || proptest::collection::vec("[a-e]", 0..4);
    let visits = || proptest::collection::vec(("[a-e]", 0_i64..200), 0..3);
    let step = (topics(), visits(), visits()).prop_map(|(topics, read, written)| {
        let visit = |(path, at): (String, i64)| FileVisit { path, at: Timestamp(at * 1_000) };
        let (read, written) =
            (read.into_iter().map(visit).collect(), written.into_iter().map(visit).collect());
        TrailStep { topics, read, written, ..TrailStep::default() }
    });
    proptest::collection::vec(step, 0..=KEPT_PROMPTS)
}

proptest! {
    #[test]
    fn headings_part_the_topics(steps in any_steps()) {
        let Trajectory { deepening, emerging, fading, stable } = Trajectory::of(&steps);
        let mut parts: Vec<String> = [deepening, emerging, fading, stable].concat();
        parts.sort();
        let mut all: Vec<String> = steps.iter().flat_map(|step| step.topics.clone()).collect();
        all.sort();
        all.dedup();
        prop_assert_eq!(parts, if steps.len() < 3 { Vec::new() } else { all });
    }

    #[test]
    fn what_is_only_of_late_never_fades(steps in any_steps()) {
        let marks = Marks::new(&TopicSummary::of_steps(&steps));
        for mark in &marks.all {
            let is_recent = steps.iter().rev().take(3).any(|step| step.topics.iter().any(|topic| topic == mark.name));
            prop_assert_eq!(marks.heading(mark) == Some(Heading::Fading), steps.len() >= 3 && !is_recent);
        }
    }

    #[test]
    fn signals_are_bounded_and_the_same_from_both_sides(
        one in any_steps(),
        other in any_steps(),
        files: bool,
    ) {
        let trail = |name: &str, steps| Trail { session: name.into(), project: None, worktree: "/".into(), steps };
        let (one, other) = (trail("a", one), trail("b", other));
        let mut found = seen(&one, &other, files);
        prop_assert!(found.iter().all(|signal| (0.0..=1.0).contains(&signal.confidence)));
        prop_assert!(found.is_sorted_by(|a, b| a.confidence >= b.confidence));
        let mut back = seen(&other, &one, files);
        for signals in [&mut found, &mut back] {
            signals.sort_by_key(|signal| signal.kind);
            signals.iter_mut().for_each(|signal| signal.files.sort());
        }
        prop_assert_eq!(found, back);
    }

    #[test]
    fn the_threshold_stays_in_its_bounds(outcomes in proptest::collection::vec(0..4_usize, 0..400)) {
        let all = [PredictionOutcome::Prevented, PredictionOutcome::Occurred, PredictionOutcome::FalsePositive, PredictionOutcome::Expired];
        let mut tally = Counters::default();
        for (at, outcome) in outcomes.iter().enumerate() {
            let next = tally.with(all[*outcome]);
            prop_assert!((0.15..=0.70).contains(&next.threshold));
            prop_assert_eq!(next.all.total() as usize, at + 1);
            let round = { let mut round = tally; round.threshold = 0.5; round.with(all[*outcome]) };
            if next.round.total() != 0 {
                prop_assert_eq!(next.threshold, tally.threshold);
            } else if round.threshold > 0.5 {
                prop_assert!(next.threshold >= tally.threshold);
            } else {
                prop_assert!(next.threshold <= tally.threshold);
            }
            tally = next;
        }
    }
}

fn party(session: &SessionId) -> Party {
    let location = Location {
        machine: "m".into(),
        process: Default::default(),
        cwd: "/p".into(),
        worktree: "/p".into(),
        terminal: Default::default(),
        spec_file: None,
    };
    let agent = Agent {
        session: session.clone(),
        name: session.as_str().into(),
        kind: "claude".into(),
        project: Project { id: "p".into(), name: "p".into() },
        branch: None,
        model: None,
        joined_at: Timestamp(0),
        spec: None,
        location,
    };
    Party { agent, listens: true }
}

proptest! {
    /// A signal that is found repeatedly makes one prediction while that is open, and no session is told of
    /// too many.
    #[test]
    fn what_is_open_is_no_news(
        found in proptest::collection::vec((0_u8..5, 0_u8..5, 0_usize..4, "[a-c]"), 1..20),
    ) {
        let sessions: Vec<SessionId> = (0..5).map(|number| format!("s{number}").into()).collect();
        let sightings = || {
            let apart = found.iter().filter(|(one, other, ..)| one != other);
            let sighting = |(one, other, kind, topic): &(u8, u8, usize, String)| Sighting {
                pair: rules::pair(&sessions[usize::from(*one)], &sessions[usize::from(*other)]),
                signal: Signal {
                    kind: SignalKind::ALL[*kind],
                    confidence: 0.9,
                    distance: 1,
                    topics: vec![topic.clone()],
                    files: Vec::new(),
                    domains: Vec::new(),
                },
            };
            apart.map(sighting).collect::<Vec<Sighting>>()
        };
        let mut known: Vec<PredictionNote> = Vec::new();
        let mut told = std::collections::BTreeMap::<String, usize>::new();
        for (round, sighting) in sightings().into_iter().chain(sightings()).enumerate() {
            let entry = EntryId([u8::try_from(round).unwrap(); 16]);
            let (now, next) = (Timestamp(1), 1);
            let foresight = Foresight {
                project: &"p".into(), now, entry, before: 0, next, open: Vec::new(), known: known.clone(),
                parties: sessions.iter().map(|session| (session.clone(), party(session))).collect(), me: None,
            };
            let (pair, kind) = (sighting.pair.clone(), sighting.signal.kind);
            let topics = sighting.signal.topics.clone();
            let (_, changes) = foresight.decide(vec![sighting]);
            for (place, change) in changes.iter().enumerate() {
                let id = ChangeId { entry, place: u16::try_from(place).unwrap() };
                let Change::Convergence(ConvergenceChange::Predicted { again, .. }) = change else {
                    let Change::Messages(crate::messages::MessageChange::Sent(sent)) = change else { continue };
                    *told.entry(format!("{:?}", sent.to[0].who)).or_default() += 1;
                    continue;
                };
                known.retain(|note| Some(note.id) != *again);
                let (pair, topics) = (pair.clone(), topics.clone());
                let id = again.unwrap_or(id);
                known.push(PredictionNote { id, at: now, kind, pair, topics, files: Vec::new(), ended: None });
            }
            let mut pairs: Vec<_> = known.iter().map(|note| &note.pair).collect();
            pairs.sort();
            pairs.dedup();
            prop_assert_eq!(pairs.len(), known.len(), "one open prediction for two");
        }
        // A session is told of at most three predictions, once for each kind of signal that is worth telling.
        prop_assert!(told.values().all(|count| *count <= 3 * 3), "{:?}", told);
    }
}
