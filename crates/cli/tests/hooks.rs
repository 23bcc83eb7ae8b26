//! Tests of hooks, called as an agent CLI calls them.

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world
}

fn payload(world: &Sealed, more: Value) -> Value {
    let mut payload = json!({ "session_id": "s1", "cwd": world.project(), "transcript_path": "/x" });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

/// Runs a hook and checks that it says nothing.
fn silent(world: &Sealed, event: &str, more: Value) {
    let ran = world.hook(event, &payload(world, more));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0), "{event}");
}

fn seen(world: &Sealed) -> Value {
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    who["items"].get(0).cloned().unwrap_or_default()
}

fn context(world: &Sealed, environment: &[(&str, &str)]) -> Option<String> {
    let mut hook = world.consort(["hook", "claude", "SessionStart"]);
    hook.envs(environment.iter().copied());
    let ran =
        world.ran_with(&mut hook, payload(world, json!({ "source": "startup" })).to_string().as_bytes());
    assert_eq!((ran.stderr.as_str(), ran.code), ("", 0));
    if ran.stdout.is_empty() {
        return None;
    }
    let reply: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(reply["hookSpecificOutput"]["hookEventName"], "SessionStart");
    reply["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
}

#[test]
fn a_session_from_start_to_end() {
    let world = world();
    let told = context(&world, &[("CONSORT_NAME", "Raven")]).unwrap();
    assert_eq!(
        told,
        "[consort] You are Raven (project shop, branch main). No other agents are here yet; you will be told here when one joins."
    );
    assert_eq!((&seen(&world)["status"], &seen(&world)["prompts"]), (&json!("idle"), &json!(0)));

    silent(&world, "UserPromptSubmit", json!({ "prompt": "fix it" }));
    assert_eq!((&seen(&world)["status"], &seen(&world)["prompts"]), (&json!("working"), &json!(1)));

    let file = world.project().join("src/a.rs");
    silent(&world, "PreToolUse", json!({ "tool_name": "Edit", "tool_input": { "file_path": file } }));
    assert_eq!(seen(&world)["doing"], "Edit src/a.rs");
    silent(&world, "PostToolUse", json!({ "tool_name": "Edit", "tool_response": { "ok": true } }));
    assert_eq!(seen(&world)["doing"], Value::Null);

    silent(&world, "PermissionRequest", json!({ "tool_name": "Bash", "tool_input": { "command": "rm x" } }));
    assert_eq!(seen(&world)["waiting_for"], "permission for Bash");
    let asks = json!({ "message": "Claude needs your permission", "notification_type": "permission_prompt" });
    silent(&world, "Notification", asks);
    assert_eq!(seen(&world)["status"], "waiting");
    silent(&world, "PostToolUseFailure", json!({ "tool_name": "Bash", "error": "Exit code 1" }));
    assert_eq!((&seen(&world)["status"], &seen(&world)["waiting_for"]), (&json!("working"), &Value::Null));

    silent(&world, "SubagentStart", json!({ "agent_id": "a1", "agent_type": "Explore" }));
    assert_eq!(seen(&world)["subagents"][0]["kind"], "Explore");
    assert!(world.run("who").stdout.contains("└ Explore"));
    silent(&world, "SubagentStop", json!({ "agent_id": "a1", "agent_type": "Explore" }));
    assert_eq!(seen(&world)["subagents"], json!([]));

    silent(&world, "PreCompact", json!({ "trigger": "auto" }));
    assert_eq!(seen(&world)["doing"], "compacting");
    silent(&world, "StopFailure", json!({ "error": "rate_limit" }));
    assert_eq!(seen(&world)["doing"], "stopped by rate_limit");
    silent(&world, "Stop", json!({ "stop_hook_active": false }));
    assert_eq!((&seen(&world)["status"], &seen(&world)["doing"]), (&json!("idle"), &Value::Null));
    silent(&world, "Notification", json!({ "message": "waiting", "notification_type": "idle_prompt" }));
    assert_eq!(seen(&world)["status"], "idle");

    silent(&world, "SessionEnd", json!({ "reason": "other" }));
    assert_eq!(seen(&world), Value::Null);
    assert!(!world.data().join("hook.log").exists());
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn what_nobody_knows_is_ignored() {
    let world = world();
    context(&world, &[]);
    silent(&world, "FutureEvent", json!({ "anything": [1, 2] }));
    // Fields of an unexpected type count as absent.
    silent(&world, "Notification", json!({ "message": { "text": "x" }, "notification_type": 7 }));
    assert_eq!(seen(&world)["waiting_for"], "your attention");
    silent(&world, "PreToolUse", json!({ "tool_name": "New", "tool_input": { "file_path": ["a"], "x": 1 } }));
    assert_eq!(seen(&world)["doing"], "New");
    for garbage in ["", "{", "[]", "null", "\u{0}"] {
        let ran = world.ran_with(&mut world.consort(["hook", "claude", "PreToolUse"]), garbage.as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0), "{garbage:?}");
    }
    for line in ["hook", "hook claude", "hook nobody PreToolUse"] {
        let ran = world.run(line);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0), "{line}");
    }
}

