//! Tests the embedded engine: the stories, permissions, damage, retention, and that the journal replays
//! to the tables.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use consort_core::Timestamp;
use consort_core::claims::HoldMode;
use consort_core::claims::Strength;
use consort_core::config::Retention;
use consort_core::engine::Engine as _;
use consort_core::engine::StoreError;
use consort_core::host::Clock as _;
use consort_core::journal::Actor;
use consort_core::messages::DeliveryPoint;
use consort_core::messages::UnreadLettersRequest;
use consort_core::presence::ActivityUpdate;
use consort_core::presence::CallerFacts;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::presence::Status;
use consort_core::presence::WhoScope;
use consort_sqlite::NEWEST_SCHEMA;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::claims_story;
use consort_testkit::convergence_story;
use consort_testkit::messages_story;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;
use proptest::prelude::*;

fn app_at(dir: &Path) -> StoryApp {
    StoryApp::new(Store::new(dir.join("consort.db"), StoreUser::Command))
}

#[test]
fn it_tells_the_story() {
    let temp = tempfile::tempdir().unwrap();
    store_story::store_story(Store::new(temp.path().join("new/consort.db"), StoreUser::Command));
}

#[test]
fn it_tells_the_story_of_mail() {
    let temp = tempfile::tempdir().unwrap();
    messages_story::messages_story(Store::new(temp.path().join("consort.db"), StoreUser::Command));
}

/// The start of a session asks for the last day, however many messages are kept.
#[test]
fn correspondence_is_looked_for_since_a_moment() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for (session, pid, name) in [("raven", 10, "Raven"), ("bear", 11, "Bear")] {
        store_story::join(&mut app, session, pid, NameWish::Insist(name.into())).unwrap();
    }
    app.host().set_caller_ancestors(&[10]);
    let request = messages_story::request(&app, &["Bear"], "hello");
    app.send(&request).unwrap();
    let sent = app.host().now();
    let mut store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
    let tx = store.read().unwrap();
    let (raven, bear) = (Actor::Agent("raven".into()), Actor::Agent("bear".into()));
    for (since, messages) in [(sent, 1), (Timestamp(sent.0 + 1), 0)] {
        assert_eq!(tx.has_correspondence(&raven, since).unwrap(), messages > 0);
        assert_eq!(tx.has_correspondence(&bear, since).unwrap(), messages > 0);
        assert_eq!(tx.sent_by(&raven, since, 9).unwrap().len(), messages);
        assert_eq!(tx.received(&bear, since, 9).unwrap().len(), messages);
    }
}

#[test]
fn it_tells_the_story_of_claims() {
    let temp = tempfile::tempdir().unwrap();
    claims_story::claims_story(Store::new(temp.path().join("consort.db"), StoreUser::Command));
}

#[test]
fn it_tells_the_story_of_tasks() {
    let temp = tempfile::tempdir().unwrap();
    claims_story::task_story(Store::new(temp.path().join("consort.db"), StoreUser::Command));
}

#[test]
fn reservations_are_renewed_by_work_and_mentioned_when_forgotten() {
    let temp = tempfile::tempdir().unwrap();
    claims_story::renewal_story(Store::new(temp.path().join("consort.db"), StoreUser::Command));
}

#[test]
fn it_tells_the_story_of_convergence() {
    let temp = tempfile::tempdir().unwrap();
    convergence_story::convergence_story(Store::new(temp.path().join("consort.db"), StoreUser::Command));
}

#[test]
fn nobody_else_can_read_it() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("data");
    let mut app = app_at(&dir);
    store_story::join(&mut app, "s", 1, NameWish::Any).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    let beside = ["sessions/s/state", "sessions/s/log", "slots/hosts", "published/store"];
    for file in ["consort.db", "consort.db-wal", "consort.db-shm"].into_iter().chain(beside) {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
}

/// A session that starts again after a compaction brings nothing new.
#[test]
fn a_start_that_brings_nothing_new_waits_for_no_writer() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("consort.db");
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 7, NameWish::Any).unwrap();
    let mut other = Store::new(path.clone(), StoreUser::Command);
    let writing = other.write().unwrap();
    assert!(!store_story::join(&mut app, "s", 7, NameWish::Any).unwrap().joined);
    drop(writing);
    // If hooks would not see what is reserved, the published file is put right first.
    std::fs::remove_file(temp.path().join("published/store")).unwrap();
    let is_current = || Store::new(path.clone(), StoreUser::Command).side_files().is_current();
    assert!(!is_current());
    store_story::join(&mut app, "s", 7, NameWish::Any).unwrap();
    assert!(is_current());
}

