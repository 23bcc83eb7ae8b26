//! Tests a journal that can travel: entries that others can read, ids that stay, and entries of which a
//! part was dropped.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::claims::ClaimError;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldRequest;
use consort_core::claims::Strength;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::Entry;
use consort_core::journal::FORMAT;
use consort_core::journal::TailRequest;
use consort_core::messages::MessageError;
use consort_core::messages::MessageName;
use consort_core::messages::MessageRefusal;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::messages_story::request;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;
use consort_testkit::store_story::facts;
use serde_json::Value;

fn app_at(dir: &Path) -> StoryApp {
    StoryApp::new(Store::new(dir.join("consort.db"), StoreUser::Command))
}

fn reserve(app: &mut StoryApp, pid: u32, path: &str) -> Result<i64, ClaimError> {
    app.host().set_caller_ancestors(&[pid]);
    let request = HoldRequest {
        caller: facts(app.host(), None),
        cwd: PathBuf::from("/shop/main"),
        what: vec![path.into()],
        strength: Strength::Blocking,
        mode: HoldMode::Exclusive,
        reason: None,
        ttl: None,
    };
    app.hold(&request).map(|outcome| outcome.holds[0].generation)
}

fn all(app: &mut StoryApp) -> Vec<Entry> {
    app.journal_tail(&TailRequest { limit: 1_000, ..Default::default() }).unwrap()
}

/// Puts an entry into the journal as another program would have recorded it.
fn insert(dir: &Path, format: u32, changes: &str) {
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection.execute("ATTACH ?1 AS store", [dir.join("consort.db").to_str().unwrap()]).unwrap();
    let sql = "INSERT INTO store.journal (id, at, project, actor, changes, format)
               VALUES (randomblob(16), 1, NULL, 'person', ?1, ?2)";
    connection.execute(sql, rusqlite::params![changes, format]).unwrap();
}