#[test]
fn hooks_that_were_installed_while_a_session_ran_register_it() {
    let world = world();
    silent(&world, "PreToolUse", json!({ "tool_name": "Read", "tool_input": { "file_path": "/x/y" } }));
    assert_eq!((&seen(&world)["status"], &seen(&world)["doing"]), (&json!("working"), &json!("Read /x/y")));
}

#[test]
fn how_much_a_session_is_told_is_the_persons_choice() {
    let world = world();
    let name = ("CONSORT_NAME", "Raven");
    assert!(context(&world, &[name]).is_some());
    let minimal = context(&world, &[name, ("CONSORT_CONTEXT_MODE", "minimal")]).unwrap();
    assert_eq!(minimal, "[consort] You are Raven; no other agent is here (`consort who`).");
    assert_eq!(context(&world, &[name, ("CONSORT_CONTEXT_MODE", "none")]), None);
    assert_eq!(context(&world, &[name, ("CONSORT_CONTEXT_REGISTRATION", "off")]), None);

    // The command that changes a setting publishes it, and the next hook reads it.
    assert_eq!(world.run("config set context.mode minimal").code, 0);
    assert!(context(&world, &[name]).unwrap().ends_with("(`consort who`)."));
    assert_eq!(world.run("config set --project context.mode none").code, 0);
    assert_eq!(context(&world, &[name]), None);
    // A file changed by hand is published by the next command of any kind.
    std::fs::write(world.project().join(".consort/config.toml"), "").unwrap();
    world.run("status");
    assert!(context(&world, &[name]).is_some());
}

#[test]
fn dormant_until_asked_to_join() {
    let world = world();
    world.run("config set presence.auto_register false");
    assert_eq!(context(&world, &[]), None);
    silent(&world, "UserPromptSubmit", json!({ "prompt": "x" }));
    assert_eq!(seen(&world), Value::Null);
    // The session itself asks to join: the agent's own variables say which session it is.
    let pid = std::process::id().to_string();
    let inside = [("CLAUDE_CODE_SESSION_ID", "s1"), ("CLAUDE_PID", &pid)];
    let joined = world.ran(world.consort(["agent", "join", "--name", "Raven"]).envs(inside));
    assert_eq!(joined.stdout, "Joined as Raven in shop on main. 0 other agents here.\n");
    silent(&world, "UserPromptSubmit", json!({ "prompt": "x" }));
    assert_eq!(seen(&world)["status"], "working");
    // A session that was asked to leave stays away.
    assert_eq!(world.ran(world.consort(["agent", "leave"]).envs(inside)).code, 0);
    world.run("config set presence.auto_register true");
    silent(&world, "UserPromptSubmit", json!({ "prompt": "x" }));
    assert_eq!(seen(&world), Value::Null);
}

#[test]
fn a_hostile_session_cannot_write_outside_or_forge_lines() {
    let world = world();
    let mut evil = payload(&world, json!({ "tool_name": "Edit\n- Forged (claude), idle", "tool_input": {} }));
    for refused in ["../../../../evil\n/x", "", ".", "..", "/", "a/b", "\u{1b}]0;owned\u{7}"] {
        evil["session_id"] = json!(refused);
        for event in ["SessionStart", "PreToolUse", "SessionEnd"] {
            let ran = world.hook(event, &evil);
            assert_eq!((ran.stdout.as_str(), ran.code), ("", 0), "{refused:?}");
        }
        assert_eq!(seen(&world), Value::Null, "{refused:?}");
    }
    evil["session_id"] = json!("..evil é");
    let ran = world.hook("PreToolUse", &evil);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", 0));
    assert_eq!(seen(&world)["doing"], "Edit - Forged (claude), idle");
    let sessions = std::fs::read_dir(world.data().join("sessions")).unwrap().flatten();
    let mut sessions: Vec<_> = sessions.map(|file| file.file_name().into_string().unwrap()).collect();
    sessions.sort();
    assert_eq!(sessions, ["%2e%2eevil%20%c3%a9", ".consort-directory"]);
    // The next session is told one line per agent.
    let told = context(&world, &[("CONSORT_NAME", "Raven")]).unwrap();
    assert_eq!(told.lines().filter(|line| line.starts_with("- ")).count(), 1, "{told}");
}