/// One process hosts a session at work and one that was joined by hand: a call by the latter is noted as
/// its own.
#[test]
fn a_call_is_noted_as_that_of_the_session_that_called() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for session in ["quiet", "busy"] {
        store_story::join(&mut app, session, 7, NameWish::Any).unwrap();
    }
    app.note_activity(&"busy".into(), &ActivityUpdate::of(Status::Working)).unwrap();
    let last_active = |app: &StoryApp| app.activity_of(&"quiet".into()).unwrap().last_active;
    let before = last_active(&app);
    app.host().advance(Timestamp::MINUTE);
    app.host().set_caller_ancestors(&[7]);
    let (_, hosted) = app.ancestors();
    assert_eq!(hosted.clone().map(|session| session.to_string()), Some("busy".into()));
    let facts = |hint| CallerFacts { hosted: hosted.clone(), ..store_story::facts(app.host(), hint) };
    let (of_busy, of_quiet) = (facts(Some("busy")), facts(Some("quiet")));
    app.note_caller(&of_busy).unwrap();
    assert_eq!(last_active(&app), before);
    app.note_caller(&of_quiet).unwrap();
    assert!(last_active(&app) > before);
}

#[test]
fn holders_are_those_who_hold_something() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for (session, pid) in [("raven", 1), ("bear", 2), ("owl", 3)] {
        store_story::join(&mut app, session, pid, NameWish::Any).unwrap();
    }
    claims_story::reserve(&mut app, 1, &["src/", "docs/"]).unwrap();
    claims_story::reserve(&mut app, 2, &["tests/"]).unwrap();
    claims_story::contest(&mut app, 2, "docs/").unwrap();
    let mut store = Store::new(temp.path().join("consort.db"), StoreUser::Command);
    let holders = store.read().unwrap().holders().unwrap();
    let agent = |session: &str| Actor::Agent(session.into());
    assert_eq!(holders, [(agent("bear"), false), (agent("raven"), true)].into());
}

/// Otherwise what a server answers would grow with every session of the day.
#[test]
fn of_those_who_have_left_the_latest_are_listed() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for n in 0..102 {
        let session = format!("s{n}");
        store_story::join(&mut app, &session, n + 1, NameWish::Any).unwrap();
        app.leave(&session.as_str().into(), LeaveReason::Ended, Actor::Consort).unwrap();
        app.host().advance(1);
    }
    let everyone = app.who(&WhoScope::Everywhere, None, |_| Vec::new()).unwrap().agents;
    let sessions: Vec<&str> = everyone.iter().map(|seen| seen.agent.session.as_str()).collect();
    assert_eq!((sessions.len(), sessions[0], sessions[99]), (100, "s101", "s2"));
}

#[test]
fn ancestors_count_up_to_the_one_that_hosts_an_agent() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for pid in [9, 3] {
        app.host().start_process(pid, "first");
    }
    store_story::join(&mut app, "s", 7, NameWish::Any).unwrap();
    let above = |app: &StoryApp, pids: &[u32]| {
        app.host().set_caller_ancestors(pids);
        let (ancestors, hosted) = app.ancestors();
        let hosted = hosted.map(|session| session.to_string());
        (ancestors.iter().map(|process| process.pid).collect::<Vec<_>>(), hosted)
    };
    assert_eq!(above(&app, &[9, 7, 3]), (vec![9, 7], Some("s".to_owned())));
    assert_eq!(above(&app, &[9, 3]), (vec![9, 3], None));
    store_story::join(&mut app, "t", 7 + 512, NameWish::Any).unwrap();
    assert_eq!(above(&app, &[9, 7, 3]), (vec![9, 7], Some("s".to_owned())));
    assert_eq!(above(&app, &[9, 7 + 512, 3]), (vec![9, 7 + 512], Some("t".to_owned())));
    // The same process id is another process.
    app.host().start_process(7 + 512, "second");
    assert_eq!(above(&app, &[9, 7 + 512, 3]), (vec![9, 7 + 512, 3], None));
    app.host().start_process(7 + 512, "first");
    // While its process lives, a session stays in it.
    assert!(matches!(
        store_story::join(&mut app, "t", 8, NameWish::Any),
        Err(consort_core::presence::PresenceError::RunsElsewhere { .. })
    ));
    // After that it goes on in another process, and the ancestors above the old one count.
    app.host().kill(7 + 512);
    store_story::join(&mut app, "t", 8, NameWish::Any).unwrap();
    app.host().start_process(7 + 512, "first");
    assert_eq!(above(&app, &[9, 7 + 512, 3]), (vec![9, 7 + 512, 3], None));
    assert_eq!(above(&app, &[8, 3]), (vec![8], Some("t".to_owned())));
    app.leave(&"t".into(), LeaveReason::Ended, Actor::Consort).unwrap();
    assert_eq!(above(&app, &[8, 3]), (vec![8, 3], None));
}

