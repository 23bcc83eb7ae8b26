//! Tests predictions under random steps, and trails as files.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::collections::BTreeSet;

use consort_core::Timestamp;
use consort_core::convergence::PredictionNote;
use consort_core::host::Clock as _;
use consort_core::journal::Actor;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::convergence_story;
use consort_testkit::messages_story;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;
use proptest::prelude::*;

fn app(temp: &tempfile::TempDir) -> StoryApp {
    StoryApp::new(Store::new(temp.path().join("consort.db"), StoreUser::Command))
}

#[derive(Clone, Debug)]
enum Step {
    Prompt(u32, String),
    FileVisit(u32, String, bool),
    Write(u32, u32),
    Leave(u32),
    Die(u32),
    Join(u32),
    Pass(i64),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = || 1..4_u32;
    let words =
        || proptest::collection::vec("cookie|harbour|meadow|lantern", 1..4).prop_map(|words| words.join(" "));
    let step = prop_oneof![
        8 => (who(), words()).prop_map(|(who, words)| Step::Prompt(who, words)),
        4 => (who(), "[ab]", any::<bool>()).prop_map(|(who, path, written)| Step::FileVisit(who, path, written)),
        1 => (who(), who()).prop_map(|(from, to)| Step::Write(from, to)),
        1 => who().prop_map(Step::Leave),
        1 => who().prop_map(Step::Die),
        2 => who().prop_map(Step::Join),
        1 => (0..90_i64).prop_map(Step::Pass),
        1 => Just(Step::Look),
    ];
    proptest::collection::vec(step, 1..80)
}

fn go(app: &mut StoryApp, step: &Step) {
    let name = |who: &u32| format!("s{who}");
    match step {
        Step::Prompt(who, words) => drop(convergence_story::prompt(app, &name(who), words)),
        Step::FileVisit(who, path, written) => {
            drop(convergence_story::visit(app, &name(who), path, *written))
        }
        Step::Write(from, to) => {
            app.host().set_caller_ancestors(&[*from]);
            let request = messages_story::request(app, &[&format!("Agent{to}")], "about the cookie");
            let _ = app.send(&request);
        }
        Step::Leave(who) => {
            let session = name(who);
            app.leave(&session.as_str().into(), LeaveReason::Ended, Actor::Agent(session.into())).unwrap();
        }
        Step::Die(who) => {
            app.host().kill(*who);
            store_story::who(app);
        }
        Step::Join(who) => {
            let wish = NameWish::Prefer(format!("Agent{who}"));
            store_story::join(app, &name(who), *who, wish).unwrap();
        }
        Step::Pass(minutes) => app.host().advance(minutes * Timestamp::MINUTE),
        Step::Look => drop(convergence_story::radar(app)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn two_have_at_most_one_open_prediction(steps in steps()) {
        let temp = tempfile::tempdir().unwrap();
        let mut app = app(&temp);
        for who in 1..4 {
            go(&mut app, &Step::Join(who));
        }
        for step in &steps {
            go(&mut app, step);
            let seen = convergence_story::radar(&mut app);
            let open: Vec<_> = seen.pairs.iter().filter_map(|pair| pair.prediction.clone()).collect();
            let pairs: BTreeSet<_> = open.iter().map(|open| open.pair.clone().map(|party| party.session)).collect();
            prop_assert_eq!(pairs.len(), open.len());
            let past = convergence_story::past(&mut app);
            prop_assert_eq!(seen.tally.all.total() as usize, past.len());
            // Hooks read the same as the store says.
            let note = app.engine_mut().side_files().radar("/shop/main".as_ref());
            let mut noted: Vec<PredictionNote> = note.unwrap().predictions;
            let mut stored: Vec<PredictionNote> = open.iter().chain(past.iter().take(30)).map(PredictionNote::from).collect();
            noted.sort_by_key(|note| note.id);
            stored.sort_by_key(|note| note.id);
            prop_assert!(stored.iter().all(|one| noted.contains(one)), "{noted:#?} {stored:#?}");
        }
        prop_assert!(app.journal_verify().unwrap().is_sound());
    }
}

#[test]
fn trails_survive_what_is_torn_and_odd() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app(&temp);
    store_story::join(&mut app, "s/../1", 1, NameWish::Any).unwrap();
    convergence_story::prompt(&mut app, "s/../1", "a\tb\nof\tanother\tproject cookie");
    convergence_story::visit(&mut app, "s/../1", "new\nline\tand %41", true);
    let (notes, session) = (app.engine_mut().side_files(), "s/../1".into());
    let trail = notes.trail(&session).unwrap();
    assert_eq!(trail.steps.len(), 1);
    assert_eq!(trail.steps[0].written[0].path, "new\nline\tand %41");
    // A line that was cut short is skipped, and the next one is whole.
    let mut sessions = std::fs::read_dir(temp.path().join("sessions")).unwrap().flatten();
    let file = sessions.find(|entry| entry.path().is_dir()).unwrap().path().join("log");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{whole}prompt\t12")).unwrap();
    assert_eq!(notes.trail(&session).unwrap(), trail);
    // The file stays small, however long the session works.
    for round in 0..40 {
        convergence_story::prompt(&mut app, "s/../1", &format!("prompt number{round}"));
        for visit in 0..40 {
            convergence_story::visit(
                &mut app,
                "s/../1",
                &format!("some/directory/file{visit}.rs"),
                visit % 2 == 0,
            );
        }
    }
    assert!(std::fs::metadata(&file).unwrap().len() < 50 << 10);
    assert_eq!(notes.trail(&session).unwrap().steps.len(), 10);
    // The trail outlives the session, and goes on when the session joins again.
    app.leave(&session, LeaveReason::Ended, Actor::Person).unwrap();
    assert!(!file.with_file_name("state").exists());
    assert!(notes.trail(&session).is_none());
    assert_eq!(notes.last_trail(&session).unwrap().steps.len(), 10);
    store_story::join(&mut app, "s/../1", 1, NameWish::Any).unwrap();
    assert_eq!(notes.trail(&session).unwrap().steps.len(), 10);
    notes.forget_prompts(None);
    assert!(notes.trail(&session).unwrap().steps.iter().all(|step| step.prompt.is_none()));
    app.leave(&session, LeaveReason::Ended, Actor::Person).unwrap();
    app.host().advance(1);
    notes.forget_trails(app.host().now());
    assert!(notes.last_trail(&session).is_none());
}