#[test]
fn what_a_newer_program_has_changed_is_kept_shown_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Insist("Raven".into())).unwrap();
    let first = reserve(&mut app, 1, "docs/").unwrap();
    let held = all(&mut app).pop().unwrap();
    let Value::Object(held) = serde_json::to_value(&held.changes[0]).unwrap() else { panic!("{held:?}") };
    let about = held["about"][0].as_str().unwrap().replace("docs/", "src/");
    // A change that we have never heard of, and an entry of a newer format that only looks familiar.
    let leased = format!(r#"[{{"room":"claims","about":["{about}"],"change":{{"leased":{{"for":3}}}}}}]"#);
    insert(temp.path(), FORMAT, &leased);
    let looks_familiar = serde_json::to_string(&[Value::Object(held)]).unwrap().replace("docs/", "lib/");
    insert(temp.path(), FORMAT + 1, &looks_familiar);
    app.journal_rebuild().unwrap();

    let verification = app.journal_verify().unwrap();
    assert!(verification.is_sound(), "{verification:?}");
    let entries = all(&mut app);
    let last = entries.len() as i64;
    assert_eq!(verification.unknown, [last - 1, last]);
    let shown = serde_json::to_string(&entries[entries.len() - 2]).unwrap();
    assert!(shown.contains(r#""leased":{"for":3}"#), "{shown}");
    for path in ["src/", "lib/"] {
        match reserve(&mut app, 1, path) {
            Err(ClaimError::Store(StoreError::NotUnderstood { about, .. })) => assert!(about.contains(path)),
            other => panic!("{path}: {other:?}"),
        }
    }
    assert_eq!(all(&mut app).len() as i64, last, "nothing of it was recorded");
    assert_eq!(reserve(&mut app, 1, "tests/").unwrap(), first + 1, "what it did not touch goes on");
}

#[test]
fn numbers_count_within_their_kind_and_project_and_are_given_once() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for (session, pid, name) in [("s", 1, "Raven"), ("t", 2, "Bear")] {
        store_story::join(&mut app, session, pid, NameWish::Insist(name.into())).unwrap();
    }
    let send = |app: &mut StoryApp, pid: u32, to: &str| {
        app.host().set_caller_ancestors(&[pid]);
        let request = request(app, &[to], "hello");
        app.send(&request).unwrap()
    };
    assert_eq!((send(&mut app, 1, "Bear").number, reserve(&mut app, 1, "a").unwrap()), (1, 1));
    assert_eq!((send(&mut app, 2, "Raven").number, reserve(&mut app, 2, "b").unwrap()), (2, 2));
    // Another project begins at one; elsewhere its messages are called by the project's name too.
    store_story::join_at(&mut app, "u", 3, NameWish::Insist("Wren".into()), "/lab/bench").unwrap();
    let other = send(&mut app, 3, "Bear");
    assert_eq!(other.number, 1);
    let bear = app.find_agent("Bear").unwrap().project.id;
    let letters = app
        .inbox(&UnreadLettersRequest { mailbox: Actor::Agent("t".into()), from: None, peek: true })
        .unwrap();
    let last = &letters.last().unwrap().message;
    assert_eq!((other.message_name(), last.message_name(Some(&bear))), ("#1".into(), "bench#1".into()));
    // A number alone means a message of one's own project; with a project's name, one of that project.
    let text = |app: &mut StoryApp, name: &str, here| {
        let name: MessageName = name.parse().unwrap();
        app.thread(&name, here).map(|thread| thread[0].message.id)
    };
    assert_ne!(text(&mut app, "1", Some(&bear)).unwrap(), other.id);
    assert_eq!(text(&mut app, "bench#1", Some(&bear)).unwrap(), other.id);
    assert_eq!(text(&mut app, &other.id.to_string(), None).unwrap(), other.id);
    let elsewhere = "somewhere else".into();
    let found = text(&mut app, "#1", Some(&elsewhere));
    assert!(matches!(found, Err(MessageError::Refused(MessageRefusal::SeveralMessages { .. }))), "{found:?}");
    assert!(text(&mut app, "2", Some(&elsewhere)).is_ok(), "there is but one");

    // The number of a forgotten message is given to no other, even after a rebuild.
    app.host().advance(40 * Timestamp::DAY);
    for mailbox in ["s", "t"] {
        let mailbox = Actor::Agent(mailbox.into());
        let request = UnreadLettersRequest { mailbox: mailbox.clone(), from: None, peek: true };
        let letters = app.inbox(&request).unwrap();
        app.mark_read(&mailbox, &letters).unwrap();
    }
    app.apply_retention(store_story::MONTH_RETENTION).unwrap();
    app.journal_rebuild().unwrap();
    assert_eq!(send(&mut app, 1, "Bear").number, 3);
}

#[test]
fn a_part_of_an_entry_is_dropped_and_the_rest_keeps_its_name() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    // One entry: the repository, which is needed for ever, and an agent, which is not.
    store_story::join(&mut app, "s", 1, NameWish::Insist("Raven".into())).unwrap();
    store_story::join(&mut app, "t", 2, NameWish::Insist("Bear".into())).unwrap();
    let first = all(&mut app).remove(0);
    assert!(first.changes.len() == 2, "{first:?}");
    app.leave(&"s".into(), LeaveReason::Ended, Actor::Person).unwrap();
    app.host().advance(40 * Timestamp::DAY);
    app.apply_retention(store_story::MONTH_RETENTION).unwrap();
    let left = all(&mut app).remove(0);
    assert_eq!((left.id, left.changes.len()), (first.id, 2));
    assert_eq!(left.changes[0], first.changes[0]);
    assert_eq!(left.changes[1].change, Change::Dropped);
    let verification = app.journal_verify().unwrap();
    assert!(verification.is_sound(), "{verification:?}");
    app.journal_rebuild().unwrap();
    assert_eq!(store_story::roster(&mut app), "Bear idle");
    // An entry is found by its id.
    let found = app.engine_mut().read().unwrap().entry(left.id).unwrap();
    assert_eq!(found, Some(left));
}