#[test]
fn an_older_program_reads_a_newer_store_and_does_not_write_to_it() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Insist("Raven".into())).unwrap();
    let mut opened_before = app_at(temp.path());
    opened_before.host().start_process(1, "first");
    assert_eq!(store_story::roster(&mut opened_before), "Raven idle");
    drop(app);
    let newer = rusqlite::Connection::open_in_memory().unwrap();
    newer
        .execute("ATTACH ?1 AS store", [temp.path().join("consort.db").to_str().unwrap()])
        .and_then(|_| newer.execute_batch("CREATE TABLE store.future (x); PRAGMA store.user_version = 99"))
        .unwrap();

    let mut app = app_at(temp.path());
    app.host().start_process(1, "first");
    assert_eq!(store_story::roster(&mut app), "Raven idle");
    newer.execute_batch("DROP INDEX store.letters_unread; DROP TABLE store.letters").unwrap();
    let beyond = app.unread_count(&Actor::Person).unwrap_err().to_string();
    assert!(beyond.contains("schema 99"), "{beyond}");
    // Also if the store was opened before the newer schema came.
    for app in [&mut app, &mut opened_before] {
        let refused = store_story::join(app, "t", 2, NameWish::Any).unwrap_err().to_string();
        assert!(
            refused.contains("schema 99") && refused.contains(&format!("knows {NEWEST_SCHEMA}")),
            "{refused}"
        );
    }
}

/// A message that shares an entry with a change that is kept is forgotten all the same, and stays so
/// after a rebuild.
#[test]
fn what_is_forgotten_stays_so_where_its_entry_is_kept() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    for (session, pid) in [("s", 1), ("t", 2)] {
        store_story::join(&mut app, session, pid, NameWish::Any).unwrap();
    }
    claims_story::hold(&mut app, 2, &["topic:auth"], Strength::Advisory, HoldMode::Exclusive).unwrap();
    claims_story::contest(&mut app, 1, "topic:auth").unwrap();
    let mailbox = Actor::Agent("t".into());
    app.host().play_process(99);
    let letters =
        app.inbox(&UnreadLettersRequest { mailbox: mailbox.clone(), from: None, peek: false }).unwrap();
    assert_eq!(letters.len(), 1);
    app.mark_read(&mailbox, &letters).unwrap();

    app.host().advance(31 * Timestamp::DAY);
    app.apply_retention(store_story::MONTH_RETENTION).unwrap();
    let sent = app.sent(&Actor::Agent("s".into()), 9).unwrap();
    assert!(sent.is_empty(), "{sent:?}");
    // The entries that the first retention itself recorded are old by now too.
    app.host().advance(31 * Timestamp::DAY);
    app.apply_retention(store_story::MONTH_RETENTION).unwrap();
    assert_eq!(claims_story::present_holds(&mut app).len(), 1);
    assert!(app.journal_verify().unwrap().is_sound(), "{:?}", app.journal_verify());
    app.journal_rebuild().unwrap();
    assert_eq!(app.unread_count(&mailbox).unwrap(), 0);
}

#[test]
fn a_newcomer_waits_while_another_makes_the_store() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("consort.db");
    let threads: Vec<_> = (0..32)
        .map(|n| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut store = Store::new(path, StoreUser::Hook);
                if n % 2 == 0 { store.write().map(drop) } else { store.read()?.present().map(drop) }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap().unwrap();
    }
}

