//! Tests that the effects of an entry follow from its changes, not from the verb.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fs;

use consort_core::engine::Engine as _;
use consort_core::host::NewsTopic;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::NewEntry;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::knowledge::ActRequest;
use consort_core::knowledge::Scope;
use consort_core::presence::CallerFacts;
use consort_core::presence::LeaveReason;
use consort_core::presence::NameWish;
use consort_core::presence::PresenceChange;
use consort_core::presence::Proof;
use consort_core::presence::SessionId;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::claims_story;
use consort_testkit::messages_story;
use consort_testkit::store_story;
use consort_testkit::store_story::StoryApp;
use serde_json::json;

/// A store in which verbs are carried out, and one that only gets their entries.
struct Both {
    app: StoryApp,
    dir: tempfile::TempDir,
    copy: Store,
    copied: Seq,
}

impl Both {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = |name: &str| Store::new(dir.path().join(name).join("consort.db"), StoreUser::Command);
        let (app, copy) = (StoryApp::new(store("verbs")), store("entries"));
        Self { app, dir, copy, copied: 0 }
    }

    /// Carries a verb out, records its entries in the copy, and compares the effects.
    fn check(&mut self, what: &str, verb: impl FnOnce(&mut StoryApp)) {
        self.app.host().take_notified();
        verb(&mut self.app);
        let notified = sorted(self.app.host().take_notified());
        let request = TailRequest { after: Some(self.copied), limit: 100, ..TailRequest::default() };
        let entries = self.app.journal_tail(&request).unwrap();
        assert!(!entries.is_empty(), "{what} records something");
        let mut topics = Vec::new();
        for entry in entries {
            self.copied = entry.seq;
            let mut tx = self.copy.write().unwrap();
            let (id, at, actor) = (entry.id, entry.at, entry.actor);
            let changes: Vec<Change> = entry.changes.into_iter().map(|kept| kept.change).collect();
            // A session that joins makes its own state.
            let arrived: Vec<SessionId> = changes.iter().filter_map(joined).collect();
            tx.record(&NewEntry { id, at, project: entry.project, actor, changes }).unwrap();
            topics.extend(tx.commit().unwrap());
            arrived.iter().for_each(|session| drop(self.copy.side_files().start_activity(session, at)));
        }
        assert_eq!(sorted(topics), notified, "{what}: who is notified");
        let published = |name: &str| {
            let text = fs::read_to_string(self.dir.path().join(name).join("published/store")).unwrap();
            text[256..].to_owned()
        };
        assert_eq!(published("entries"), published("verbs"), "{what}: what is published");
        let (verbs, entries) = (self.app.engine_mut().side_files(), self.copy.side_files());
        for session in ["s1", "s2", "s3"] {
            let session = session.into();
            let flags = (entries.mail_flags(&session), verbs.mail_flags(&session));
            assert_eq!(flags.0, flags.1, "{what}: the mail of {session}");
        }
    }
}

fn joined(change: &Change) -> Option<SessionId> {
    match change {
        Change::Presence(PresenceChange::Joined(agent)) => Some(agent.session.clone()),
        _ => None,
    }
}

fn sorted(topics: Vec<NewsTopic>) -> Vec<String> {
    let mut topics: Vec<String> = topics.iter().map(|topic| format!("{topic:?}")).collect();
    topics.sort();
    topics.dedup();
    topics
}

#[test]
fn an_entry_has_the_same_effects_wherever_it_comes_from() {
    let mut both = Both::new();
    for (session, pid) in [("s1", 1), ("s2", 2), ("s3", 3)] {
        both.check("join", |app| drop(store_story::join(app, session, pid, NameWish::Any).unwrap()));
    }
    let name = |app: &mut StoryApp| store_story::who(app).agents[1].agent.name.to_string();
    both.check("send", |app| {
        let to = name(app);
        app.host().set_caller_ancestors(&[1]);
        let request = messages_story::request(app, &[to.as_str(), "@me"], "hello");
        app.send(&request).unwrap();
    });
    both.check("reserve", |app| drop(claims_story::reserve(app, 2, &["src/", "docs/a.md"]).unwrap()));
    both.check("contest", |app| drop(claims_story::contest(app, 1, "src/").unwrap()));
    both.check("release", |app| {
        claims_story::release(app, 2, "src/", false).unwrap();
    });
    both.check("rename", |app| {
        app.rename(&"s3".into(), "Heron", Actor::Person).unwrap();
    });
    both.check("record", |app| {
        let project = store_story::who(app).agents[0].agent.project.id.clone();
        let action =
            json!(["record-principle", { "name": "one-writer", "description": "One process writes." }]);
        let request = ActRequest {
            caller: CallerFacts { proof: Proof::Terminal, ..CallerFacts::default() },
            scope: Scope::Project(project),
            actions: json!([action]),
            worktree: "/shop/main".into(),
            cwd: "/shop/main".into(),
            key: None,
            even_so: false,
        };
        app.act(&request).unwrap();
    });
    // If no process has taken the entry into the index yet, the next session that starts does.
    let mut elsewhere =
        StoryApp::new(Store::new(both.dir.path().join("entries/consort.db"), StoreUser::Command));
    let agent = store_story::who(&mut both.app).agents[0].agent.clone();
    let told = both.app.digest(&agent, 200).unwrap();
    assert!(told.contains("one-writer"), "{told}");
    assert_eq!(elsewhere.digest(&agent, 200), Some(told));
    both.check("leave", |app| drop(app.leave(&"s2".into(), LeaveReason::Ended, Actor::Person).unwrap()));
    let state = |both: &Both, name: &str| both.dir.path().join(name).join("sessions/s2/state").exists();
    assert!(!state(&both, "verbs") && !state(&both, "entries"), "nothing is left of who left");
    both.check("death", |app| {
        app.host().kill(3);
        store_story::who(app);
    });
}
