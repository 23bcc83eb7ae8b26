//! Tests of what may and may not happen while the write lock is held.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use consort_testkit::Sealed;
use serde_json::json;

/// Returns a path whose first `git` notes whether anyone holds the write lock
/// while it runs.
fn with_watching_git(world: &Sealed) -> String {
    let bin = world.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let (lock, noted) = (world.data().join("consort.lock"), world.path().join("noted"));
    let script = format!(
        "#!/bin/sh\nif [ -e '{lock}' ] && ! flock -n '{lock}' true; then echo held >> '{noted}'; \
         else echo free >> '{noted}'; fi\nexec /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin git \"$@\"\n",
        lock = lock.display(),
        noted = noted.display(),
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display())
}

#[test]
fn git_never_runs_under_the_write_lock() {
    for arguments in [
        &["reserve", "src/"][..],
        &["reserve", "--advisory", "topic:auth"],
        &["holds", "contest", "src/"],
        &["release", "src/"],
        &["task", "next", "--spec", "spec.md"],
        &["task", "list", "--spec", "spec.md"],
        &["know", "add", "principle", "one", "text"],
        &["agent", "handoff", "Falcon"],
        &["radar", "merges"],
        &["who"],
    ] {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        // Falcon joined before `git init`: the repository was never seen.
        let world = world.with_falcon_and_raven();
        world.git_init();
        fs::write(world.project().join("spec.md"), "## TASK-01: one\n").unwrap();
        let path = with_watching_git(&world);
        let mut command = world.consort(arguments.iter().copied());
        world.ran(command.env("PATH", &path).env("CONSORT_SESSION", "s1"));
        for event in ["SessionStart", "PreToolUse", "PostToolUse", "Stop"] {
            let call = json!({ "session_id": "s9", "cwd": world.project(), "tool_name": "Bash",
                               "tool_input": { "command": "git add -A" } });
            let mut hook = world.consort(["hook", "claude", event]);
            assert_eq!(world.ran_with(hook.env("PATH", &path), call.to_string().as_bytes()).code, 0);
        }
        let noted = fs::read_to_string(world.path().join("noted")).unwrap_or_default();
        assert!(!noted.contains("held"), "{arguments:?}");
        assert!(noted.contains("free") || arguments[0] == "who", "{arguments:?}");
    }
}

/// If `git` does not answer in time, the repository's identity is not settled.
#[test]
fn a_git_that_does_not_answer_settles_nothing() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let bin = world.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("git"), "#!/bin/sh\nexec sleep 3\n").unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let slow = format!("{}:/usr/bin:/bin", bin.display());
    let call = json!({ "session_id": "s1", "cwd": world.project() }).to_string();
    let mut hook = world.consort(["hook", "claude", "SessionStart"]);
    world.ran_with(hook.env("PATH", slow), call.as_bytes());
    world.ran_with(&mut world.consort(["hook", "claude", "SessionStart"]), call.as_bytes());
    let who: serde_json::Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    assert!(who["items"][0]["project"]["id"].as_str().unwrap().starts_with("commit:"), "{who}");
}

/// Exit code 5 says that nothing was sent: another try sends the message once.
#[test]
fn a_send_that_reports_a_busy_store_has_sent_nothing() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    let mut holder = world.command("flock");
    holder.arg(world.data().join("consort.lock")).args(["sh", "-c", "echo held; cat"]);
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    holder.stdout.as_mut().unwrap().read_exact(&mut [0; 4]).unwrap();
    let send = ["send", "Raven", "once"];
    let ran = world.run_as(Some("s1"), &send);
    assert_eq!(ran.code, 5, "{ran}");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(world.run_as(Some("s1"), &["inbox", "--sent"]).stdout.matches("once").count(), 0);
    assert_eq!(world.run_as(Some("s1"), &send).code, 0);
    assert_eq!(world.run_as(Some("s1"), &["inbox", "--sent"]).stdout.matches("once").count(), 1);
}
