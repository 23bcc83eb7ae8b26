//! Tests of restoring what a holder wrote last.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::create_dir_all(world.project().join("src/auth")).unwrap();
    fs::write(world.project().join("src/auth/login.rs"), "one\ntwo\nthree\n").unwrap();
    fs::write(world.project().join(".gitignore"), "*.log\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "files"]);
    let world = world.with_falcon_and_raven();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    world
}

fn at(world: &Sealed, path: &str) -> PathBuf {
    world.project().join(path)
}

/// Has a session write a file with its own tool.
fn edit(world: &Sealed, session: &str, path: &str, text: &str) {
    fs::write(at(world, path), text).unwrap();
    let input = json!({ "tool_name": "Edit", "tool_input": { "file_path": at(world, path) } });
    world.hook_text(session, "PostToolUse", &input);
}

fn run(world: &Sealed, session: &str, event: &str) -> Option<String> {
    world.hook_text(
        session,
        event,
        &json!({ "tool_use_id": "x", "tool_input": { "command": "./script.sh" } }),
    )
}

/// Has Raven's command overwrite or remove a file.
fn trespass(world: &Sealed, path: &str, text: Option<&str>) {
    run(world, "s2", "PreToolUse");
    std::thread::sleep(Duration::from_millis(60));
    match text {
        Some(text) => fs::write(at(world, path), text).unwrap(),
        None => fs::remove_file(at(world, path)).unwrap(),
    }
    assert!(run(world, "s2", "PostToolUse").is_some());
}

fn kept(world: &Sealed) -> Vec<String> {
    let entries = fs::read_dir(world.data().join("kept")).into_iter().flatten().flatten();
    entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
}