#[test]
fn a_replaced_store_is_let_go() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Any).unwrap();
    assert!(!app.close_if_replaced());
    for file in ["consort.db", "consort.db-wal", "consort.db-shm"] {
        std::fs::remove_file(temp.path().join(file)).unwrap();
    }
    assert!(app.close_if_replaced());
    assert_eq!(app.journal_last_seq().unwrap(), 0);
}

#[test]
fn damage_is_found_and_mended() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Insist("Raven".into())).unwrap();
    store_story::join(&mut app, "t", 1, NameWish::Insist("Bear".into())).unwrap();
    drop(app);
    let tamper = |sql: &str| {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute("ATTACH ?1 AS store", [temp.path().join("consort.db").to_str().unwrap()]).unwrap();
        connection.execute_batch(sql).unwrap();
    };
    tamper(
        "UPDATE store.agents SET name = 'Crow' WHERE session = 's'; DELETE FROM store.agents WHERE session = 't'",
    );
    let mut app = app_at(temp.path());
    let found = app.journal_verify().unwrap();
    assert_eq!(found.differences.len(), 2, "{found:?}");
    app.journal_rebuild().unwrap();
    assert!(app.journal_verify().unwrap().is_sound());

    tamper("DELETE FROM store.journal WHERE seq = 1");
    assert_eq!(app.journal_verify().unwrap().missing, [1]);
    // Pruned entries may be missing; later ones may not.
    let pruned = r#"'[{"room":"journal","change":{"pruned":{"before":0,"through":1}}}]'"#;
    tamper(&format!(
        "INSERT INTO store.journal VALUES (9, x'00112233445566778899aabbccddeeff', 0, NULL, 'consort', {pruned}, 2)"
    ));
    assert_eq!(app.journal_verify().unwrap().missing, [3, 4, 5, 6, 7, 8]);
    tamper("DELETE FROM store.journal WHERE seq = 9");
    tamper("UPDATE store.journal SET changes = 'not json'");
    let found = app.journal_verify().unwrap();
    assert_eq!(found.unreadable, [2]);
    assert!(!found.is_sound());
    assert!(matches!(app.journal_rebuild(), Err(StoreError::Entry { seq: 2, .. })));
}

/// Sequence numbers are given once, whatever retention takes away.
#[test]
fn the_last_entry_is_never_dropped() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app_at(temp.path());
    store_story::join(&mut app, "s", 1, NameWish::Any).unwrap();
    app.leave(&"s".into(), LeaveReason::Ended, Actor::Consort).unwrap();
    let mut last = app.journal_last_seq().unwrap();
    for _ in 0..4 {
        app.host().advance(40 * Timestamp::DAY);
        app.apply_retention(store_story::MONTH_RETENTION).unwrap();
        let now = app.journal_last_seq().unwrap();
        assert!(now >= last, "from {last} back to {now}");
        last = now;
        assert!(app.journal_verify().unwrap().is_sound());
    }
}

/// Anything that can happen to agents and their messages.
#[derive(Clone, Debug)]
enum Verb {
    Join { session: u8, pid: u8, name: Option<u8> },
    Leave { session: u8, asked: bool },
    Rename { session: u8, name: u8 },
    ActivityUpdate { session: u8 },
    Kill { pid: u8 },
    Reuse { pid: u8 },
    Look,
    Wait { days: u8 },
    Retain { days: u8 },
    Send { pid: u8, to: Option<u8> },
    Collect { session: u8, moment: u8, shown: bool },
    Read { session: u8, to_its_end: bool },
}

fn verb() -> impl Strategy<Value = Verb> {
    prop_oneof![
        4 => (0u8..6, 1u8..5, proptest::option::of(0u8..4))
            .prop_map(|(session, pid, name)| Verb::Join { session, pid, name }),
        2 => (0u8..6, any::<bool>()).prop_map(|(session, asked)| Verb::Leave { session, asked }),
        2 => (0u8..6, 0u8..4).prop_map(|(session, name)| Verb::Rename { session, name }),
        1 => (0u8..6).prop_map(|session| Verb::ActivityUpdate { session }),
        1 => (1u8..5).prop_map(|pid| Verb::Kill { pid }),
        1 => (1u8..5).prop_map(|pid| Verb::Reuse { pid }),
        2 => Just(Verb::Look),
        1 => (1u8..40).prop_map(|days| Verb::Wait { days }),
        1 => (1u8..40).prop_map(|days| Verb::Retain { days }),
        4 => (0u8..5, proptest::option::of(0u8..4)).prop_map(|(pid, to)| Verb::Send { pid, to }),
        3 => (0u8..6, 0u8..4, any::<bool>())
            .prop_map(|(session, moment, shown)| Verb::Collect { session, moment, shown }),
        1 => (0u8..6, any::<bool>())
            .prop_map(|(session, to_its_end)| Verb::Read { session, to_its_end }),
    ]
}

