//! Tests knowledge of machines whose clocks differ, and knowledge as of a past moment.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::knowledge::ActRequest;
use consort_core::knowledge::Edit;
use consort_core::knowledge::EditChange;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_core::knowledge::Source;
use consort_core::knowledge::StampedEdit;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use consort_testkit::store_story::StoryApp;
use serde_json::Value;
use serde_json::json;

fn app(dir: &std::path::Path) -> StoryApp {
    StoryApp::new(Store::new(dir.join("consort.db"), StoreUser::Command))
}

/// Merges edits of another machine, by its own clock.
fn elsewhere(app: &mut StoryApp, at: Timestamp, field: &str, value: &Value) {
    let said = |field: &str, value: &Value| StampedEdit {
        edit: Edit {
            entity: "theirs".into(),
            change: EditChange::Set { field: field.into(), value: value.clone() },
        },
        at,
        writer: u64::MAX,
        by: Source { name: "Elsewhere".into(), ..Source::default() },
    };
    let edits =
        vec![said("kind", &json!("principle")), said("name", &json!("one-writer")), said(field, value)];
    let mut index = app.engine_mut().knowledge();
    app.merge_knowledge(&mut *index, &Scope::Global, "sync", "00".into(), edits).unwrap();
}

fn record(app: &mut StoryApp, action: Value) {
    let request = ActRequest {
        caller: CallerFacts { proof: Proof::Terminal, ..CallerFacts::default() },
        scope: Scope::Global,
        actions: json!([action]),
        worktree: "/shop/main".into(),
        cwd: "/shop/main".into(),
        key: None,
        even_so: false,
    };
    app.act(&request).unwrap();
}

fn description(app: &mut StoryApp) -> Option<String> {
    let index = app.knowledge().unwrap();
    let known = index.known(&Scope::Global, Kind::Principle, "one-writer").unwrap();
    known.map(|known| known.text("description").to_owned())
}

#[test]
fn a_correction_replaces_what_its_author_had_read_whatever_the_clocks_say() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app(temp.path());
    let ahead = app.host().now().plus(3 * Timestamp::HOUR);
    elsewhere(&mut app, ahead, "description", &json!("theirs"));
    assert_eq!(description(&mut app).as_deref(), Some("theirs"));
    record(&mut app, json!(["record-principle", { "name": "one-writer", "description": "ours" }]));
    assert_eq!(description(&mut app).as_deref(), Some("ours"));
    record(&mut app, json!(["record-principle", { "name": "one-writer", "description": "ours again" }]));
    assert_eq!(description(&mut app).as_deref(), Some("ours again"));
    // A later edit of that machine counts again, by its clock.
    elsewhere(&mut app, ahead.plus(60_000), "description", &json!("theirs again"));
    assert_eq!(description(&mut app).as_deref(), Some("theirs again"));
    assert!(app.journal_verify().unwrap().is_sound());
}

#[test]
fn what_is_dated_far_ahead_is_kept_and_does_not_count() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app(temp.path());
    let now = app.host().now();
    for at in [now.plus(2 * Timestamp::DAY), Timestamp(i64::MAX)] {
        elsewhere(&mut app, at, "description", &json!("from the year 9999"));
        assert_eq!(description(&mut app), None);
    }
    record(&mut app, json!(["record-principle", { "name": "one-writer", "description": "ours" }]));
    assert_eq!(description(&mut app).as_deref(), Some("ours"));
    assert!(app.journal_verify().unwrap().is_sound());
}

/// Returns everything that can be read of an index, as text.
fn all_of(index: &dyn KnowledgeIndex) -> String {
    let scope = &Scope::Global;
    let mut all = String::new();
    for kind in Kind::ALL {
        let names = index.names(scope, kind).unwrap();
        all.push_str(&format!("{names:?}\n"));
        index.each(scope, kind, &mut |row| all.push_str(&format!("{:?}\n", row.decode()))).unwrap();
        for name in names {
            let known = index.known(scope, kind, &name).unwrap();
            let mut links: Vec<String> =
                index.links(scope, &name).unwrap().into_iter().map(|link| link.name).collect();
            links.sort();
            all.push_str(&format!("{known:?} {links:?}\n"));
        }
    }
    all
}

/// Knowledge as of a past moment is what an index made from the journal up to then says.
#[test]
fn the_past_is_as_the_journal_had_it() {
    let temp = tempfile::tempdir().unwrap();
    let mut app = app(temp.path());
    let actions = [
        json!(["record-principle", { "name": "a", "description": "one", "tags": ["x"], "locations": ["src/a.rs:1"] }]),
        json!(["record-file-understanding", { "path": "src/a.rs", "summary": "a file" }]),
        json!(["record-pattern", { "name": "b", "type": "t", "description": "two" }]),
        json!(["link-entities", { "from": "a", "to": "b", "type": "uses" }]),
        json!(["record-principle", { "name": "a", "description": "changed", "remove": { "tags": ["x"] } }]),
        json!(["rename", { "name": "b", "to": "c" }]),
        json!(["record-decision", { "name": "d", "description": "four", "impact": 3 }]),
        json!(["link-entities", { "from": "d", "to": "src/a.rs", "type": "about" }]),
        json!(["delete-principle", { "name": "a" }]),
        json!(["record-principle", { "name": "a", "description": "anew" }]),
    ];
    // At the first moment nothing is known; later moments are nearer to now than to the beginning.
    let mut moments = vec![app.host().now()];
    app.host().advance(1_000);
    for n in 0..30 {
        let name = format!("before-{n}");
        record(
            &mut app,
            json!(["record-principle", { "name": name, "description": "long ago", "tags": ["x"] }]),
        );
        moments.extend((n == 3).then(|| app.host().now()));
        app.host().advance(1_000);
    }
    moments.push(app.host().now());
    for action in actions {
        app.host().advance(1_000);
        record(&mut app, action);
        moments.push(app.host().now());
    }
    app.host().advance(1_000);
    let now = app.host().now();
    elsewhere(&mut app, now, "description", &json!("theirs"));
    moments.push(now);
    for at in moments {
        let mut entries = app.knowledge_entries(&Scope::Global).unwrap();
        entries.retain(|entry| entry.at <= at);
        let mut expected = app.engine_mut().temporary_knowledge();
        expected.ingest(&entries, entries.last().map_or(0, |entry| entry.seq)).unwrap();
        let found = app.open_knowledge_as_of(&Scope::Global, at).unwrap();
        assert_eq!(all_of(&*found), all_of(&*expected), "{at:?}");
    }
}
