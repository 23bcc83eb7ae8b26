//! Tests claims under random steps, on a real store.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::Extent;
use consort_core::claims::HoldMode;
use consort_core::claims::Pattern;
use consort_core::claims::PendingWrite;
use consort_core::claims::Strength;
use consort_core::claims::Verdict;
use consort_core::journal::Actor;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::claims_story;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;
use proptest::prelude::*;

const WHAT: &[&str] = &[
    "src/",
    "src/auth/",
    "src/auth/login.rs",
    "src/**/*.rs",
    "*.md",
    "README.md",
    "file:src/auth/login.rs",
    "topic:auth",
    "src/{auth,api}/x",
];

#[derive(Clone, Debug)]
enum Step {
    Hold { who: u32, what: Vec<usize>, blocking: bool, shared: bool },
    Release { who: u32, what: usize, force: bool },
    Contest { who: u32, what: usize },
    Die(u32),
    Leave(u32),
    Return(u32),
    Pass(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = || 1u32..5;
    let what = || 0..WHAT.len();
    let step = prop_oneof![
        6 => (who(), prop::collection::vec(what(), 1..3), any::<bool>(), any::<bool>())
            .prop_map(|(who, what, blocking, shared)| Step::Hold { who, what, blocking, shared }),
        2 => (who(), what(), any::<bool>()).prop_map(|(who, what, force)| Step::Release { who, what, force }),
        2 => (who(), what()).prop_map(|(who, what)| Step::Contest { who, what }),
        1 => who().prop_map(Step::Die),
        1 => who().prop_map(Step::Leave),
        2 => who().prop_map(Step::Return),
        2 => (1i64..200).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..40)
}

fn go(app: &mut StoryApp, step: &Step) {
    let host = app.host().clone();
    match step {
        Step::Hold { who, what, blocking, shared } => {
            let what: Vec<&str> = what.iter().map(|at| WHAT[*at]).collect();
            let strength = if *blocking { Strength::Blocking } else { Strength::Advisory };
            let mode = if *shared { HoldMode::Shared } else { HoldMode::Exclusive };
            let _ = claims_story::hold(app, *who, &what, strength, mode);
        }
        Step::Release { who, what, force } => drop(claims_story::release(app, *who, WHAT[*what], *force)),
        Step::Contest { who, what } => {
            host.set_caller_ancestors(&[*who]);
            let caller = store_story::facts(&host, None);
            let _ = app.contest(&caller, "/shop/main".as_ref(), WHAT[*what], None);
        }
        Step::Die(who) => host.kill(*who),
        Step::Leave(who) => {
            app.leave(&format!("s{who}").into(), LeaveReason::Ended, Actor::Consort).unwrap();
        }
        Step::Return(who) => drop(store_story::join(app, &format!("s{who}"), *who, NameWish::Any).unwrap()),
        Step::Pass(seconds) => host.advance(seconds * Timestamp::SECOND),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// After any steps no hold is in another's way, the lines that hooks read lack no hold, and the
    /// journal replays to the same tables.
    #[test]
    fn nobody_is_ever_in_anybodys_way(steps in steps()) {
        let temp = tempfile::tempdir().unwrap();
        let store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
        let mut app: StoryApp = StoryApp::new(store);
        for pid in 1..5 {
            store_story::join(&mut app, &format!("s{pid}"), pid, NameWish::Any).unwrap();
        }
        for step in &steps {
            go(&mut app, step);
            let standing = claims_story::present_holds(&mut app);
            claims_story::assert_nobody_is_in_anybodys_way(&standing);
            let everything = [Pattern::tree("")];
            let held = app.engine_mut().side_files().held_near(&everything, Case::Matters);
            prop_assert!(!held.is_partial);
            for hold in standing.iter().filter(|hold| hold.mode == HoldMode::Exclusive) {
                if let Some(pattern) = hold.resource.pattern() {
                    prop_assert!(held.holds.iter().any(|line| line.pattern == *pattern && line.holder == hold.holder));
                }
            }
        }
        prop_assert!(app.journal_verify().unwrap().is_sound());
    }
}

/// A crash between announcement and commit, or between commit and publishing, leaves a line too many,
/// which hinders nobody.
#[test]
fn notes_that_say_too_much_hinder_nobody() {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
    let mut app: StoryApp = StoryApp::new(store);
    store_story::join(&mut app, "s1", 1, NameWish::Any).unwrap();
    store_story::join(&mut app, "s2", 2, NameWish::Any).unwrap();
    claims_story::reserve(&mut app, 1, &["src/"]).unwrap();
    let file = temp.path().join("published/store");
    let before = std::fs::read_to_string(&file).unwrap();
    claims_story::release(&mut app, 1, "src/", false).unwrap();
    assert!(!std::fs::read_to_string(&file).unwrap().contains("\nby\t"), "nothing is held");
    let mut write = |path: &str| {
        let target = PendingWrite {
            path: format!("/shop/main/{path}").into(),
            extent: Extent::File,
            by: String::new(),
            is_entry: false,
            needs: consort_core::claims::PathCondition::Nothing,
            range: Vec::new(),
        };
        app.guard(&"s2".into(), &[target], &|_| None, &|_| ())
    };
    for left_behind in [before.as_str(), "by\tagent:s1\t-\thalf a li", "nonsense\n", "\u{0}\t\t\n", ""] {
        std::fs::write(&file, left_behind).unwrap();
        assert_eq!(write("src/x.rs"), Verdict::Free, "{left_behind:?}");
    }
    // A file that cannot be read does not let a write through.
    std::fs::remove_file(&file).unwrap();
    claims_story::reserve(&mut app, 1, &["src/"]).unwrap();
    let whole = std::fs::read_to_string(&file).unwrap();
    let glued = whole.replace("\nby\t", "by\t");
    let (stamp, _) = whole.split_at(256);
    for torn in ["half a line", "", "by\tagent:s9\t-\tin\tp\t/r\n", &glued, &before, "missing", &stamp[..80]]
    {
        std::fs::write(&file, torn).unwrap();
        if torn == "missing" {
            std::fs::remove_file(&file).unwrap();
        }
        let path = "/shop/main/src/x.rs".into();
        let target = PendingWrite {
            path,
            extent: Extent::File,
            by: String::new(),
            is_entry: false,
            needs: consort_core::claims::PathCondition::Nothing,
            range: Vec::new(),
        };
        let verdict = app.guard(&"s2".into(), &[target], &|_| None, &|_| ());
        assert!(matches!(verdict, Verdict::Denied(_)), "{torn:?}");
    }
}

#[test]
fn names_with_tabs_and_newlines_are_held_like_any_other() {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
    let mut app: StoryApp = StoryApp::new(store);
    store_story::join(&mut app, "s1", 1, NameWish::Any).unwrap();
    store_story::join(&mut app, "s2", 2, NameWish::Any).unwrap();
    for name in ["a\tb", "a\nb", "100%", "%0a", "ü\r", "back\\slash"] {
        claims_story::reserve(&mut app, 1, &[name]).unwrap();
        let target = PendingWrite {
            path: format!("/shop/main/{name}").into(),
            extent: Extent::File,
            by: String::new(),
            is_entry: false,
            needs: consort_core::claims::PathCondition::Nothing,
            range: Vec::new(),
        };
        let verdict = app.guard(&"s2".into(), &[target], &|_| None, &|_| ());
        assert!(matches!(verdict, Verdict::Denied(_)), "{name:?}");
    }
}
