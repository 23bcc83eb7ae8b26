//! Tests of sessions that replace another in their process, and of hooks that bring a
//! session back.

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    std::fs::write(world.project().join("spec.md"), "## TASK-01: The login\n").unwrap();
    world
}

fn hook(world: &Sealed, kind: &str, event: &str, session: &str, more: Value) -> String {
    let mut call = json!({ "session_id": session, "cwd": world.project() });
    call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    let ran = world.ran_with(&mut world.consort(["hook", kind, event]), call.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

fn names(world: &Sealed) -> Vec<(String, String)> {
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    let text = |agent: &Value, field: &str| agent[field].as_str().unwrap().to_owned();
    let agents = who["items"].as_array().unwrap().iter();
    agents.map(|agent| (text(agent, "name"), text(agent, "session"))).collect()
}

#[test]
fn the_new_session_has_all_that_was_the_old_ones() {
    for (kind, end, start) in
        [("claude", "SessionEnd", "SessionStart"), ("gemini", "SessionEnd", "SessionStart")]
    {
        let world = world();
        hook(&world, kind, start, "other", json!({ "source": "startup" }));
        hook(&world, kind, start, "old", json!({ "source": "startup" }));
        let name = names(&world).into_iter().find(|(_, session)| session == "old").unwrap().0;
        for line in [&["reserve", "src/auth/"][..], &["task", "next", "--spec", "spec.md"]] {
            assert_eq!(world.run_as(Some("old"), line).code, 0);
        }
        assert_eq!(world.run_as(None, &["send", &name, "for you"]).code, 0);

        hook(&world, kind, end, "old", json!({ "reason": "clear" }));
        assert!(world.run("holds list").stdout.contains("src/auth/"));
        let told = hook(&world, kind, start, "new", json!({ "source": "clear" }));
        let told = match kind {
            // Gemini hears nothing at its start, but is told with its first prompt.
            "gemini" => {
                assert_eq!(told, "");
                hook(&world, kind, "BeforeAgent", "new", json!({ "prompt": "go on" }))
            }
            _ => told,
        };
        assert!(told.contains(&format!("You are {name} ")), "{kind}: {told}");
        assert!(told.contains("for you"), "{kind}: {told}");

        let mut now = names(&world);
        now.sort();
        assert_eq!(now.len(), 2, "{now:?}");
        assert!(now.contains(&(name.clone(), "new".into())), "{now:?}");
        let mine = world.run_as(Some("new"), &["explain", "src/auth/"]).stdout;
        assert!(mine.contains("You may write it."), "{mine}");
        let theirs = world.run_as(Some("other"), &["explain", "src/auth/"]).stdout;
        assert!(theirs.contains(&format!("{name} ({kind} on main)")), "{theirs}");
        let tasks = world.run("task list --spec spec.md").stdout;
        assert!(tasks.contains(&format!("[{name}, ")), "{tasks}");
        assert_eq!(world.run_as(Some("new"), &["task", "done", "--spec", "spec.md"]).code, 0);
        assert_eq!(world.run("journal verify").code, 0);
        let tail = world.run("journal tail").stdout;
        assert!(tail.contains("was replaced by another session of its process"), "{tail}");
        // A message to the name reaches the new session.
        assert_eq!(world.run_as(None, &["send", &name, "once more"]).code, 0);
        assert!(world.run_as(Some("new"), &["inbox"]).stdout.contains("once more"));
    }
}

#[test]
fn sessions_that_share_a_process_are_not_mistaken_for_each_other() {
    let world = world();
    for session in ["a", "b"] {
        hook(&world, "claude", "SessionStart", session, json!({ "source": "startup" }));
    }
    // Neither session was announced as replaced, and there are two, so the third is a new agent.
    hook(&world, "claude", "SessionStart", "c", json!({ "source": "clear" }));
    assert_eq!(names(&world).len(), 3);
}

#[test]
fn a_late_hook_brings_nobody_back() {
    let world = world();
    hook(&world, "claude", "SessionStart", "s1", json!({}));
    hook(&world, "claude", "SessionEnd", "s1", json!({ "reason": "prompt_input_exit" }));
    for event in ["PostToolUse", "PreToolUse", "Stop", "Notification", "SubagentStop", "PreCompact"] {
        hook(&world, "claude", event, "s1", json!({ "tool_name": "Bash", "agent_id": "x", "message": "m" }));
        assert!(names(&world).is_empty(), "{event}");
    }
    // A prompt brings the session back.
    hook(&world, "claude", "UserPromptSubmit", "s1", json!({ "prompt": "go on" }));
    assert_eq!(names(&world).len(), 1);
}

/// A session that is resumed while it still runs elsewhere is a second agent, with none of the
/// first agent's mail and holds.
#[test]
fn a_session_resumed_while_it_runs_is_a_second_agent() {
    let world = world();
    hook(&world, "claude", "SessionStart", "s1", json!({ "source": "startup" }));
    let first = names(&world)[0].0.clone();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    assert_eq!(world.run_as(None, &["send", &first, "for the first"]).code, 0);

    let elsewhere = tempfile::tempdir().unwrap();
    let mut second = consort_testkit::HostProcess::start(elsewhere.path());
    let there = |event: &str, more: Value| {
        let mut call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Edit",
            "tool_input": { "file_path": world.project().join("src/a.rs") } });
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        let (said, _, code) =
            second.spawn(&world.consort(["hook", "claude", event])).output(call.to_string().as_bytes());
        assert_eq!(code, 0);
        String::from_utf8(said).unwrap()
    };
    // Before its start hook, the second session is nobody, and its writes are still refused.
    assert!(!there("PostToolUse", json!({})).contains("for the first"));
    assert!(there("PreToolUse", json!({})).contains("reserved by"));
    there("SessionEnd", json!({ "reason": "other" }));
    assert_eq!(names(&world).len(), 1);
    assert!(world.run("holds list").stdout.contains("src/"));

    let told = there("SessionStart", json!({ "source": "resume" }));
    assert!(!told.contains(&format!("You are {first} ")) && told.contains("You are "), "{told}");
    assert!(!told.contains("for the first"), "{told}");
    assert_eq!(names(&world).len(), 2);
    assert!(there("PreToolUse", json!({})).contains(&format!("reserved by {first}")));
    assert!(!there("PostToolUse", json!({})).contains("for the first"));
    assert!(hook(&world, "claude", "PostToolUse", "s1", json!({})).contains("for the first"));
    there("SessionEnd", json!({ "reason": "other" }));
    assert_eq!(names(&world), [(first.clone(), "s1".to_owned())]);
    second.end();
}

#[test]
fn a_session_goes_on_in_another_process_once_the_first_is_gone() {
    let world = world();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut first = consort_testkit::HostProcess::start(elsewhere.path());
    let call = json!({ "session_id": "s1", "cwd": world.project(), "source": "startup" }).to_string();
    first.spawn(&world.consort(["hook", "claude", "SessionStart"])).output(call.as_bytes());
    let name = names(&world)[0].0.clone();
    first.end();
    let told = hook(&world, "claude", "SessionStart", "s1", json!({ "source": "resume" }));
    assert!(told.contains(&format!("You are {name} ")), "{told}");
    assert_eq!(names(&world), [(name, "s1".to_owned())]);
}
