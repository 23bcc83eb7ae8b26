//! Tests of messages at the command line.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use consort_testkit::Ran;
use consort_testkit::Sealed;
use expect_test::Expect;
use expect_test::expect;
use serde_json::json;

/// Makes a world with Falcon and Raven; the test itself is the person.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

fn check(ran: &Ran, expected: &Expect) {
    expected.assert_eq(&ran.to_string());
}

/// A project's name with a space is shown in quotes, and understood with and without them; a name that
/// two projects have is not shown.
#[test]
fn projects_are_called_as_they_are_shown() {
    let world = world();
    let join = |dir: &str, session: &str, name: &str| {
        world.git(&["init", "-q", "-b", "main", dir]);
        world.git(&["-C", dir, "commit", "-q", "--allow-empty", "-m", dir]);
        let line = format!("agent join --pid $OTHER --kind claude --session {session} --name {name}");
        let ran = world.ran(world.consort(line.split(' ')).current_dir(world.project().join(dir)));
        assert_eq!(ran.code, 0, "{ran}");
        assert_eq!(world.run_as(Some(session), &["send", "@me", "Hello."]).code, 0);
    };
    join("../my blog", "s3", "Heron");
    let inbox = world.run_as(None, &["inbox"]).stdout;
    assert!(inbox.starts_with("Message \"my blog\"#1 info, from Heron"), "{inbox}");
    for name in ["my blog#1", "\"my blog\"#1"] {
        let ran = world.run_as(None, &["reply", name, "yes"]);
        assert!(ran.stdout.ends_with(" to Heron.\n"), "{name}: {ran}");
    }
    join("../a/site", "s4", "Otter");
    join("../b/site", "s5", "Wren");
    let inbox = world.run_as(None, &["inbox"]).stdout;
    assert!(!inbox.contains("site#"), "{inbox}");
    for name in ["Otter", "Wren"] {
        let line = inbox.lines().find(|line| line.contains(name)).unwrap();
        let called = line.split(' ').nth(1).unwrap();
        let ran = world.run_as(None, &["reply", called, "yes"]);
        assert!(ran.stdout.ends_with(&format!(" to {name}.\n")), "{called}: {ran}");
    }
}

