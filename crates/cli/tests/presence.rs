//! Tests of the list of agents, as people and agents see it.

use consort_testkit::Ran;
use consort_testkit::Sealed;
use expect_test::Expect;
use expect_test::expect;
use serde_json::Value;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world
}

/// Joins this test's process as an agent of this name.
fn join(world: &Sealed, name: &str) -> Ran {
    let pid = std::process::id();
    world.run(&format!("agent join --pid {pid} --kind test --session s-{name} --name {name}"))
}

fn check(ran: &Ran, expected: Expect) {
    expected.assert_eq(&ran.to_string());
}

#[test]
fn joining_and_looking() {
    let world = world();
    check(
        &world.run("who"),
        expect![[r#"
        No agents are in shop.
        [exit 0]
    "#]],
    );
    check(
        &join(&world, "Raven"),
        expect![[r#"
        Joined as Raven in shop on main. 0 other agents here.
        [exit 0]
    "#]],
    );
    check(
        &join(&world, "Raven"),
        expect![[r#"
        Already here as Raven in shop on main. 0 other agents here.
        [exit 0]
    "#]],
    );
    check(
        &join(&world, "Bear"),
        expect![[r#"
        Joined as Bear in shop on main. 1 other agent here.
        [exit 0]
    "#]],
    );
    check(
        &world.run("who"),
        expect![[r#"
        AGENT       KIND  STATUS  DOING  BRANCH  WHERE  ACTIVE
        Bear (you)  test  idle           main           now
        Raven       test  idle           main           now
        [exit 0]
    "#]],
    );
    check(
        &world.run("who --all"),
        expect![[r#"
        AGENT       KIND  STATUS  DOING  PROJECT  BRANCH  WHERE  ACTIVE
        Bear (you)  test  idle           shop     main           now
        Raven       test  idle           shop     main           now
        [exit 0]
    "#]],
    );
}

#[test]
fn mistakes_have_a_next_step() {
    let world = world();
    world.run("agent join --pid $OTHER --kind test --session s1 --name Raven");
    let other = world.run("agent join --pid $OTHER --kind test --session s2 --name raven");
    check(
        &other,
        expect![[r#"
        [stderr] Error: the name `raven` belongs to another agent
        [stderr] Hint: `consort who --all` lists the names in use
        [exit 4]
    "#]],
    );
    check(
        &world.run("agent join --pid 999999999 --kind test"),
        expect![[r#"
        [stderr] Error: no process 999999999 runs here
        [stderr] Hint: give the id of a running process
        [exit 1]
    "#]],
    );
    check(
        &world.run("agent rename --agent Ravn Crow"),
        expect![[r#"
        [stderr] Error: no agent called `Ravn` is here
        [stderr] Hint: did you mean `Raven`?
        [exit 1]
    "#]],
    );
    check(
        &world.run("agent rename Crow --agent nobody-at-all"),
        expect![[r#"
        [stderr] Error: no agent called `nobody-at-all` is here
        [stderr] Hint: `consort who --all` lists who is here
        [exit 1]
    "#]],
    );
    check(
        &world.run("agent join --name x"),
        expect![[r#"
        [stderr] Error: this is not run inside an agent session
        [stderr] Hint: run it in a session, or say which process: `consort agent join --pid <pid> --kind <kind>`
        [exit 1]
    "#]],
    );
    check(
        &world.run("frobnicate"),
        expect![[r#"
            [stderr] Error: there is no command `frobnicate`
            [stderr] Hint: there are: up, who, status, send, reply, inbox, chat, reserve, release, explain, wait, waiting, answer, task, holds, policy, radar, open, pane, run, runs, agent, know, mcp, serve, down, shield, init, with, uninit, doctor, config, roles, token, journal, demo, completions
            [exit 2]
        "#]],
    );
}

#[test]
fn an_agent_is_the_caller_inside_its_session() {
    let world = world();
    check(
        &world.run("whoami"),
        expect![[r#"
        you, the person at the keyboard
        [exit 0]
    "#]],
    );
    join(&world, "Raven");
    // This test hosts the agent, so its commands are the agent's.
    check(
        &world.run("whoami"),
        expect![[r#"
        Raven (test in shop)
        [exit 0]
    "#]],
    );
    check(
        &world.run("agent rename Crow"),
        expect![[r#"
        Raven is now Crow.
        [exit 0]
    "#]],
    );
    check(
        &world.run("agent leave"),
        expect![[r#"
            Crow left. `consort agent join --pid $$ --kind 'test'` in its session brings it back.
            [exit 0]
        "#]],
    );
    check(
        &world.run("agent leave"),
        expect![[r#"
            [stderr] Error: this agent session has not joined
            [stderr] Hint: `consort agent join` registers the agent session it is run in
            [stderr] Hint: a person uses a terminal in which no agent is or was joined
            [exit 1]
        "#]],
    );
}

#[test]
fn an_agent_cannot_act_for_another() {
    let world = world();
    join(&world, "Raven");
    let refused =
        world.ran(world.consort(["agent", "leave", "--agent", "Bear"]).env("CONSORT_SESSION", "s-Bear"));
    check(
        &refused,
        expect![[r#"
            [stderr] Error: Raven cannot act for `Bear`
            [stderr] Hint: only the person at the keyboard can act for another agent
            [exit 1]
        "#]],
    );
}

#[test]
fn the_environment_only_tells_sessions_of_one_process_apart() {
    let world = world();
    world.run("agent join --pid $OTHER --kind test --session s-init --name Init");
    world.run("agent join --pid $OTHER --kind test --session s-too --name Too");
    let inside = |session: &str| world.ran(world.consort(["whoami"]).env("CONSORT_SESSION", session)).stdout;
    assert_eq!(inside("s-init"), "Init (test in shop)\n");
    assert_eq!(inside("s-too"), "Too (test in shop)\n");
    // From elsewhere, the variable makes the caller neither an agent nor the person.
    let mut outside = world.consort(["whoami"]);
    let output = outside.env("CONSORT_SESSION", "s-init").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("its environment has CONSORT_SESSION"), "{said}");
}

#[test]
fn an_agent_whose_process_died_is_gone_at_the_next_look() {
    let world = world();
    let mut process = world.command("sleep").arg("60").spawn().unwrap();
    let pid = process.id();
    world.run(&format!("agent join --pid {pid} --kind test --session s --name Raven"));
    assert!(world.run("who").stdout.contains("Raven"));
    process.kill().unwrap();
    process.wait().unwrap();
    assert_eq!(world.run("who").stdout, "No agents are in shop.\n");
    assert!(world.run("who --all").stdout.contains("process ended"));
    let journal = world.run("journal tail").stdout;
    assert_eq!(journal.matches("Raven is gone: process ended").count(), 1, "{journal}");
}

#[test]
fn two_worktrees_are_one_project_and_two_projects_are_two() {
    let world = world();
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    join(&world, "Raven");
    let in_dir = |dir: &str, line: &str| {
        let mut command = world.consort(line.split(' '));
        world.ran(command.current_dir(world.path().join(dir)))
    };
    let pid = std::process::id();
    in_dir("side", &format!("agent join --pid {pid} --kind test --session s-side --name Side"));
    std::fs::create_dir(world.path().join("other")).unwrap();
    in_dir("other", &format!("agent join --pid {pid} --kind test --session s-other --name Other"));
    let who = |dir: &str| {
        let who: Value = serde_json::from_str(&in_dir(dir, "who --json").stdout).unwrap();
        let names =
            who["items"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(who("shop"), ["Raven", "Side"]);
    assert_eq!(who("side"), ["Raven", "Side"]);
    assert_eq!(who("other"), ["Other"]);
}

#[test]
fn a_clone_is_the_same_project_wherever_it_came_from() {
    let world = world();
    world.git(&["clone", "-q", ".", "../clone"]);
    let project = |dir: &str| {
        let mut command = world.consort(["status", "--json"]);
        let ran = world.ran(command.current_dir(world.path().join(dir)));
        let status: Value = serde_json::from_str(&ran.stdout).unwrap();
        status["status"]["project"]["id"].as_str().unwrap().to_owned()
    };
    assert!(project("shop").starts_with("commit:"));
    assert_eq!(project("shop"), project("clone"));
}

#[test]
fn joining_again_changes_neither_name_nor_kind() {
    let world = world();
    world.run("agent join --pid $OTHER --kind codex --session s --name Bach");
    check(
        &world.run("agent join --pid $OTHER --session s --name Other"),
        expect![[r#"
            Already here as Bach in shop on main. 0 other agents here.
            [stderr] It has a name already; `consort agent rename <name>` changes it.
            [exit 0]
        "#]],
    );
    assert_eq!(world.run("journal tail").stdout.matches(" joined ").count(), 1);
    let bad = world.run("agent join --pid $OTHER --kind ! --session t");
    assert_eq!(bad.code, 2, "{bad}");
}

#[test]
fn the_json_is_a_contract() {
    let world = world();
    join(&world, "Raven");
    let mut who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    // Replaces the parts that differ from run to run.
    who["at"] = "…".into();
    let agent = &mut who["items"][0];
    for key in ["joined_at", "last_active_at", "machine"] {
        assert!(agent[key].is_string(), "{agent}");
        agent[key] = "…".into();
    }
    agent["pid"] = 0.into();
    let project = agent["project"]["id"].as_str().unwrap();
    assert!(project.starts_with("commit:"), "{project}");
    agent["project"]["id"] = "commit:…".into();
    expect![[r#"
        {
          "at": "…",
          "items": [
            {
              "branch": "main",
              "cli": "test",
              "doing": null,
              "joined_at": "…",
              "last_active_at": "…",
              "left": null,
              "machine": "…",
              "model": null,
              "name": "Raven",
              "pane": null,
              "pid": 0,
              "project": {
                "id": "commit:…",
                "name": "shop"
              },
              "prompts": 0,
              "quadrant": null,
              "session": "s-Raven",
              "status": "idle",
              "subagents": [],
              "task": null,
              "tty": null,
              "unread": 0,
              "waiting_for": null,
              "worktree": "$WORLD/shop",
              "you": true
            }
          ]
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&who).unwrap());
}

#[test]
fn closed_and_broken_outputs_are_no_disaster() {
    let world = world();
    let shell = |line: &str| world.ran(world.command("sh").args(["-c", line, env!("CARGO_BIN_EXE_consort")]));
    assert_eq!(shell("\"$0\" who >&-").code, 0);
    assert_eq!(shell("\"$0\" who >&- 2>&-").code, 0);
    assert_eq!(shell("{ sleep 0.3; \"$0\" who; echo $? >code; } | true; cat code").stdout, "3\n");
    assert_eq!(shell("\"$0\" who >/dev/full").code, 1);
}

#[test]
fn an_agent_that_was_joined_by_its_process_joins_again_without_saying_which() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let script = "\"$0\" agent join --pid $$ --kind aider && \"$0\" agent join --spec plan.md";
    let mut shell = world.command("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_consort")]).current_dir(world.path());
    let ran = world.ran(&mut shell);
    assert!(ran.code == 0 && ran.stdout.contains("Already here"), "{ran}");
}

#[test]
fn a_command_that_is_taken_for_a_path_is_not_called_free() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let ran = world.run_as(None, &["explain", "sed -i s/a/b/ src/auth.rs"]);
    assert!(ran.code != 0 && ran.stderr.contains("consort explain -- '<command>'"), "{ran}");
}