fn carry_out(app: &mut StoryApp, verb: &Verb) {
    let session = |n: u8| format!("s{n}");
    // Refusals are expected; the store must be sound after them too.
    match *verb {
        Verb::Join { session: s, pid, name } => {
            let wish = name.map_or(NameWish::Any, |name| NameWish::Insist(format!("n{name}")));
            let _ = store_story::join(app, &session(s), pid.into(), wish);
        }
        Verb::Leave { session: s, asked } => {
            let reason = if asked { LeaveReason::Asked } else { LeaveReason::Ended };
            let _ = app.leave(&session(s).into(), reason, Actor::Person);
        }
        Verb::Rename { session: s, name } => {
            let _ = app.rename(&session(s).into(), &format!("n{name}"), Actor::Person);
        }
        Verb::ActivityUpdate { session: s } => {
            drop(app.note_activity(&session(s).into(), &ActivityUpdate::of(Status::Working)))
        }
        Verb::Kill { pid } => app.host().kill(pid.into()),
        Verb::Reuse { pid } => drop(app.host().start_process(pid.into(), "another")),
        Verb::Look => drop(store_story::who(app)),
        Verb::Wait { days } => app.host().advance(i64::from(days) * Timestamp::DAY),
        Verb::Retain { days } => {
            let retention = Retention { journal_days: days.into(), message_days: days.into() };
            app.apply_retention(retention).unwrap();
        }
        Verb::Send { pid, to } => {
            app.host().set_caller_ancestors(&[pid.into()]);
            let to =
                to.map_or_else(|| vec!["all".to_owned(), "@me".to_owned()], |name| vec![format!("n{name}")]);
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            let request = messages_story::request(app, &to, "hello");
            let _ = app.send(&request);
        }
        Verb::Collect { session: s, moment, shown } => {
            let moment = match moment {
                0 => DeliveryPoint::Start,
                1 => DeliveryPoint::BeforeTool,
                2 => DeliveryPoint::AfterTool,
                _ => DeliveryPoint::End { may_go_on: true },
            };
            app.host().play_process(1_000);
            let batch = app.collect(&session(s).into(), moment, &|_| None).unwrap();
            if let Some(batch) = batch.filter(|_| shown) {
                app.note_batch_shown(&batch).unwrap();
            }
            app.host().kill(1_000);
        }
        Verb::Read { session: s, to_its_end } => {
            app.host().play_process(1_001);
            let mailbox = if s == 0 { Actor::Person } else { Actor::Agent(session(s).into()) };
            let request = UnreadLettersRequest { mailbox, from: None, peek: false };
            let letters = app.inbox(&request).unwrap();
            if to_its_end && !letters.is_empty() {
                app.mark_read(&request.mailbox, &letters).unwrap();
            }
            app.host().kill(1_001);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..Default::default() })]

    /// After any verbs, the tables are those that the journal replays to.
    #[test]
    fn replaying_the_journal_gives_the_tables(verbs in proptest::collection::vec(verb(), 1..60)) {
        let temp = tempfile::tempdir().unwrap();
        let mut app = app_at(temp.path());
        let mut last = 0;
        for verb in &verbs {
            carry_out(&mut app, verb);
            let now = app.journal_last_seq().unwrap();
            prop_assert!(now >= last, "{verb:?} took the journal from {last} back to {now}");
            last = now;
        }
        let found = app.journal_verify().unwrap();
        prop_assert!(found.is_sound(), "{found:?}");

        let mut names: Vec<String> = store_story::who(&mut app)
            .agents
            .iter()
            .filter(|seen| seen.left.is_none())
            .map(|seen| seen.agent.name.as_str().to_lowercase())
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), all, "a name belongs to one present agent");
    }
}