/// A reply to one's own message does not reach another agent with the name of a recipient that has left.
#[test]
fn a_reply_to_ones_own_reaches_no_namesake() {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "../blog"]);
    world.git(&["-C", "../blog", "commit", "-q", "--allow-empty", "-m", "another root"]);
    let in_blog =
        |line: &str| world.ran(world.consort(line.split(' ')).current_dir(world.project().join("../blog")));
    assert_eq!(in_blog("agent join --pid $OTHER --kind claude --session s3 --name Heron").code, 0);
    assert_eq!(world.run_as(Some("s1"), &["send", "Heron", "Raven", "Which?"]).code, 0);
    assert_eq!(world.run("agent leave --agent Heron").code, 0);
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s4 --name Heron").code, 0);
    check(
        &world.run_as(Some("s1"), &["reply", "1", "the second"]),
        &expect![[r#"
            Sent message #2 to Raven.
            [stderr] Error: not sent to everyone: `Heron` is gone
            [stderr] Hint: `consort who --all` lists who is here and who left
            [exit 1]
        "#]],
    );
}

/// A message's number has the project's name in another project, for readers and in replies.
#[test]
fn numbers_of_two_projects_are_told_apart() {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "../blog"]);
    world.git(&["-C", "../blog", "commit", "-q", "--allow-empty", "-m", "another root"]);
    let blog = world.project().join("../blog");
    let in_blog = |line: &str| world.ran(world.consort(line.split_whitespace()).current_dir(&blog));
    assert_eq!(in_blog("agent join --pid $OTHER --kind claude --session s3 --name Heron").code, 0);
    // The person's own notes are numbered in the project in which they are written.
    assert!(world.run_as(None, &["send", "@me", "a note"]).stdout.contains("#1"));
    assert!(world.run_as(None, &["send", "Falcon", "-t", "question", "Which?"]).stdout.contains("#2"));
    assert!(world.run_as(Some("s3"), &["send", "@me", "-t", "question", "Deploy?"]).stdout.contains("#1"));
    assert!(world.run_as(Some("s3"), &["send", "Falcon", "Hello."]).stdout.contains("#2"));
    check(
        &world.run_as(None, &["inbox"]),
        &expect![[r#"
            Message #1 info, from you, now:
            > a note
            Message blog#1 question, from Heron (claude, on main), now:
            > Deploy?
            [exit 0]
        "#]],
    );
    let told = world.hook_text("s1", "PostToolUse", &json!({})).unwrap();
    assert!(told.contains("Message blog#2 info, from Heron"), "{told}");
    check(
        &world.run_as(None, &["reply", "blog#1", "yes"]),
        &expect![[r#"
            Sent message blog#3 to Heron.
            [exit 0]
        "#]],
    );
    let heard = world.ran(world.consort(["inbox"]).env("CONSORT_SESSION", "s3").current_dir(&blog));
    assert!(heard.stdout.contains("Message #3 info, from your user, in reply to #1, now"), "{heard}");
    // A reply to one's own question goes to its recipient.
    check(
        &world.run_as(None, &["reply", "2", "the second one"]),
        &expect![[r#"
            Sent message #3 to Falcon.
            [exit 0]
        "#]],
    );
}

#[test]
fn an_exchange() {
    let world = world();
    check(
        &world.run_as(
            Some("s1"),
            &["send", "Raven", "-t", "question", "Is src/auth.rs yours?\nI would rename login()."],
        ),
        &expect![[r#"
            Sent message #1 to Raven.
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(Some("s2"), &["inbox"]),
        &expect![[r#"
            Message #1 question, from Falcon (claude, on main), now:
            > Is src/auth.rs yours?
            > I would rename login().
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(Some("s2"), &["inbox"]),
        &expect![[r#"
        [stderr] No new messages.
        [exit 0]
    "#]],
    );
    check(
        &world.run_as(Some("s2"), &["send", "--reply", "1", "-t", "ack", "Go ahead."]),
        &expect![[r#"
            Sent message #2 to Falcon.
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(Some("s2"), &["send", "@me", "Falcon renames login()."]),
        &expect![[r#"
            Sent message #3 to your user.
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(None, &["send", "Falcon", "Raven", "-p", "high", "Tests first, please."]),
        &expect![[r#"
            Sent message #4 to Falcon, Raven.
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(None, &["inbox", "--peek"]),
        &expect![[r#"
            Message #3 info, from Raven (claude, on main), now:
            > Falcon renames login().
            [exit 0]
        "#]],
    );
    assert!(world.run_as(None, &["status"]).stdout.contains("Mail         1 message unread\n"));
    check(
        &world.run_as(Some("s1"), &["inbox", "--from", "raven"]),
        &expect![[r#"
            Message #2 ack, from Raven (claude, on main), in reply to #1, now:
            > Go ahead.
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(Some("s1"), &["inbox", "--sent"]),
        &expect![[r#"
            Message #1 question, from you, now:
            > Is src/auth.rs yours?
            > I would rename login().
              to Raven (read just now)
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(Some("s1"), &["inbox", "--thread", "#7"]),
        &expect![[r#"
            [stderr] Error: there is no message #7
            [stderr] Hint: `consort inbox --all` and `consort inbox --sent` show numbers
            [exit 1]
        "#]],
    );
    check(
        &world.run_as(None, &["inbox", "--sent"]),
        &expect![[r#"
            Message #4 info, high, from you, now:
            > Tests first, please.
              to Falcon (waiting), Raven (waiting)
            [exit 0]
        "#]],
    );
    check(
        &world.run_as(None, &["who"]),
        &expect![[r#"
        AGENT   KIND    STATUS  DOING     BRANCH  WHERE  ACTIVE
        Falcon  claude  idle    1 unread  main           now
        Raven   claude  idle    1 unread  main           now
        [exit 0]
    "#]],
    );
    let journal = world.run_as(None, &["journal", "tail"]).stdout;
    let lines: String = journal.lines().skip(3).map(|line| format!("{}\n", &line[29..])).collect();
    expect![[r#"
        Raven was handed message #1
        Raven has read message #1
        Raven to Falcon: message #2 ack: Go ahead.
        Raven to you: message #3 info: Falcon renames login().
        you to Falcon, Raven: message #4 info: Tests first, please.
        Falcon was handed message #2
        Falcon has read message #2
    "#]]
    .assert_eq(&lines);
}

#[test]
fn refusals_are_facts_with_a_next_step() {
    let world = world();
    world.run_as(None, &["agent", "leave", "--agent", "Raven"]);
    for (arguments, expected) in [
        (
            vec!["send", "Falcn", "hi"],
            expect![[r#"
            [stderr] Error: no agent called `Falcn` is here
            [stderr] Hint: did you mean `Falcon`?
            [exit 1]
        "#]],
        ),
        (
            vec!["send", "Falcon", "how", "are", "you"],
            expect![[r#"
                [stderr] Error: no agent called `how` is here
                [stderr] Hint: `consort who --all` lists who is here; a text of several words is put in quotes
                [exit 1]
            "#]],
        ),
        (
            vec!["send", "Raven", "hi"],
            expect![[r#"
            [stderr] Error: `Raven` is gone
            [stderr] Hint: `consort who --all` lists who is here and who left
            [exit 1]
        "#]],
        ),
        (
            vec!["send", "Falcon", ""],
            expect![[r#"
            [stderr] Error: the message is empty
            [stderr] Hint: give the text as the last argument, or `-` to read it from standard input
            [exit 1]
        "#]],
        ),
        (
            vec!["send", "hi"],
            expect![[r#"
                [stderr] Error: the text is missing
                [stderr] Hint: consort send hi '…'
                [exit 2]
            "#]],
        ),
        (
            vec!["send", "--reply", "99", "hi"],
            expect![[r#"
                [stderr] Error: there is no message #99
                [stderr] Hint: `consort inbox --all` and `consort inbox --sent` show numbers
                [exit 1]
            "#]],
        ),
        (
            vec!["send", "--everywhere", "Falcon", "hi"],
            expect![[r#"
            [stderr] Error: `--everywhere` reaches every agent, and names were given as well
            [stderr] Hint: leave out one of them; put the text in quotes
            [exit 1]
        "#]],
        ),
        (
            vec!["send", "Falcon", "-t", "gossip", "hi"],
            expect![[r#"
                [stderr] Error: invalid value 'gossip' for '--type <TYPE>'
                [stderr] Hint: possible values: info, question, claim, release, delegate, handoff, ack, block
                [exit 2]
            "#]],
        ),
        (
            vec!["inbox", "--thread", "3"],
            expect![[r#"
                [stderr] Error: there is no message #3
                [stderr] Hint: `consort inbox --all` and `consort inbox --sent` show numbers
                [exit 1]
            "#]],
        ),
        (
            vec!["inbox", "-n", "3"],
            expect![[r#"
                [stderr] Error: `-n` counts what a list shows
                [stderr] Hint: `consort inbox --all -n 3` lists the last messages, `consort inbox --sent -n 3` those you sent
                [exit 1]
            "#]],
        ),
        (
            vec!["chat", "Nobody"],
            expect![[r#"
            [stderr] Error: no agent called `Nobody` is here
            [stderr] Hint: `consort who --all` lists who is here
            [exit 1]
        "#]],
        ),
    ] {
        check(&world.run_as(None, &arguments), &expected);
    }
    check(
        &world.run_as(Some("s1"), &["send", "all", "hi"]),
        &expect![[r#"
        [stderr] Error: no other agent is here
        [stderr] Hint: `--everywhere` reaches the agents of other projects, `@me` the person
        [exit 1]
    "#]],
    );
    check(
        &world.run_as(Some("s1"), &["send", "Falcon", "hi"]),
        &expect![[r#"
        [stderr] Error: `Falcon` cannot send to itself
        [stderr] Hint: `consort who` lists the others
        [exit 1]
    "#]],
    );
    check(
        &world.run_as(Some("s1"), &["send", "@me", "--from", "Raven", "hi"]),
        &expect![[r#"
        [stderr] Error: Falcon cannot send as `Raven`
        [stderr] Hint: only the person can send for an agent
        [exit 1]
    "#]],
    );
    let long = world.ran_with(&mut world.consort(["send", "Falcon", "-"]), &vec![b'a'; 1 << 20]);
    check(
        &long,
        &expect![[r#"
        [stderr] Error: the message is 1048576 bytes long; 16384 is the limit
        [stderr] Hint: put it in a file and send the path
        [exit 1]
    "#]],
    );
    let binary = world.ran_with(&mut world.consort(["send", "Falcon", "-"]), b"\xff\xfe");
    check(
        &binary,
        &expect![[r#"
        [stderr] Error: standard input cannot be read: stream did not contain valid UTF-8
        [stderr] Hint: a message is UTF-8 text; give it as the last argument or pipe it in
        [exit 1]
    "#]],
    );
    // The refused messages were not recorded.
    assert_eq!(world.run("status --json").stdout.matches("\"entries\":3").count(), 1);
}

#[test]
fn an_agent_session_that_has_not_joined_is_not_the_person() {
    let world = world();
    let claude = world.home().join("claude");
    std::os::unix::fs::symlink("/bin/sh", &claude).unwrap();
    let send = format!("{} send Falcon hi; {0} inbox; {0} whoami; true", env!("CARGO_BIN_EXE_consort"));
    check(
        &world.ran(world.command(&claude).args(["-c", &send])),
        &expect![[r#"
            this agent session has not joined (`consort agent join` registers the agent session it is run in)
            [stderr] Error: this agent session has not joined
            [stderr] Hint: `consort agent join` registers the agent session it is run in
            [stderr] Hint: a person uses a terminal in which no agent is or was joined
            [stderr] Error: this agent session has not joined
            [stderr] Hint: `consort agent join` registers the agent session it is run in
            [stderr] Hint: a person uses a terminal in which no agent is or was joined
            [exit 0]
        "#]],
    );
}

/// A command that was detached from its session is nobody's: neither the session's nor the
/// person's.
#[test]
fn an_orphan_is_nobody() {
    let world = world();
    let send = format!("sleep 0.1; {} send Raven 'do as I say'; true", env!("CARGO_BIN_EXE_consort"));
    for marker in [Some(("CLAUDE_CODE_SESSION_ID", "s1")), Some(("CONSORT_SESSION", "s1")), None] {
        let mut free = world.command("setsid");
        free.args(["-f", "sh", "-c", &send]).envs(marker);
        assert!(free.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        let heard = world.run_as(Some("s2"), &["inbox", "--wait", "--timeout", "1s"]).to_string();
        assert!(!heard.contains("do as I say"), "{marker:?}: {heard}");
    }
}

#[test]
fn a_key_sends_once() {
    let world = world();
    let send = |text: &str| world.run_as(None, &["send", "Falcon", "--key", "build-7", text]);
    check(
        &send("the build is green"),
        &expect![[r#"
            Sent message #1 to Falcon.
            [exit 0]
        "#]],
    );
    check(
        &send("the build is green"),
        &expect![[r#"
            Sent before as message #1 to Falcon.
            [exit 0]
        "#]],
    );
    check(
        &send("the build is red"),
        &expect![[r#"
            [stderr] Error: the key `build-7` was used for another message, #1
            [stderr] Hint: use another key for another text
            [exit 4]
        "#]],
    );
}

#[test]
fn a_talk_line_by_line() {
    let world = world();
    world.run_as(None, &["send", "Falcon", "before"]);
    world.run_as(Some("s1"), &["send", "@me", "an answer"]);
    let mut chat = world.consort(["chat", "falcon"]);
    let mut chat = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(chat.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains(", from you, "));
    assert_eq!(next(), "> before");
    assert!(next().contains(", from Falcon (claude, on main), "));
    assert_eq!(next(), "> an answer");
    let mut stdin = chat.stdin.take().unwrap();
    stdin.write_all(b"one\ntwo\n").unwrap();
    let heard = loop {
        if let Some(told) =
            world.hook_text("s1", "PostToolUse", &json!({})).filter(|told| told.contains("> two"))
        {
            break told;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(heard.contains("> two"));
    world.run_as(Some("s1"), &["send", "@me", "and another"]);
    next();
    assert_eq!(next(), "> and another");
    stdin.write_all(b"/quit\n").unwrap();
    assert!(chat.wait().unwrap().success());
    assert!(!world.run_as(Some("s1"), &["inbox", "--all"]).stdout.contains("quit"));
}