/// If a directory cannot be made, a store cannot be written or a disk is full,
/// hooks say nothing and exit 0, and commands explain.
#[test]
fn nowhere_to_write_is_silence_for_hooks_and_an_explanation_for_people() {
    let world = world();
    let call = payload(&world, json!({ "source": "startup" })).to_string();
    let hook = |shell: &str, home: &str| {
        let line = format!("{shell} exec \"$0\" hook claude SessionStart");
        let mut command = world.command("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_consort")]).env("CONSORT_HOME", home);
        let ran = world.ran_with(&mut command, call.as_bytes());
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0), "{shell} {home}");
    };
    let who = |shell: &str, home: &str, code: i32| {
        let line = format!("{shell} exec \"$0\" who");
        let mut command = world.command("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_consort")]).env("CONSORT_HOME", home);
        let ran = world.ran(&mut command);
        assert_eq!(ran.code, code, "{ran}");
        for part in ["Error: the store at", "Caused by: ", "Hint: "] {
            assert!(ran.stderr.contains(part), "{ran}");
        }
    };
    hook("", "/proc/consort");
    who("", "/proc/consort", 1);

    let file = world.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below_a_file = file.join("home").display().to_string();
    hook("", &below_a_file);
    who("", &below_a_file, 1);

    // No file may grow: what a full disk looks like to a program.
    let full = "trap '' XFSZ; ulimit -f 0;";
    let fresh = world.path().join("fresh").display().to_string();
    hook(full, &fresh);
    who(full, &fresh, 1);

    let garbage = world.path().join("garbage");
    std::fs::create_dir(&garbage).unwrap();
    std::fs::write(
        garbage.join("consort.db"),
        "this is not a database, and longer than a header would be".repeat(99),
    )
    .unwrap();
    hook("", &garbage.display().to_string());
    who("", &garbage.display().to_string(), 6);
    assert!(std::fs::read_to_string(garbage.join("hook.log")).unwrap().contains("not a database"));
}

/// With a read-only store, hooks are silent, commands that read work, and commands that change
/// something explain why they cannot.
#[test]
fn a_read_only_store_can_still_be_read() {
    let world = world();
    let store = world.path().join("store");
    let join = ["agent", "join", "--pid", "$OTHER", "--kind", "test", "--session", "s", "--name", "Raven"];
    assert_eq!(world.ran(world.consort(join).env("CONSORT_HOME", &store)).code, 0);
    // For root nothing is read-only, so root runs the commands as the user nobody.
    let is_root = world.ran(world.command("id").arg("-u")).stdout == "0\n";
    let program = world.path().join("consort");
    std::fs::copy(env!("CARGO_BIN_EXE_consort"), &program).unwrap();
    let mode = if is_root { "chmod -R a+rX" } else { "chmod -R a-w" };
    let open =
        format!("{mode} {0}; chmod a+rx {1} {2}", store.display(), world.path().display(), program.display());
    assert_eq!(world.ran(world.command("sh").args(["-c", &open])).code, 0);
    let run = |arguments: &[&str], input: &str| {
        let mut command = world.command(if is_root { "setpriv" } else { "env" });
        if is_root {
            command.args(["--reuid=65534", "--clear-groups"]);
        }
        world.ran_with(command.arg(&program).args(arguments).env("CONSORT_HOME", &store), input.as_bytes())
    };
    assert!(run(&["who"], "").stdout.contains("Raven"));
    let refused = run(&["agent", "rename", "--agent", "Raven", "Crow"], "");
    assert_eq!(refused.code, 1, "{refused}");
    assert!(refused.stderr.contains("Permission denied") && refused.stderr.contains("Hint: "), "{refused}");
    let hook = run(
        &["hook", "claude", "SessionStart"],
        &payload(&world, json!({ "source": "startup" })).to_string(),
    );
    assert_eq!((hook.stdout.as_str(), hook.stderr.as_str(), hook.code), ("", "", 0));
}

