//! Tests of waiting for what others have reserved.

use std::fs;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::HostedCommand;
use consort_testkit::Sealed;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

fn reserve(world: &Sealed, session: &str, path: &str) {
    let ran = world.run_as(Some(session), &["reserve", path]);
    assert_eq!(ran.code, 0, "{ran}");
}

/// Starts `reserve --wait` as a session, and returns once it waits.
fn wait(world: &Sealed, session: &str, path: &str) -> HostedCommand {
    let mut command = world.consort(["reserve", "--wait", path]);
    let seated = world.spawn_as_agent(command.env("CONSORT_SESSION", session));
    let log = world.data().join(format!("sessions/{session}/log"));
    let begun = Instant::now();
    let waits = || {
        let log = fs::read_to_string(&log).unwrap_or_default();
        let last = log.lines().rev().find_map(|line| line.strip_prefix("waits\t"));
        last.is_some_and(|what| !what.is_empty())
    };
    while !waits() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not wait");
        std::thread::sleep(Duration::from_millis(10));
    }
    seated
}

#[test]
fn who_waits_gets_it_when_it_is_free() {
    let world = world();
    reserve(&world, "s1", "src/a/");
    let waiting = wait(&world, "s2", "src/a/");
    assert_eq!(world.run_as(Some("s1"), &["release", "src/a/"]).code, 0);
    let (stdout, stderr, code) = waiting.output(b"");
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert_eq!((stdout.as_str(), code), ("Reserved src/a/ (reservation #2).\n", 0), "{stderr}");
    assert!(stderr.contains("Waiting for Falcon (claude on main) to let go of src/a/."), "{stderr}");

    let ran = world.run_as(Some("s1"), &["reserve", "--wait", "--timeout", "1s", "src/a/"]);
    assert_eq!(ran.code, 7, "{ran}");
    assert!(ran.stderr.contains("`src/a/` is held by Raven"), "{ran}");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "--timeout", "1s", "src/a/"]).code, 2);
    // A free path is reserved at once.
    assert_eq!(world.run_as(Some("s1"), &["reserve", "--wait", "src/c/"]).code, 0);
}

#[test]
fn two_that_wait_for_each_other_are_told() {
    let world = world();
    reserve(&world, "s1", "src/a/");
    reserve(&world, "s2", "src/b/");
    let waiting = wait(&world, "s2", "src/a/");
    let ran = world.run_as(Some("s1"), &["reserve", "--wait", "src/b/"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("Error: Raven waits for what you hold, and you for what it holds"), "{ran}");
    assert!(ran.stderr.contains("(it wants src/a/): consort release <path>"), "{ran}");
    let (_, stderr, code) = waiting.output(b"");
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("Error: Falcon waits for what you hold, and you for what it holds"), "{stderr}");
    let told = world.hook_text("s2", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(
        told.contains("You and Falcon wait for each other: you for src/a/, Falcon for src/b/."),
        "{told}"
    );

    // The earlier wait of the other does not count: now only one waits.
    let waiting = wait(&world, "s2", "src/a/");
    assert_eq!(world.run_as(Some("s1"), &["release", "src/a/"]).code, 0);
    assert_eq!(waiting.output(b"").2, 0);
}