#[test]
fn a_holder_gets_back_what_it_wrote_last() {
    let world = world();
    edit(&world, "s1", "src/auth/login.rs", "one\nFalcon's\nthree\n");
    trespass(&world, "src/auth/login.rs", Some("one\nRaven's\nthree\n"));
    let letter = world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(
        letter.contains("What you wrote last is kept: consort holds restore 'src/auth/login.rs'."),
        "{letter}"
    );

    // No other agent may restore the file, and a dry run changes nothing.
    let ran = world.run_as(Some("s2"), &["holds", "restore", "src/auth/login.rs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{ran}");
    assert_eq!(world.run_as(Some("s1"), &["holds", "restore", "--dry-run", "src/auth/login.rs"]).code, 0);
    assert_eq!(fs::read_to_string(at(&world, "src/auth/login.rs")).unwrap(), "one\nRaven's\nthree\n");

    let ran = world.run_as(Some("s1"), &["holds", "restore", "src/auth/login.rs"]);
    expect![[r#"
        src/auth/login.rs as Falcon wrote it just now:
        --- src/auth/login.rs
        +++ src/auth/login.rs
        @@ -1,3 +1,3 @@
         one
        -Raven's
        +Falcon's
         three
        Restored src/auth/login.rs
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("What was there is kept for a day: $WORLD/home/"), "{ran}");
    assert_eq!(fs::read_to_string(at(&world, "src/auth/login.rs")).unwrap(), "one\nFalcon's\nthree\n");
    let again = world.run_as(Some("s1"), &["holds", "restore", "src/auth/login.rs"]);
    assert_eq!(again.stdout, "src/auth/login.rs is as Falcon wrote it just now.\n");

    // The person may restore it too, even if it is gone.
    fs::set_permissions(at(&world, "src/auth/login.rs"), fs::Permissions::from_mode(0o755)).unwrap();
    edit(&world, "s1", "src/auth/login.rs", "#!/bin/sh\n");
    trespass(&world, "src/auth/login.rs", None);
    let ran = world.run("holds restore --json src/auth/login.rs");
    let outcome: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(outcome["restore"]["restored"], json!(true), "{ran}");
    assert!(outcome["restore"]["diff"].as_str().unwrap().contains("--- /dev/null"), "{ran}");
    assert_eq!(fs::read_to_string(at(&world, "src/auth/login.rs")).unwrap(), "#!/bin/sh\n");
    let mode = fs::metadata(at(&world, "src/auth/login.rs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o100, 0o100);

    // A file that the holder itself has removed is not kept.
    let input = json!({ "tool_use_id": "rm", "tool_input": { "command": "rm src/auth/login.rs" } });
    world.hook_text("s1", "PreToolUse", &input);
    fs::remove_file(at(&world, "src/auth/login.rs")).unwrap();
    world.hook_text("s1", "PostToolUse", &input);
    let ran = world.run_as(Some("s1"), &["holds", "restore", "src/auth/login.rs"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("nothing is kept of src/auth/login.rs"), "{ran}");
    assert!(!world.data().join("hook.log").exists());
}

#[test]
fn what_a_holders_command_wrote_is_kept_and_what_it_wrote_before() {
    let world = world();
    run(&world, "s1", "PreToolUse");
    fs::write(at(&world, "src/auth/login.rs"), "by Falcon's command\n").unwrap();
    run(&world, "s1", "PostToolUse");
    std::thread::sleep(Duration::from_millis(60));
    trespass(&world, "src/auth/login.rs", Some("Raven's\n"));
    assert_eq!(world.run_as(Some("s1"), &["holds", "restore", "src/auth/login.rs"]).code, 0);
    assert_eq!(fs::read_to_string(at(&world, "src/auth/login.rs")).unwrap(), "by Falcon's command\n");

    // A file that was written before it was reserved is kept too.
    edit(&world, "s1", "README.md", "Falcon's\n");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "README.md"]).code, 0);
    std::thread::sleep(Duration::from_millis(60));
    trespass(&world, "README.md", Some("Raven's\n"));
    assert_eq!(world.run_as(Some("s1"), &["holds", "restore", "README.md"]).code, 0);
    assert_eq!(fs::read_to_string(at(&world, "README.md")).unwrap(), "Falcon's\n");

    // A file that nobody has reserved is not kept.
    edit(&world, "s1", "free.rs", "Falcon's, and free\n");
    edit(&world, "s2", "free.rs", "Raven's, and free\n");
    assert!(kept(&world).iter().all(|text| !text.contains("and free")), "{:?}", kept(&world));
}

#[test]
fn secrets_and_ignored_and_long_files_are_not_kept() {
    let world = world();
    for (path, text) in [
        ("src/auth/.env", "PASSWORD=hunter2\n"),
        ("src/auth/run.log", "hunter2 logged in\n"),
        ("src/auth/key.rs", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n"),
        ("src/auth/token.rs", "hunter2 ghp_0123456789abcdefABCD0123\n"),
        ("src/auth/long.rs", &"hunter2".repeat(200_000)),
    ] {
        edit(&world, "s1", path, text);
        let ran = world.run_as(Some("s1"), &["holds", "restore", path]);
        assert_eq!(ran.code, 1, "{path}: {ran}");
    }
    assert!(kept(&world).iter().all(|text| !text.contains("hunter2")));
    // A file that gets a secret in it is no longer kept either.
    edit(&world, "s1", "src/auth/login.rs", "harmless\n");
    edit(&world, "s1", "src/auth/login.rs", "AKIAIOSFODNN7EXAMPLEKEY\n");
    assert_eq!(world.run_as(Some("s1"), &["holds", "restore", "src/auth/login.rs"]).code, 1);
    // Only this user can read kept files.
    let dir = world.data().join("kept");
    for entry in fs::read_dir(&dir).unwrap().flatten() {
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Kept files are removed after a day.
    let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for entry in fs::read_dir(&dir).unwrap().flatten() {
        fs::File::options().append(true).open(entry.path()).unwrap().set_modified(old).unwrap();
    }
    assert_eq!(world.run("who").code, 0);
    assert_eq!(kept(&world).concat(), "");
}
