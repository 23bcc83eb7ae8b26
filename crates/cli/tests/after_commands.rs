//! Tests of the changes that are found after a command whose text does not tell what it writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src/auth/deep")).unwrap();
    for file in ["src/auth/login.rs", "src/auth/token.rs", "src/auth/deep/key.rs", "README.md"] {
        fs::write(world.project().join(file), "first\n").unwrap();
    }
    fs::write(world.project().join(".gitignore"), "*.pyc\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    world
}

fn at(world: &Sealed, path: &str) -> PathBuf {
    world.project().join(path)
}

/// Runs a hook for a shell command; `more` is added to the tool's input.
fn bash(world: &Sealed, session: &str, event: &str, id: &str, more: &Value) -> Option<String> {
    let mut input = json!({ "command": "./script.sh" });
    input.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    world.hook_text(session, event, &json!({ "tool_use_id": id, "tool_input": input }))
}

fn begin(world: &Sealed, session: &str, id: &str) {
    assert_eq!(bash(world, session, "PreToolUse", id, &json!({})), None);
    // Two changes in the same instant could not be told apart.
    std::thread::sleep(Duration::from_millis(30));
}

fn end(world: &Sealed, session: &str, id: &str) -> Option<String> {
    bash(world, session, "PostToolUse", id, &json!({}))
}

/// Returns what a session is told with its next prompt.
fn prompted(world: &Sealed, session: &str) -> Option<String> {
    world.hook_text(session, "UserPromptSubmit", &json!({ "prompt": "go on" }))
}