#[test]
fn a_session_outlives_the_store_that_knew_it() {
    let world = world();
    context(&world, &[]);
    for file in ["consort.db", "consort.db-wal", "consort.db-shm"] {
        std::fs::remove_file(world.data().join(file)).unwrap();
    }
    // Someone makes a new store; the session's next event brings it back.
    assert_eq!(seen(&world), Value::Null);
    silent(&world, "UserPromptSubmit", json!({ "prompt": "x" }));
    assert_eq!(seen(&world)["status"], "working");
}

#[test]
fn a_new_life_begins_with_nothing_of_the_last() {
    let world = world();
    context(&world, &[]);
    silent(&world, "UserPromptSubmit", json!({ "prompt": "x" }));
    silent(&world, "PermissionRequest", json!({ "tool_name": "Bash" }));
    let pulse = world.data().join("sessions/s1/state");
    let stale = std::fs::read(&pulse).unwrap();
    silent(&world, "SessionEnd", json!({ "reason": "other" }));
    // Restores the old state file, as if the session's end had been cut short after its entry.
    std::fs::write(&pulse, stale).unwrap();
    context(&world, &[]);
    let seen = seen(&world);
    assert_eq!(
        (&seen["status"], &seen["waiting_for"], &seen["prompts"]),
        (&json!("idle"), &Value::Null, &json!(0))
    );
}

#[test]
fn compacting_ends_and_is_no_second_joining() {
    let world = world();
    context(&world, &[]);
    silent(&world, "PreCompact", json!({ "trigger": "manual" }));
    world.git(&["checkout", "-q", "-b", "elsewhere"]);
    assert!(context(&world, &[]).unwrap().contains("branch elsewhere"));
    assert_eq!(seen(&world)["doing"], Value::Null);
    assert_eq!(seen(&world)["branch"], "elsewhere");
    let journal = world.run("journal tail").stdout;
    assert_eq!(journal.matches(" joined ").count(), 1, "{journal}");
}

#[test]
fn each_worktree_has_its_own_settings() {
    let world = world();
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    world.run("config set --project presence.auto_register false");
    let side = world.path().join("side");
    world.ran(world.consort(["who"]).current_dir(&side));
    assert_eq!(context(&world, &[]), None);
    // A file that cannot be understood changes nothing.
    std::fs::write(world.project().join(".consort/config.toml"), "[presence").unwrap();
    world.run("who");
    assert_eq!(context(&world, &[]), None);
}

#[test]
fn a_full_disk_is_explained() {
    let world = world();
    world.run("agent join --pid $OTHER --kind test --session s --name Raven");
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$0\" agent rename --agent Raven Crow";
    let ran = world.ran(world.command("sh").args(["-c", line, env!("CARGO_BIN_EXE_consort")]));
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("is writable and has room"), "{ran}");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_hostile_project_cannot_drive_the_terminal() {
    let world = world();
    std::fs::create_dir(world.project().join(".consort")).unwrap();
    let config = "\"\\u001b]0;owned\\u0007\\nError: forged\" = 1\n";
    std::fs::write(world.project().join(".consort/config.toml"), config).unwrap();
    let ran = world.run("who");
    assert!(ran.stderr.contains("Warning: "), "{ran}");
    assert!(!ran.stderr.contains('\u{1b}') && ran.stderr.lines().count() == 1, "{ran:?}");
    let join = ["agent", "join", "--pid", "$OTHER", "--kind", "\u{1b}[31mred\n", "--name", "Raven"];
    assert_eq!(world.ran(&mut world.consort(join)).code, 2);
    let mut evil = payload(&world, json!({ "tool_name": "\u{1b}[31mEdit\u{202e}" }));
    evil["session_id"] = json!("\u{202e}owned");
    world.hook("PreToolUse", &evil);
    assert_eq!(seen(&world)["doing"], "[31mEdit");
    for line in ["who", "status", "whoami", "journal tail", "who --all"] {
        assert!(!world.run(line).stdout.contains('\u{1b}'), "{line}");
    }
}
