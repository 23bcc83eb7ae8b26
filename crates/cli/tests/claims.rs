//! Tests of claims, reservations and tasks from the command line.

use consort_testkit::Sealed;
use expect_test::expect;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    std::fs::create_dir_all(world.project().join("src/auth")).unwrap();
    world.with_falcon_and_raven()
}

/// Runs commands of sessions and of the person one after the other; returns all that they print.
fn play(world: &Sealed, lines: &[(Option<&str>, &[&str])]) -> String {
    let mut played = String::new();
    for (session, arguments) in lines {
        let who = match *session {
            Some("s1") => "Falcon",
            Some(_) => "Raven",
            None => "you",
        };
        let ran = world.run_as(*session, arguments);
        played.push_str(&format!("{who}$ consort {}\n{ran}", arguments.join(" ")));
    }
    played
}

#[test]
fn a_claim_is_told_contested_and_taken() {
    let world = world();
    let (falcon, raven) = (Some("s1"), Some("s2"));
    world.run("config set claims.contest_seconds 3600");
    expect![[r#"
        Falcon$ consort reserve --advisory topic:auth --reason sessions and tokens
        Reserved topic:auth (advisory, reservation #1).
        [exit 0]
        Raven$ consort reserve --advisory topic:auth
        [stderr] Error: `topic:auth` is held by Falcon (claude on main): "sessions and tokens"
        [stderr] Hint: ask Falcon: consort send Falcon '…'; or: consort holds contest 'topic:auth'
        [exit 4]
        Raven$ consort release topic:auth
        [stderr] Error: `topic:auth` is held by Falcon (claude on main), not by you
        [stderr] Hint: `consort holds contest 'topic:auth'` asks for it; after that: `consort release --force 'topic:auth'`
        [exit 4]
        Raven$ consort holds contest topic:auth --reason the release
        Contested topic:auth; Falcon (claude on main) was asked. Without an answer, in 3600 s: consort release --force 'topic:auth'
        [exit 0]
        Raven$ consort release --force topic:auth
        [stderr] Error: `topic:auth` is contested, and Falcon (claude on main) has 3600 s left to answer
        [stderr] Hint: then: consort release --force 'topic:auth'; the person need not wait
        [exit 4]
        you$ consort holds list
        Advisory:
          topic:auth  Falcon (claude on main), exclusive, taken just now, reservation #1: "sessions and tokens" [contested by Raven (claude on main) just now]
        [exit 0]
        you$ consort release topic:auth
        [stderr] Error: `topic:auth` is held by Falcon (claude on main), not by you
        [stderr] Hint: `consort release --force 'topic:auth'` takes it away
        [exit 4]
        you$ consort release --force topic:auth
        Released topic:auth.
        [exit 0]
        Raven$ consort reserve --advisory topic:auth
        Reserved topic:auth (advisory, reservation #2).
        [exit 0]
        Raven$ consort release topic:aut
        [stderr] Error: nobody holds `topic:aut`
        [stderr] Hint: did you mean `topic:auth`?
        [exit 1]
        Raven$ consort release
        Released topic:auth.
        [exit 0]
        Raven$ consort release
        You have reserved nothing.
        [exit 0]
    "#]]
    .assert_eq(&play(
        &world,
        &[
            (falcon, &["reserve", "--advisory", "topic:auth", "--reason", "sessions and tokens"]),
            (raven, &["reserve", "--advisory", "topic:auth"]),
            (raven, &["release", "topic:auth"]),
            (raven, &["holds", "contest", "topic:auth", "--reason", "the release"]),
            (raven, &["release", "--force", "topic:auth"]),
            (None, &["holds", "list"]),
            (None, &["release", "topic:auth"]),
            (None, &["release", "--force", "topic:auth"]),
            (raven, &["reserve", "--advisory", "topic:auth"]),
            (raven, &["release", "topic:aut"]),
            (raven, &["release"]),
            (raven, &["release"]),
        ],
    ));
    let letter = world.run_as(Some("s1"), &["inbox"]).stdout;
    assert!(letter.contains("question, urgent, from consort"), "{letter}");
    assert!(
        letter
            .contains("> Raven (claude on main) needs topic:auth, which you have reserved: \"the release\"."),
        "{letter}"
    );
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn reservations_are_all_or_none_and_explained() {
    let world = world();
    let (falcon, raven) = (Some("s1"), Some("s2"));
    expect![[r#"
        Falcon$ consort reserve src/auth config.yaml --reason the login
        Reserved src/auth/ (reservation #1).
        Reserved config.yaml (reservation #2).
        [stderr] Note: config.yaml does not exist. It is reserved as a file; a directory ends in `/`.
        [exit 0]
        Raven$ consort reserve docs/ src/**/*.rs ./config.yaml
        [stderr] Error: `src/auth/` is held by Falcon (claude on main): "the login"; `config.yaml` is held by Falcon (claude on main): "the login"
        [stderr] Hint: ask Falcon: consort send Falcon '…'; or: consort holds contest 'src/auth/'
        [exit 4]
        Raven$ consort explain src/auth/login.rs
        Reserved: src/auth/  Falcon (claude on main), exclusive, taken just now, reservation #1: "the login"
        You may not write it. Ask: consort send Falcon '…'; wait: consort wait 'src/auth/login.rs'; need it: consort holds contest 'src/auth/login.rs'.
        [exit 0]
        Raven$ consort explain docs/
        Nobody holds docs/.
        You may write it.
        [exit 0]
        Raven$ consort wait src/auth/login.rs --timeout 0s
        [stderr] Waiting for Falcon (claude on main) to let go of src/auth/.
        [stderr] src/auth/login.rs is still reserved.
        [exit 7]
        Raven$ consort reserve /tmp/../etc/consort-example
        Reserved /etc/consort-example (reservation #1 outside projects).
        [stderr] Note: /tmp/../etc/consort-example is in no git repository. Agents of every project are kept from writing it.
        [exit 0]
        you$ consort holds list
        Reserved:
          /etc/consort-example  Raven (claude on main), exclusive, taken just now, reservation #1 outside projects
          config.yaml  Falcon (claude on main), exclusive, taken just now, reservation #2: "the login"
          src/auth/  Falcon (claude on main), exclusive, taken just now, reservation #1: "the login"
        [exit 0]
        Falcon$ consort release src/auth/
        Released src/auth/.
        [exit 0]
        Raven$ consort wait src/auth/login.rs
        src/auth/login.rs is free.
        [exit 0]
        Raven$ consort reserve a/*/../b
        [stderr] Error: the pattern `a/*/../b` has a `..` after a glob
        [stderr] Hint: use a shorter or a simpler one
        [exit 1]
    "#]]
    .assert_eq(&play(
        &world,
        &[
            (falcon, &["reserve", "src/auth", "config.yaml", "--reason", "the login"]),
            (raven, &["reserve", "docs/", "src/**/*.rs", "./config.yaml"]),
            (raven, &["explain", "src/auth/login.rs"]),
            (raven, &["explain", "docs/"]),
            (raven, &["wait", "src/auth/login.rs", "--timeout", "0s"]),
            (raven, &["reserve", "/tmp/../etc/consort-example"]),
            (None, &["holds", "list"]),
            (falcon, &["release", "src/auth/"]),
            (raven, &["wait", "src/auth/login.rs"]),
            (raven, &["reserve", "a/*/../b"]),
        ],
    ));
}

#[test]
fn to_ask_again_is_an_answer_and_weakens_nothing() {
    let world = world();
    let (falcon, raven) = (Some("s1"), Some("s2"));
    world.run("config set claims.contest_seconds 0");
    assert_eq!(world.run_as(falcon, &["reserve", "src/auth/"]).code, 0);
    // The holder's own advisory claim on the same path does not weaken the reservation.
    assert_eq!(world.run_as(falcon, &["reserve", "--advisory", "file:src/auth/"]).code, 0);
    assert!(world.run("holds list").stdout.contains("src/auth/"));
    assert_eq!(world.run_as(raven, &["holds", "contest", "src/auth/"]).code, 0);
    assert_eq!(world.run_as(falcon, &["reserve", "src/auth/"]).code, 0);
    assert!(world.run_as(raven, &["inbox"]).stdout.contains("> I still need src/auth/."));
    let ran = world.run_as(raven, &["release", "--force", "src/auth/"]);
    assert!(ran.stderr.contains("never contested"), "{ran}");
    // An environment variable of an agent's does not shorten the time.
    world.run("config set claims.contest_seconds 3600");
    let mut contest = world.consort(["holds", "contest", "src/auth/"]);
    contest.env("CONSORT_SESSION", "s2").env("CONSORT_CLAIMS_CONTEST_SECONDS", "0");
    assert_eq!(world.ran(&mut contest).code, 0);
    let mut force = world.consort(["release", "--force", "src/auth/"]);
    force.env("CONSORT_SESSION", "s2").env("CONSORT_CLAIMS_CONTEST_SECONDS", "0");
    assert_eq!(world.ran(&mut force).code, 4);
    // A topic is not a path, and a part of a reservation cannot be released.
    assert_eq!(world.run("release --force topic:none").code, 1);
    let ran = world.run("release --force src/auth/login.rs");
    assert!(ran.stderr.contains("did you mean `src/auth/`?"), "{ran}");
    // A path that is written as shown is understood from any directory.
    let mut below = world.consort(["explain", "src/auth/"]);
    let told = world.ran(below.current_dir(world.project().join("src")).env("CONSORT_SESSION", "s2"));
    assert!(told.stdout.contains("You may not write it"), "{told}");
    // The person decides about a contest of the person's own hold.
    assert_eq!(world.run("reserve README.md").code, 0);
    let ran = world.run_as(raven, &["holds", "contest", "README.md"]);
    assert_eq!(ran.stdout, "Contested README.md; the person was asked, and decides.\n");
    assert!(world.run("inbox").stdout.contains("needs README.md"));
    // The former holder is told, and the agent that contested.
    assert_eq!(world.run("release --force src/auth/").code, 0);
    for agent in [falcon, raven] {
        assert!(world.run_as(agent, &["inbox"]).stdout.contains("has taken what was reserved: src/auth/."));
    }
    // An existing path is the same path, with or without `file:` or a slash.
    assert_eq!(world.run_as(falcon, &["reserve", "--advisory", "src/auth"]).code, 0);
    assert_eq!(world.run_as(raven, &["reserve", "--advisory", "file:src/auth/"]).code, 4);
    // The rules are the person's.
    assert_eq!(world.run_as(raven, &["config", "set", "claims.enforcement", "off"]).code, 1);
    assert_eq!(world.run_as(raven, &["agent", "leave"]).code, 0);
    assert_eq!(
        world.run_as(raven, &["holds", "override", "src/auth/"]).code,
        1,
        "who has left is not the person"
    );
}

#[test]
fn the_task_in_hand_is_known_whatever_its_spec() {
    let world = world();
    std::fs::write(world.project().join("one.md"), "## T-1: a\n").unwrap();
    std::fs::write(world.project().join("two.md"), "## T-2: b\n").unwrap();
    let line = "agent join --pid $OTHER --kind claude --session s1 --name Falcon --spec one.md";
    assert_eq!(world.run(line).code, 0);
    let falcon = Some("s1");
    assert_eq!(world.run_as(falcon, &["task", "next", "--spec", "two.md"]).code, 0);
    assert_eq!(world.run_as(falcon, &["task", "done"]).stdout, "Completed T-2: b (claim #1).\n");
    // A missing spec does not hide the others.
    std::fs::remove_file(world.project().join("one.md")).unwrap();
    let line = "agent join --pid $OTHER --kind claude --session s2 --name Raven --spec two.md";
    assert_eq!(world.run(line).code, 0);
    let ran = world.run("task list");
    assert!(ran.stdout.contains("./two.md: 1 of 1 done") && ran.stderr.contains("one.md"), "{ran}");
}

#[test]
fn a_wait_ends_when_the_path_is_free() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/"]).code, 0);
    let mut wait = world.consort(["wait", "src/x.rs", "--timeout", "60s"]);
    let wait = wait.env("CONSORT_SESSION", "s2").stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(world.run_as(Some("s1"), &["release"]).code, 0);
    let output = wait.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "src/x.rs is free.\n");
}

#[test]
fn a_hold_runs_out_and_is_renewed() {
    let world = world();
    let (falcon, raven) = (Some("s1"), Some("s2"));
    let ran = world.run_as(falcon, &["reserve", "src/", "--ttl", "1h", "--json"]);
    let first: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let ran = world.run_as(falcon, &["reserve", "src/", "--ttl", "2h", "--json"]);
    let again: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(first["items"][0]["generation"], again["items"][0]["generation"]);
    assert!(first["items"][0]["until_at"].as_str() < again["items"][0]["until_at"].as_str());
    assert_eq!(world.run_as(raven, &["reserve", "src/"]).code, 4);
    assert_eq!(world.run_as(falcon, &["reserve", "src/", "--ttl", "1s"]).code, 0);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(world.run_as(raven, &["reserve", "src/"]).code, 0);
    let journal = world.run("journal tail").stdout;
    assert!(journal.contains("src/ is free: its time was up"), "{journal}");
}

const SPEC: &str = "# The login\n\n## TASK-01: Model\n\n## TASK-02: Service\ndepends: TASK-01\n\n- [ ] TASK-03: Docs \
                    (depends: TASK-02, TASK-09)\n- [x] TASK-04: Chores\n";

#[test]
fn tasks_come_from_the_spec_and_are_taken_once() {
    let world = world();
    std::fs::write(world.project().join("login.md"), SPEC).unwrap();
    for (session, name) in [("s1", "Falcon"), ("s2", "Raven")] {
        let line = format!(
            "agent join --pid $OTHER --kind claude --session {session} --name {name} --spec login.md"
        );
        assert_eq!(world.run(&line).code, 0);
    }
    let (falcon, raven) = (Some("s1"), Some("s2"));
    expect![[r#"
        you$ consort task list
        ./login.md: 1 of 4 done
          TASK-01  Model  [ready]
          TASK-02  Service  [waits for TASK-01]
          TASK-03  Docs  [waits for TASK-02, TASK-09]
          TASK-04  Chores  [done]
        Without a task: Falcon, Raven
        [stderr] ./login.md:8: `TASK-03` depends on `TASK-09`, which is not in this spec
        [exit 0]
        Falcon$ consort task next --reason starting
        Claimed TASK-01: Model (claim #1).
        [exit 0]
        Raven$ consort task next
        [stderr] Error: nothing is ready in login.md: 1 of 4 done, 1 claimed, the others wait for them
        [stderr] Hint: `consort task list` shows who has what
        [exit 4]
        Raven$ consort task claim TASK-01
        [stderr] Error: `TASK-01` is claimed by Falcon
        [stderr] Hint: `consort task next` claims the first that is ready
        [exit 4]
        Falcon$ consort task claim TASK-02
        [stderr] Error: you have claimed `TASK-01` of login.md already
        [stderr] Hint: `consort task done TASK-01` or `consort task drop TASK-01` first
        [exit 4]
        Raven$ consort task done TASK-01
        [stderr] Error: `TASK-01` is not yours: Falcon has it
        [stderr] Hint: ask: consort send Falcon '…'; `--take-anyway` is for the person only
        [exit 4]
        Raven$ consort task drop TASK-02
        [stderr] Error: `TASK-02` is not claimed
        [stderr] Hint: `consort task claim TASK-02` claims it
        [exit 1]
        Falcon$ consort task done --notes with tests
        Completed TASK-01: Model (claim #1).
        [exit 0]
        Falcon$ consort task done TASK-01
        [stderr] Error: `TASK-01` was completed by Falcon
        [stderr] Hint: `consort task next` claims the first that is ready
        [exit 4]
        Raven$ consort task claim task-02
        Claimed TASK-02: Service (claim #2).
        [exit 0]
        you$ consort task list --ready
        ./login.md: 2 of 4 done
        Without a task: Falcon
        [stderr] ./login.md:8: `TASK-03` depends on `TASK-09`, which is not in this spec
        [exit 0]
        Raven$ consort task list
        ./login.md: 2 of 4 done
          TASK-01  Model  [done by Falcon: "with tests"]
          TASK-02  Service  [you, now, claim #2]
          TASK-03  Docs  [waits for TASK-02, TASK-09]
          TASK-04  Chores  [done]
        Without a task: Falcon
        [stderr] ./login.md:8: `TASK-03` depends on `TASK-09`, which is not in this spec
        [exit 0]
    "#]]
    .assert_eq(&play(
        &world,
        &[
            (None, &["task", "list"]),
            (falcon, &["task", "next", "--reason", "starting"]),
            (raven, &["task", "next"]),
            (raven, &["task", "claim", "TASK-01"]),
            (falcon, &["task", "claim", "TASK-02"]),
            (raven, &["task", "done", "TASK-01"]),
            (raven, &["task", "drop", "TASK-02"]),
            (falcon, &["task", "done", "--notes", "with tests"]),
            (falcon, &["task", "done", "TASK-01"]),
            (raven, &["task", "claim", "task-02"]),
            (None, &["task", "list", "--ready"]),
            (raven, &["task", "list"]),
        ],
    ));
    let status = world.run_as(raven, &["status"]).stdout;
    assert!(status.contains("Task         TASK-02 of login.md\n"), "{status}");
    assert_eq!(world.run("journal verify").code, 0);
    assert_eq!(world.run("journal rebuild").code, 0);
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_commit_does_not_take_along_what_another_holds() {
    let world = world();
    let before = world.project().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(before.parent().unwrap()).unwrap();
    std::fs::write(&before, "#!/bin/sh\necho ran >> chained\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&before, executable).unwrap();
    let old = std::fs::read(&before).unwrap();
    world.git(&["config", "core.hooksPath", "../elsewhere"]);
    assert_eq!(world.run("init --yes --git-hook").code, 1, "not its own");
    world.git(&["config", "--unset", "core.hooksPath"]);
    // A link in the place of the new hook is not followed.
    let precious = world.home().join("precious");
    std::fs::write(&precious, "mine").unwrap();
    std::os::unix::fs::symlink(&precious, before.with_file_name("pre-commit.new-consort")).unwrap();
    assert_eq!(world.run("init --yes --git-hook").code, 0);
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "mine");
    assert_eq!(
        world.run("init --yes --git-hook").stdout,
        "The hook is there already: $WORLD/shop/.git/hooks/pre-commit\n"
    );

    let write = |path: &str, text: &str| std::fs::write(world.project().join(path), text).unwrap();
    let commit = |session: Option<&str>| {
        let mut git = world.command("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "x"]);
        world.ran(git.envs(session.map(|session| ("CONSORT_SESSION", session))))
    };
    write("src/auth/login.rs", "theirs");
    write("mine.rs", "mine");
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/"]).code, 0);
    world.git(&["add", "-A"]);
    let ran = commit(Some("s2"));
    assert_eq!(ran.code, 1, "{ran}");
    assert!(
        ran.stderr.contains("Commit refused: src/auth/login.rs (of src/auth/) is reserved by Falcon"),
        "{ran}"
    );
    assert!(
        std::fs::read_to_string(world.project().join("chained")).unwrap().contains("ran"),
        "the other one ran"
    );
    world.git(&["restore", "--staged", "src/auth"]);
    assert_eq!(commit(Some("s2")).code, 0);

    // A file that another agent edited last is only mentioned.
    write("shared.rs", "x");
    let call = |session: &str| {
        serde_json::json!({ "session_id": session, "cwd": world.project(), "tool_name": "Edit",
            "tool_input": { "file_path": world.project().join("shared.rs") } })
    };
    world.hook("PostToolUse", &call("s1"));
    world.git(&["add", "shared.rs"]);
    let ran = commit(Some("s2"));
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.stderr.contains("includes what others edited last and you did not: shared.rs (Falcon)"),
        "{ran}"
    );
    // The person's commit passes, and the person is told.
    world.git(&["add", "src/auth"]);
    let ran = commit(None);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.stderr.contains("In this commit: src/auth/login.rs"), "{ran}");
    // A store that cannot be opened does not stop a commit.
    write("mine.rs", "more");
    world.git(&["add", "mine.rs"]);
    std::fs::write(world.data().join("consort.db"), "not a database at all, but long enough to look at")
        .unwrap();
    assert_eq!(commit(Some("s2")).code, 0);
    world.move_away(&world.data());

    assert_eq!(world.run("uninit --git-hook").code, 0);
    assert_eq!(std::fs::read(&before).unwrap(), old);
}

#[test]
fn work_in_different_worktrees_that_will_meet_is_told_once() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    std::fs::write(world.project().join("a.rs"), "one\n").unwrap();
    world.git(&["add", "-A"]);
    world.git(&["commit", "-q", "-m", "a"]);
    world.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let side = world.path().join("side");
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    let mut join =
        world.consort("agent join --pid $OTHER --kind claude --session s2 --name Raven".split(' '));
    assert_eq!(world.ran(join.current_dir(&side)).code, 0);
    assert_eq!(world.run("radar merges").stdout, "No work in different worktrees meets.\n");
    for (session, place) in [("s1", world.project()), ("s2", side.clone())] {
        let call = serde_json::json!({ "session_id": session, "cwd": place, "tool_name": "Edit",
            "tool_input": { "file_path": place.join("a.rs") } });
        world.hook("PostToolUse", &call);
        std::fs::write(place.join("a.rs"), format!("{session}\n")).unwrap();
        let mut git = world.command("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-am", session]);
        assert_eq!(world.ran(git.current_dir(&place)).code, 0);
    }
    expect![[r#"
        Falcon and Raven:
          a.rs  both have edited it
          a.rs  their branches conflict
    "#]]
    .assert_eq(&world.run("radar merges").stdout);
    world.run("radar merges");
    let inbox = world.run_as(Some("s2"), &["inbox"]).stdout;
    assert_eq!(inbox.matches("info, from consort").count(), 1, "{inbox}");
    // This letter is about the branches; the edits by both were told when they were made.
    let works =
        "Falcon on main works in another worktree of this repository. Your branches conflict in: a.rs.";
    assert!(inbox.contains(works), "{inbox}");
}
