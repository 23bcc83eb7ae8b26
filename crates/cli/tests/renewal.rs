//! Tests of reservations for a time, which are renewed while their holder works on them.

use std::fs;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

#[test]
fn a_reservation_for_a_time_goes_on_while_its_holder_writes_there() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "--ttl", "12s", "a.rs"]).code, 0);
    let until = || {
        let listed: Value = serde_json::from_str(&world.run("holds list --json").stdout).unwrap();
        listed["items"][0]["until_at"].clone()
    };
    let edit = |session: &str| {
        fs::write(world.project().join("a.rs"), session).unwrap();
        let input =
            json!({ "tool_name": "Edit", "tool_input": { "file_path": world.project().join("a.rs") } });
        world.hook_text(session, "PostToolUse", &input);
    };
    let first = until();
    assert!(!first.is_null());
    edit("s1");
    assert_eq!(until(), first, "there is time enough");
    std::thread::sleep(Duration::from_millis(6_100));
    edit("s2");
    assert_eq!(until(), first, "that is another's work");
    edit("s1");
    assert_ne!(until(), first);
}