#[test]
fn what_is_gone_from_a_reserved_directory_or_was_moved_there_is_seen() {
    let world = world();
    // An untracked file, known only from the disk.
    fs::write(at(&world, "src/auth/new.rs"), "new\n").unwrap();
    begin(&world, "s2", "one");
    fs::remove_file(at(&world, "src/auth/new.rs")).unwrap();
    fs::rename(at(&world, "src/auth/token.rs"), at(&world, "src/auth/moved.rs")).unwrap();
    expect![[r#"
        [consort] While your command ran, files changed that others have reserved. src/auth/moved.rs, src/auth/new.rs (removed), src/auth/token.rs (removed) (of src/auth/) are reserved by Falcon (claude on main), just now.
        They have been notified. Do not revert it yourself; agree with them what to do."#]]
    .assert_eq(&end(&world, "s2", "one").unwrap());
    let letter = prompted(&world, "s1").unwrap();
    assert!(
        letter.contains("what you have reserved changed: src/auth/moved.rs, src/auth/new.rs (removed)"),
        "{letter}"
    );
    assert!(letter.contains("The command: \"./script.sh\""), "{letter}");

    // A directory that is removed, and one that is moved in, with files older than the command.
    fs::create_dir_all(at(&world, "docs/old")).unwrap();
    fs::write(at(&world, "docs/old/page.rs"), "old\n").unwrap();
    std::thread::sleep(Duration::from_millis(30));
    begin(&world, "s2", "two");
    fs::remove_file(at(&world, "src/auth/deep/key.rs")).unwrap();
    fs::remove_dir(at(&world, "src/auth/deep")).unwrap();
    fs::rename(at(&world, "docs/old"), at(&world, "src/auth/old")).unwrap();
    let told = end(&world, "s2", "two").unwrap();
    assert!(
        told.contains("src/auth/deep/key.rs (removed)") && told.contains("src/auth/old/page.rs"),
        "{told}"
    );

    // An ignored file, and a file that was made and removed, are not mentioned.
    begin(&world, "s2", "three");
    fs::write(at(&world, "src/auth/login.pyc"), "").unwrap();
    fs::write(at(&world, "src/auth/lock"), "").unwrap();
    fs::remove_file(at(&world, "src/auth/lock")).unwrap();
    assert_eq!(end(&world, "s2", "three"), None);

    // A removal by the holder's own `rm` at the same time is not blamed on the other session.
    begin(&world, "s2", "four");
    let input = json!({ "tool_use_id": "rm", "tool_input": { "command": "rm src/auth/moved.rs" } });
    world.hook_text("s1", "PreToolUse", &input);
    fs::remove_file(at(&world, "src/auth/moved.rs")).unwrap();
    world.hook_text("s1", "PostToolUse", &input);
    assert_eq!(end(&world, "s2", "four"), None);
    assert!(!world.data().join("hook.log").exists());
}

#[test]
fn what_the_person_has_reserved_counts_too() {
    let world = world();
    assert_eq!(world.run("reserve README.md").code, 0);
    begin(&world, "s2", "one");
    fs::remove_file(at(&world, "README.md")).unwrap();
    let told = end(&world, "s2", "one").unwrap();
    assert!(told.contains("README.md (removed) is reserved by your user"), "{told}");
    let inbox = world.run("inbox").stdout;
    assert!(inbox.contains("what you have reserved changed: README.md (removed)"), "{inbox}");
}

#[test]
fn what_is_reserved_in_another_worktree_is_looked_at_there() {
    let world = world();
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = world.path().join("side");
    let call = |event: &str| {
        let call = json!({ "session_id": "s2", "cwd": &side, "tool_name": "Bash", "tool_use_id": "one",
            "tool_input": { "command": "make -C ../shop" } });
        world.hook(event, &call).stdout
    };
    call("PreToolUse");
    std::thread::sleep(Duration::from_millis(30));
    // The copy in the command's own worktree is not reserved; the holder's copy is.
    fs::write(side.join("src/auth/login.rs"), "mine\n").unwrap();
    fs::write(at(&world, "src/auth/token.rs"), "changed\n").unwrap();
    fs::remove_file(at(&world, "src/auth/deep/key.rs")).unwrap();
    let told = call("PostToolUse");
    assert!(told.contains("src/auth/token.rs") && told.contains("key.rs (removed)"), "{told}");
    assert!(!told.contains("login.rs"), "{told}");
}

#[test]
fn while_the_holder_runs_a_command_the_author_is_unknown() {
    let world = world();
    begin(&world, "s1", "own");
    begin(&world, "s2", "one");
    fs::write(at(&world, "src/auth/login.rs"), "by one of them\n").unwrap();
    let told = end(&world, "s2", "one").unwrap();
    assert!(told.contains("Falcon ran a command at the same time: the author is unknown."), "{told}");
    let letter = prompted(&world, "s1").unwrap();
    assert!(letter.contains("You ran a command at the same time: the author is unknown."), "{letter}");

    // The holder's command was interrupted: the prompt has ended it.
    std::thread::sleep(Duration::from_millis(30));
    begin(&world, "s2", "two");
    fs::write(at(&world, "src/auth/login.rs"), "by Raven alone\n").unwrap();
    let told = end(&world, "s2", "two").unwrap();
    assert!(told.contains("src/auth/login.rs") && !told.contains("unknown"), "{told}");

    // A holder's command that ended before the change leaves no doubt about the author.
    begin(&world, "s2", "three");
    begin(&world, "s1", "short");
    end(&world, "s1", "short");
    std::thread::sleep(Duration::from_millis(60));
    fs::write(at(&world, "src/auth/login.rs"), "by Raven again\n").unwrap();
    let told = end(&world, "s2", "three").unwrap();
    assert!(told.contains("src/auth/login.rs") && !told.contains("unknown"), "{told}");

    // The holder's own edit does not hide a later change by the command.
    begin(&world, "s2", "four");
    fs::write(at(&world, "src/auth/login.rs"), "by Falcon\n").unwrap();
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": at(&world, "src/auth/login.rs") } });
    world.hook_text("s1", "PostToolUse", &edit);
    std::thread::sleep(Duration::from_millis(60));
    fs::write(at(&world, "src/auth/login.rs"), "by Raven, over it\n").unwrap();
    assert!(end(&world, "s2", "four").unwrap().contains("src/auth/login.rs"));
}

#[test]
fn an_interrupted_command_ends_with_the_next_prompt() {
    let world = world();
    begin(&world, "s2", "one");
    fs::write(at(&world, "src/auth/login.rs"), "half done\n").unwrap();
    let told = prompted(&world, "s2").unwrap();
    assert!(told.contains("files changed that others have reserved. src/auth/login.rs"), "{told}");
    assert!(prompted(&world, "s1").unwrap().contains("The command: \"./script.sh\""));
    // The command has ended: later changes are not blamed on it.
    std::thread::sleep(Duration::from_millis(30));
    fs::write(at(&world, "src/auth/login.rs"), "later\n").unwrap();
    assert_eq!(prompted(&world, "s2"), None);

    // At the end of a turn only the holder is told at once; the session is told with its next prompt.
    begin(&world, "s2", "two");
    fs::remove_file(at(&world, "src/auth/token.rs")).unwrap();
    let stop = json!({ "session_id": "s2", "cwd": world.project(), "stop_hook_active": false });
    assert_eq!(world.hook("Stop", &stop).stdout, "");
    assert!(prompted(&world, "s1").unwrap().contains("src/auth/token.rs (removed)"));
    assert!(prompted(&world, "s2").unwrap().contains("src/auth/token.rs (removed)"));
}

#[test]
fn a_command_in_the_background_is_looked_at_until_it_ends() {
    let world = world();
    let background = json!({ "run_in_background": true });
    assert_eq!(bash(&world, "s2", "PreToolUse", "one", &background), None);
    assert_eq!(bash(&world, "s2", "PostToolUse", "one", &background), None);
    std::thread::sleep(Duration::from_millis(30));
    fs::write(at(&world, "src/auth/login.rs"), "in the background\n").unwrap();
    let asked = json!({ "tool_name": "TaskOutput", "tool_input": { "task_id": "b1" } });
    let told = world.hook_text("s2", "PostToolUse", &asked).unwrap();
    assert!(told.contains("src/auth/login.rs"), "{told}");
    assert_eq!(world.hook_text("s2", "PostToolUse", &asked), None, "once");
    let stop = |tasks: Value| {
        let call = json!({ "session_id": "s2", "cwd": world.project(), "background_tasks": tasks });
        assert_eq!(world.hook("Stop", &call).stdout, "");
    };
    stop(json!([{ "id": "b1" }]));
    fs::remove_file(at(&world, "src/auth/token.rs")).unwrap();
    stop(json!([]));
    assert!(prompted(&world, "s2").unwrap().contains("src/auth/token.rs (removed)"));
    // The background command has ended: later changes are not blamed on it.
    std::thread::sleep(Duration::from_millis(30));
    fs::write(at(&world, "src/auth/login.rs"), "later\n").unwrap();
    assert_eq!(prompted(&world, "s2"), None);

    // A command that the CLI moves to the background when its time is up.
    std::thread::sleep(Duration::from_millis(60));
    begin(&world, "s2", "two");
    let moved = json!({ "tool_use_id": "two", "tool_input": { "command": "./script.sh" },
        "tool_response": { "stdout": "", "backgroundTaskId": "b2" } });
    assert_eq!(world.hook_text("s2", "PostToolUse", &moved), None);
    fs::write(at(&world, "src/auth/login.rs"), "later still\n").unwrap();
    assert!(prompted(&world, "s2").unwrap().contains("src/auth/login.rs"));

    // A job that the shell leaves running.
    std::thread::sleep(Duration::from_millis(60));
    let left = json!({ "command": "./watch.sh >log 2>&1 & ./other.sh" });
    assert_eq!(bash(&world, "s2", "PreToolUse", "three", &left), None);
    assert_eq!(bash(&world, "s2", "PostToolUse", "three", &left), None);
    fs::remove_file(at(&world, "src/auth/deep/key.rs")).unwrap();
    assert!(prompted(&world, "s2").unwrap().contains("src/auth/deep/key.rs (removed)"));
}

#[test]
fn what_git_does_not_answer_in_time_is_unknown() {
    let world = world();
    fs::write(at(&world, "src/auth/login.rs"), "Falcon's, not committed\n").unwrap();
    let slow = world.home().join("slow");
    fs::create_dir_all(&slow).unwrap();
    fs::write(slow.join("git"), "#!/bin/sh\nsleep 1\nexec /usr/bin/git \"$@\"\n").unwrap();
    fs::set_permissions(slow.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", slow.display());
    let hook = |event: &str, path: &str| {
        let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Bash", "tool_use_id": "one",
            "tool_input": { "command": "git stash" } });
        let mut hook = world.consort(["hook", "claude", event]);
        world.ran_with(hook.env("PATH", path), call.to_string().as_bytes()).stdout
    };
    assert!(hook("PreToolUse", "/usr/local/bin:/usr/bin:/bin").contains("\"deny\""));
    assert!(!hook("PreToolUse", &path).contains("\"deny\""));
    std::thread::sleep(Duration::from_millis(30));
    fs::write(at(&world, "src/auth/login.rs"), "as it was committed\n").unwrap();
    let told = hook("PostToolUse", "/usr/local/bin:/usr/bin:/bin");
    assert!(told.contains("src/auth/login.rs") && told.contains("reserved by Falcon"), "{told}");
}
