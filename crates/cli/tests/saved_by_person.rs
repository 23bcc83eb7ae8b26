//! Tests of what a holder is told when the person saves files that it has reserved.

use std::fs;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::json;

#[test]
fn the_holder_hears_that_its_user_saved_a_reserved_file() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src")).unwrap();
    for file in ["src/a.rs", "src/b.rs", "README.md"] {
        fs::write(world.project().join(file), "first\n").unwrap();
    }
    let world = world.with_falcon_and_raven();
    let at = |file: &str| world.project().join(file);
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    let read = |file: &str| json!({ "tool_name": "Read", "tool_input": { "file_path": at(file) } });
    let prompt = || world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" }));
    world.hook_text("s1", "PostToolUse", &read("src/a.rs"));
    world.hook_text("s1", "PostToolUse", &read("README.md"));
    assert_eq!(prompt(), None);
    std::thread::sleep(Duration::from_millis(60));

    // Changes to files that it has read are told with the next tool, others with the next prompt.
    for file in ["src/a.rs", "src/b.rs", "README.md"] {
        fs::write(at(file), "in an editor\n").unwrap();
    }
    let told = world.hook_text("s1", "PreToolUse", &json!({ "tool_name": "Glob" })).unwrap();
    assert!(told.contains("src/a.rs (by your user, just now)"), "{told}");
    assert!(told.contains("README.md (by someone else, just now)"), "it is not its own: {told}");
    let told = prompt().unwrap();
    assert!(
        told.contains("Your user has saved what you have reserved") && told.contains("src/b.rs"),
        "{told}"
    );
    assert!(!told.contains("src/a.rs"), "{told}");
    assert_eq!(prompt(), None, "once");

    // The holder's own write, and a change while an agent ran a command, do not count as the person's.
    fs::write(at("src/b.rs"), "by Falcon\n").unwrap();
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": at("src/b.rs") } });
    world.hook_text("s1", "PostToolUse", &edit);
    assert_eq!(prompt(), None);
    let run = json!({ "tool_use_id": "one", "tool_input": { "command": "./script.sh" } });
    world.hook_text("s2", "PreToolUse", &run);
    std::thread::sleep(Duration::from_millis(30));
    fs::write(at("src/b.rs"), "by Raven\n").unwrap();
    world.hook_text("s2", "PostToolUse", &run);
    let told = prompt().unwrap();
    assert!(
        told.contains("what you have reserved changed: src/b.rs") && !told.contains("our user has saved"),
        "{told}"
    );
}
