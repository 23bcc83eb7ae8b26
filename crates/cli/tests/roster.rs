//! Tests of what sessions are told of other agents: at their start, and when others come and go.

use consort_testkit::Sealed;
use consort_testkit::tokens;
use expect_test::Expect;
use expect_test::expect;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world
}

/// Starts a session; returns what it is told.
fn start(world: &Sealed, session: &str, name: &str) -> String {
    let mut hook = world.consort(["hook", "claude", "SessionStart"]);
    let call = json!({ "session_id": session, "cwd": world.project(), "source": "startup" });
    let ran = world.ran_with(hook.env("CONSORT_NAME", name), call.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

/// Returns what a session is told with the result of a tool.
fn after_tool(world: &Sealed, session: &str) -> Option<String> {
    world.hook_text(session, "PostToolUse", &json!({ "tool_name": "Look" }))
}

fn check(told: &str, expected: Expect) {
    expected.assert_eq(&format!("{told}\n({} tokens)\n", tokens(told)));
}

#[test]
fn who_was_here_first_hears_of_who_came_later() {
    let world = world();
    check(
        &start(&world, "s1", "Falcon"),
        expect![[r#"
        [consort] You are Falcon (project shop, branch main). No other agents are here yet; you will be told here when one joins.
        (30 tokens)
    "#]],
    );
    start(&world, "s2", "Raven");
    check(
        &after_tool(&world, "s1").unwrap(),
        expect![[r#"
        [consort] Raven (claude, branch main) has joined this project.
        (17 tokens)
    "#]],
    );
    // It is told once, and a session is not told again of agents named at its start.
    assert_eq!((after_tool(&world, "s1"), after_tool(&world, "s2")), (None, None));

    // Several newcomers are one line, also with a prompt.
    for (session, name) in [("s3", "Heron"), ("s4", "GrandZenith"), ("s5", "NobleNebula")] {
        start(&world, session, name);
    }
    let told = world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
    assert!(tokens(&told) <= 40);
    check(
        &told,
        expect![[r#"
        [consort] Joined this project: GrandZenith, Heron and 1 more (consort who).
        (23 tokens)
    "#]],
    );
    assert_eq!(after_tool(&world, "s1"), None);

    // A subagent's context is thrown away with it, so its session is told instead.
    start(&world, "s6", "Otter");
    let in_subagent = json!({ "tool_name": "Look", "agent_id": "a1" });
    assert_eq!(world.hook_text("s1", "PostToolUse", &in_subagent), None);
    assert!(after_tool(&world, "s1").unwrap().contains("Otter"));
    // A session that starts again or is renamed is not a newcomer.
    start(&world, "s6", "Otter");
    assert_eq!(world.run_as(Some("s6"), &["agent", "rename", "Badger"]).code, 0);
    assert_eq!(after_tool(&world, "s1"), None);
}

#[test]
fn a_newcomers_reservations_count_where_they_overlap() {
    let world = world();
    std::fs::create_dir_all(world.project().join("src")).unwrap();
    let file = world.project().join("src/auth.rs");
    std::fs::write(&file, "fn login() {}").unwrap();
    start(&world, "s1", "Falcon");
    world.hook_text("s1", "UserPromptSubmit", &json!({ "prompt": "look at the login" }));
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": file } });
    world.hook_text("s1", "PostToolUse", &read);
    start(&world, "s2", "Raven");
    assert_eq!(world.run_as(Some("s2"), &["reserve", "src/auth.rs", "docs/"]).code, 0);
    let told = after_tool(&world, "s1").unwrap();
    assert!(tokens(&told) <= 40);
    check(
        &told,
        expect![[r#"
        [consort] Raven (claude, branch main) has joined this project and reserved src/auth.rs.
        (22 tokens)
    "#]],
    );
}

/// Otherwise a start among fifty agents would write fifty files.
#[test]
fn a_start_touches_no_file_of_another_session() {
    let world = world();
    start(&world, "s1", "Falcon");
    let file = |name| std::fs::read(world.data().join("sessions/s1").join(name)).unwrap();
    let before = ["state", "log"].map(file);
    start(&world, "s2", "Raven");
    assert_eq!(["state", "log"].map(file), before);
    assert!(after_tool(&world, "s1").is_some());
}

/// A session that has just been told who is here has nothing to look up.
#[test]
fn ones_own_arrival_is_no_news() {
    let world = world();
    let count = |session: &str| {
        let state = std::fs::read(world.data().join("sessions").join(session).join("state")).unwrap();
        String::from_utf8(state[28..31].to_vec()).unwrap()
    };
    start(&world, "s1", "Falcon");
    start(&world, "s2", "Raven");
    assert_eq!([count("s1"), count("s2")], ["1  ", "2  "]);
    after_tool(&world, "s1");
    assert_eq!(count("s1"), "2  ");
    // A session that is here and joins once more is known to everyone.
    start(&world, "s2", "Raven");
    assert_eq!(count("s2"), "2  ");
    // Whatever is in the slot, counting goes on.
    for (n, (found, then)) in [("999", "0  "), ("nonsense", "1  "), ("4294967295", "296")].iter().enumerate()
    {
        std::fs::write(world.data().join("slots/arrivals"), format!("all\t{found}\n{:60}", "")).unwrap();
        start(&world, &format!("later{n}"), &format!("Heron{n}"));
        assert_eq!(count(&format!("later{n}")), *then);
    }
}

#[test]
fn a_departure_is_news_to_who_had_dealt_with_it() {
    let world = world();
    for (session, name) in [("s1", "Falcon"), ("s2", "Raven"), ("s3", "Heron")] {
        start(&world, session, name);
    }
    assert_eq!(world.run_as(Some("s2"), &["send", "Falcon", "hello"]).code, 0);
    for session in ["s1", "s2", "s3"] {
        after_tool(&world, session);
    }
    world.hook("SessionEnd", &json!({ "session_id": "s2", "cwd": world.project(), "reason": "other" }));
    check(
        &after_tool(&world, "s1").unwrap(),
        expect![[r#"
        [consort] Raven has left.
        (8 tokens)
    "#]],
    );
    assert_eq!((after_tool(&world, "s1"), after_tool(&world, "s3")), (None, None));
}

#[test]
fn after_a_compaction_a_session_knows_what_it_has() {
    let world = world();
    std::fs::write(world.project().join("login.md"), "- [ ] TASK-01: one\n- [ ] TASK-02: two\n").unwrap();
    for (session, name) in [("s2", "GrandZenith"), ("s3", "VividTiger"), ("s1", "Marten")] {
        start(&world, session, name);
    }
    for arguments in [
        &["reserve", "--ttl", "30m", "src/db/"][..],
        &["task", "list", "--spec", "login.md"],
        &["task", "claim", "TASK-02", "--spec", "login.md"],
        &["send", "VividTiger", "-t", "question", "which port?"],
    ] {
        let ran = world.run_as(Some("s1"), arguments);
        assert_eq!(ran.code, 0, "{arguments:?} {ran}");
    }
    assert_eq!(world.run_as(Some("s3"), &["reserve", "src/auth/"]).code, 0);
    let works = |session: &str| {
        let file = world.project().join("src/login.rs");
        let call = json!({ "tool_name": "Edit", "tool_input": { "file_path": file } });
        world.hook_text(session, "PreToolUse", &call);
    };
    ["s2", "s3"].iter().for_each(|session| works(session));
    let told = start(&world, "s1", "Marten");
    check(
        &told,
        expect![[r#"
            [consort] You are Marten (project shop, branch main). 2 other agents are here:
            - GrandZenith (claude), working: "Edit src/login.rs"
            - VividTiger (claude), working: "Edit src/login.rs"
            Reserved by others, do not edit: src/auth/ (VividTiger)
            You have reserved src/db/ (29m left). Your task: TASK-02 in login.md. Unanswered: #1 to VividTiger.
            Message one: consort send <name> '<text>' (all: everyone, @me: your user; code: - <<'EOF'). Before larger changes: consort reserve <path>, then release. More: consort who
            (149 tokens)
        "#]],
    );
    assert!(tokens(&told) <= 150, "{}", tokens(&told));

    for (session, name) in [("s4", "NobleNebula"), ("s5", "IronQuartz"), ("s6", "SilverCondor")] {
        start(&world, session, name);
        works(session);
    }
    let told = start(&world, "s1", "Marten");
    check(
        &told,
        expect![[r#"
            [consort] You are Marten (project shop, branch main). 5 other agents are here:
            - GrandZenith (claude), working: "Edit src/login.rs"
            - IronQuartz (claude), working: "Edit src/login.rs"
            - NobleNebula (claude), working: "Edit src/login.rs"
            - SilverCondor (claude), working: "Edit src/login.rs"
            - VividTiger (claude), working: "Edit src/login.rs"
            Reserved by others, do not edit: src/auth/ (VividTiger)
            You have reserved src/db/ (29m left). Your task: TASK-02 in login.md. Unanswered: #1 to VividTiger.
            Message one: consort send <name> '<text>' (all: everyone, @me: your user; code: - <<'EOF'). Before larger changes: consort reserve <path>, then release. More: consort who
            (196 tokens)
        "#]],
    );
    assert!(tokens(&told) <= 200, "{}", tokens(&told));
}

#[test]
fn a_log_does_not_grow_with_every_message() {
    let world = world();
    start(&world, "s1", "Falcon");
    start(&world, "s2", "Raven");
    for n in 0..3 {
        assert_eq!(world.run_as(Some("s1"), &["send", "Raven", &format!("message {n}")]).code, 0);
    }
    for session in ["s1", "s2"] {
        let log = std::fs::read_to_string(world.data().join("sessions").join(session).join("log")).unwrap();
        assert_eq!(log.lines().filter(|line| line.starts_with("met\t")).count(), 1, "{log}");
    }
}
