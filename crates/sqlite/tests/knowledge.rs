//! What is said by machines whose clocks differ.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::knowledge::ActRequest;
use consort_core::knowledge::Edit;
use consort_core::knowledge::EditChange;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Scope;
use consort_core::knowledge::Source;
use consort_core::knowledge::StampedEdit;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;
use consort_sqlite::Access;
use consort_sqlite::Store;
use consort_testkit::store_story::StoryApp;
use serde_json::Value;
use serde_json::json;

fn app(dir: &std::path::Path) -> StoryApp {
    StoryApp::new(Store::new(dir.join("consort.db"), Access::Command))
}

/// Another machine says so, by its own clock.
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
    // What that machine says later counts again, by its clock.
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
