//! Tests of repositories and holders that were renamed.

use std::fs;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src")).unwrap();
    fs::write(world.project().join("src/a.rs"), "first\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    world
}

#[test]
fn a_renamed_repository_is_protected_as_before() {
    let world = world();
    let store = world.path().join("store");
    fs::rename(world.project(), &store).unwrap();
    // Another directory takes the old place.
    fs::create_dir(world.project()).unwrap();
    let edit = |session: &str| {
        let call = json!({ "session_id": session, "cwd": &store, "tool_name": "Edit",
            "tool_input": { "file_path": store.join("src/a.rs") } });
        world.hook("PreToolUse", &call).stdout
    };
    assert!(edit("s2").contains("src/a.rs (of src/) is reserved by Falcon"), "{}", edit("s2"));
    assert_eq!(edit("s1"), "");
    let bash = |event: &str, command: &str| {
        let call = json!({ "session_id": "s2", "cwd": &store, "tool_name": "Bash", "tool_use_id": "one",
            "tool_input": { "command": command } });
        world.hook(event, &call).stdout
    };
    assert!(bash("PreToolUse", "rm -rf src").contains("deny"));
    assert_eq!(bash("PreToolUse", "./script.sh"), "");
    std::thread::sleep(Duration::from_millis(30));
    fs::remove_file(store.join("src/a.rs")).unwrap();
    assert!(bash("PostToolUse", "./script.sh").contains("src/a.rs (removed)"));
    let mut explain = world.consort(["explain", "src/a.rs"]);
    let explained = world.ran(explain.env("CONSORT_SESSION", "s2").current_dir(&store));
    assert!(explained.stdout.contains("You may not write it."), "{explained}");
}

#[test]
fn the_look_after_a_command_finds_a_renamed_repository_by_itself() {
    let world = world();
    let store = world.path().join("store");
    fs::rename(world.project(), &store).unwrap();
    fs::create_dir(world.project()).unwrap();
    let bash = |event: &str| {
        let call = json!({ "session_id": "s2", "cwd": &store, "tool_name": "Bash", "tool_use_id": "one",
            "tool_input": { "command": "./script.sh" } });
        world.hook(event, &call).stdout
    };
    assert_eq!(bash("PreToolUse"), "");
    std::thread::sleep(Duration::from_millis(30));
    fs::remove_file(store.join("src/a.rs")).unwrap();
    assert!(bash("PostToolUse").contains("src/a.rs (removed)"));
}

#[test]
fn the_same_path_in_another_repository_is_free() {
    let world = world();
    let other = world.path().join("other");
    fs::create_dir_all(other.join("src")).unwrap();
    for arguments in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "another root"]] {
        let mut git = world.command("git");
        git.args(["-c", "user.name=o", "-c", "user.email=o@example.com"]).args(arguments);
        assert_eq!(world.ran(git.current_dir(&other)).code, 0);
    }
    let call = json!({ "session_id": "s2", "cwd": &other, "tool_name": "Edit",
        "tool_input": { "file_path": other.join("src/a.rs") } });
    assert_eq!(world.hook("PreToolUse", &call).stdout, "");
}

#[test]
fn a_renamed_holder_has_one_name() {
    let world = world();
    assert_eq!(world.run_as(Some("s2"), &["holds", "contest", "src/"]).code, 0);
    assert_eq!(world.run_as(Some("s1"), &["agent", "rename", "Osprey"]).code, 0);
    assert_eq!(world.run_as(Some("s2"), &["agent", "rename", "Crow"]).code, 0);
    let edit = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Edit",
        "tool_input": { "file_path": world.project().join("src/a.rs") } });
    let listed = world.run("holds list").stdout;
    let refused = world.hook("PreToolUse", &edit).stdout;
    let explained = world.run_as(Some("s2"), &["explain", "src/a.rs"]).stdout;
    let wanted = world.run_as(Some("s2"), &["reserve", "src/a.rs"]).stderr;
    for shown in [&listed, &refused, &explained, &wanted] {
        assert!(shown.contains("Osprey (claude on main") && !shown.contains("Falcon"), "{shown}");
    }
    assert!(listed.contains("contested by Crow") && !listed.contains("Raven"), "{listed}");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_message_to_a_former_name_is_told_the_new_one() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["agent", "rename", "Osprey"]).code, 0);
    assert_eq!(world.run_as(Some("s1"), &["agent", "rename", "Badger"]).code, 0);
    for former in ["Falcon", "osprey"] {
        let refused = world.run(&format!("send {former} hi"));
        assert!(refused.code == 1 && refused.stderr.contains("did you mean `Badger`?"), "{refused}");
    }
}
