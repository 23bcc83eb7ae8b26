//! Tests of `consort mcp`, as a client on the other end of its pipes sees it.

use std::io::Write as _;
use std::path::PathBuf;

use consort_testkit::PaneWorld;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

use crate::client::Client;
use crate::client::Server;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

#[test]
fn what_others_hold_is_waited_for_and_what_they_changed_is_given_back() {
    let world = world();
    let (mut falcon, mut raven) = (Client::start(&world, Some("s1")), Client::start(&world, Some("s2")));
    raven.call("reserve", json!({ "what": ["a.txt"] }));
    let wait = |seconds: u64| json!({ "what": ["a.txt"], "wait": true, "timeout_s": seconds });
    assert!(falcon.call("reserve", wait(1)).1);
    let number = falcon.send("tools/call", json!({ "name": "reserve", "arguments": wait(60) }));
    raven.call("release", json!({}));
    let answer = falcon.message(|message| message["id"] == json!(number));
    assert_eq!(answer["result"]["content"][0]["text"], "Yours: a.txt.");
    let path = world.project().join("a.txt");
    std::fs::write(&path, "mine\n").unwrap();
    world.hook_text(
        "s1",
        "PostToolUse",
        &json!({ "tool_name": "Edit", "tool_input": { "file_path": path } }),
    );
    std::fs::write(&path, "theirs\n").unwrap();
    let shown = falcon.call("restore", json!({ "path": "a.txt" })).0;
    assert!(shown.starts_with("Restored a.txt") && shown.contains("-theirs\n+mine"), "{shown}");
}

#[test]
fn a_registered_session_is_itself() {
    let world = world();
    let mut falcon = Client::start(&world, Some("s1"));
    let (who, _) = falcon.call("who", json!({}));
    assert!(who.contains("Falcon (you), claude"), "{who}");
    assert_eq!(
        falcon.call("send", json!({ "to": ["Raven"], "text": "hello" })),
        ("Sent message #1 to Raven.".into(), false)
    );
    let mut raven = Client::start(&world, Some("s2"));
    let (inbox, _) = raven.call("inbox", json!({}));
    assert!(inbox.contains("from Falcon (claude, on main)") && inbox.contains("> hello"), "{inbox}");
    assert_eq!(raven.call("inbox", json!({})).0, "No new messages.");
    assert_eq!(
        raven.call("send", json!({ "reply": 1, "text": "hi" })),
        ("Sent message #2 to Falcon.".into(), false)
    );

    assert_eq!(raven.call("reserve", json!({ "what": ["src/"], "reason": "mine" })).0, "Yours: src/.");
    let (refused, is_error) = falcon.call("reserve", json!({ "what": ["src/a.rs"] }));
    assert!(is_error && refused.contains("Raven") && refused.contains("Hint: "), "{refused}");
    let (why, _) = falcon.call("explain", json!({ "path": "src/a.rs" }));
    assert_eq!(why, "You may not write it.\nsrc/ is reserved by Raven: \"mine\"");
    std::fs::create_dir(world.project().join("src")).unwrap();
    let (why, _) = falcon.call("explain", json!({ "command": "touch src/a.rs" }));
    assert!(why.starts_with("Refused: ") && why.contains("reserved by Raven"), "{why}");
    let (why, _) = falcon.call("explain", json!({ "command": "python3 gen.py" }));
    assert!(why.starts_with("Unknown: "), "{why}");
    assert!(falcon.call("explain", json!({})).1, "it is about nothing");
    assert_eq!(raven.call("release", json!({})).0, "Released: src/.");
    assert_eq!(falcon.call("radar", json!({})).0, "Nobody is heading for where another is.");
    assert!(raven.call("inbox", json!({ "thread": 1 })).0.contains("> hi"));
    assert!(raven.call("inbox", json!({ "sent": true })).0.contains("to Falcon (waiting)"));
    assert!(raven.call("inbox", json!({ "all": true })).0.contains("> hello"));
    assert!(falcon.call("who", json!({ "agent": "rav" })).0.starts_with("Raven, claude"));
    assert!(falcon.call("radar", json!({ "show": 9 })).0.contains("there is no prediction 9"));
    let (handoff, _) = falcon.call("handoff", json!({ "agent": "Raven" }));
    assert!(handoff.starts_with("Raven in $WORLD/shop") || handoff.starts_with("Raven in /"), "{handoff}");

    std::fs::write(world.project().join("spec.md"), "- [ ] T1: first\n- [ ] T2: second\n").unwrap();
    assert_eq!(falcon.call("task", json!({ "action": "next", "spec": "spec.md" })).0, "Claimed T1: first");
    let (list, _) = raven.call("task", json!({ "action": "list", "spec": "spec.md" }));
    assert_eq!(list, "T1 first [claimed]\nT2 second [ready]");
    assert_eq!(falcon.call("task", json!({ "action": "done", "spec": "spec.md" })).0, "Completed T1: first");

    let overview = falcon.ask("resources/read", json!({ "uri": "consort://overview" }));
    assert!(overview["result"]["contents"][0]["text"].as_str().unwrap().contains("Raven"), "{overview}");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn mail_is_announced_and_can_be_read_as_a_resource() {
    let world = world();
    let mut raven = Client::start(&world, Some("s2"));
    let inbox = json!({ "uri": "consort://inbox" });
    assert!(raven.ask("resources/subscribe", inbox.clone())["result"].is_object());
    assert!(raven.ask("resources/subscribe", json!({ "uri": "consort://moon" }))["error"].is_object());
    world.run_as(Some("s1"), &["send", "Raven", "hello"]);
    raven.hear("notifications/resources/list_changed");
    assert_eq!(raven.hear("notifications/resources/updated"), inbox);

    let listed = raven.ask("resources/list", json!({}));
    let message = &listed["result"]["resources"][2];
    assert_eq!((&message["name"], &message["description"]), (&json!("message #1"), &json!("From Falcon")));
    let uri = message["uri"].clone();
    for _ in 0..2 {
        let read = raven.ask("resources/read", json!({ "uri": uri }));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("> hello"), "{read}");
    }
    raven.call("inbox", json!({}));
    assert!(raven.ask("resources/read", json!({ "uri": uri }))["error"].is_object());

    // An agent cannot read another's messages, and is sent only notifications that it asked for.
    let mut falcon = Client::start(&world, Some("s1"));
    falcon.call("who", json!({}));
    world.run_as(Some("s2"), &["send", "Falcon", "for you"]);
    falcon.hear("notifications/resources/list_changed");
    assert!(falcon.ask("resources/read", json!({ "uri": "consort://message/4" }))["error"].is_object());
}

/// The MCP server renews its session's sign of life, on which a process in another namespace relies.
#[test]
fn its_server_says_that_a_session_lives() {
    let world = world();
    let mut raven = Client::start(&world, Some("s2"));
    raven.call("who", json!({}));
    for session in ["s1", "s2"] {
        // Moves the session's last sign of life eleven minutes back.
        let state = world.data().join(format!("sessions/{session}/state"));
        let text = std::fs::read_to_string(&state).unwrap();
        let (before, at) = text.split_once("\"at\":").unwrap();
        let (at, after) = at.split_at(13);
        let at = at.parse::<i64>().unwrap() - 11 * 60 * 1_000;
        std::fs::write(
            &state,
            format!("{}{}\"at\":{at}{after}", &before[..4], " ".repeat(20) + &before[24..]),
        )
        .unwrap();
    }
    world.run("send Raven hello");
    raven.hear("notifications/resources/list_changed");
    // A process in a namespace of its own cannot see the processes of this one.
    let mut who = world.command("unshare");
    who.args(["--map-root-user", "--pid", "--fork", "--mount-proc"])
        .arg(world.program())
        .args(["who", "--json"]);
    let ran = world.ran(&mut who);
    let who: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    let names: Vec<&Value> = who["items"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, [&json!("Raven")]);
}

/// Letters in an answer count as read once the client calls again: until
/// then they may not have reached it.
#[test]
fn mail_is_read_when_the_answer_has_come() {
    let world = world();
    world.run_as(Some("s1"), &["send", "Raven", "hello"]);
    let state = || -> String {
        let sent: Value =
            serde_json::from_str(&world.run_as(Some("s1"), &["inbox", "--sent", "--json"]).stdout).unwrap();
        sent["items"][0]["receipts"][0]["state"].to_string()
    };
    let mut raven = Client::start(&world, Some("s2"));
    assert!(raven.call("inbox", json!({})).0.contains("> hello"));
    assert!(state().contains("delivered"), "{}", state());
    drop(raven);
    // The first answer may not have been seen, so the letter is shown again.
    let mut raven = Client::start(&world, Some("s2"));
    assert!(raven.call("inbox", json!({})).0.contains("> hello"));
    assert_eq!(raven.call("inbox", json!({})).0, "No new messages.");
    assert!(state().contains("read"), "{}", state());
}

/// A thread id tells sessions of one process apart; it gives no access to another process's session.
#[test]
fn a_thread_is_a_session_of_its_own_process_only() {
    let world = world();
    let mut probe = Client::start(&world, None);
    let mut who = |thread: &str| {
        let call = json!({ "name": "who", "arguments": {}, "_meta": { "threadId": thread } });
        probe.ask("tools/call", call)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    // The client does not become Raven by Raven's session id. Its generated name may end in "Raven".
    let first = who("s2");
    let you = first.lines().find(|line| line.contains(" (you), probe")).unwrap_or_default();
    assert!(!you.is_empty() && !you.starts_with("Raven "), "{first}");
    let joined = world.run("journal tail -n 1 --json").stdout;
    assert!(joined.contains("mcp-"), "{joined}");
}

#[test]
fn what_is_learned_is_recorded_and_asked_for() {
    let world = world();
    let mut falcon = Client::start(&world, Some("s1"));
    let actions =
        json!([["record-principle", { "name": "sync", "description": "It spreads.", "confidence": 0.9 }]]);
    let (told, _) = falcon.call("act", json!({ "actions": actions, "key": "once" }));
    assert_eq!(told, "Entry #1: recorded principle sync");
    assert_eq!(
        falcon.call("act", json!({ "actions": actions, "key": "once" })).0,
        "Recorded before as entry #1."
    );
    let (wrong, is_error) = falcon.call("act", json!({ "actions": [["record-principle", {}], ["fly", {}]] }));
    assert!(is_error && wrong.contains("action 0 (record-principle), `name`: is missing"), "{wrong}");
    assert!(wrong.contains("action 1 (fly)"), "{wrong}");

    let mut raven = Client::start(&world, Some("s2"));
    let (told, _) = raven.call(
        "query",
        json!({ "expr": "(define sure (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)))" }),
    );
    assert!(!told.contains("error"), "{told}");
    // Definitions stay, and a query sees what others record meanwhile.
    assert_eq!(raven.call("query", json!({ "expr": "(map :name sure)" })).0, "(\"sync\")");
    falcon.call("act", json!({ "actions": [["record-principle", { "name": "new", "description": "d" }]] }));
    assert_eq!(raven.call("query", json!({ "expr": "(length (get-principles))" })).0, "2");
    let (failed, is_error) = raven.call("query", json!({ "expr": "(+ 1 2) (get-principels)" }));
    assert!(!is_error && failed.starts_with("3\n(error "), "{failed}");
    assert_eq!(world.run("journal verify").code, 0);
}

/// Eight servers at once with a hundred records each keep all of them. The number that the
/// official memory server keeps is printed for comparison.
#[test]
fn eight_servers_keep_eight_hundred_records() {
    let world = world();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let world = &world;
            scope.spawn(move || {
                let mut server = Client::start(world, Some("s1"));
                for number in 0..100 {
                    let props = json!({ "name": format!("p-{writer}-{number}"), "description": "one of eight hundred" });
                    let (told, is_error) = server.call("act", json!({ "actions": [["record-principle", props]] }));
                    assert!(!is_error, "{told}");
                }
            });
        }
    });
    let mut server = Client::start(&world, Some("s1"));
    assert_eq!(server.call("query", json!({ "expr": "(length (get-principles))" })).0, "800");

    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools");
    let program = tools.join("memory/node_modules/@modelcontextprotocol/server-memory/dist/index.js");
    if !program.exists() {
        return;
    }
    let file = world.path().join("memory.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (world, file, program, tools) = (&world, &file, &program, &tools);
            scope.spawn(move || {
                let mut command = world.command(tools.join("claude/node_modules/.bin/node"));
                command.arg(program).env("MEMORY_FILE_PATH", file);
                let (mut server, _) = Client::of(command);
                for number in 0..100 {
                    let entity = json!({ "name": format!("p-{writer}-{number}"), "entityType": "principle", "observations": ["one of eight hundred"] });
                    server.ask("tools/call", json!({ "name": "create_entities", "arguments": { "entities": [entity] } }));
                }
            });
        }
    });
    let kept = std::fs::read_to_string(&file).unwrap_or_default().lines().count();
    let told = format!("the official memory server kept {kept} of 800; ours 800\n");
    std::io::stderr().write_all(told.as_bytes()).unwrap();
}

#[test]
fn an_agent_without_hooks_joins_with_its_first_call() {
    let world = world();
    let mut probe = Client::start(&world, None);
    assert!(!world.run("who").stdout.contains("probe"));
    let (who, _) = probe.call("who", json!({}));
    assert!(who.contains("(you), probe"), "{who}");
    assert!(world.run("who").stdout.contains("probe"));
    // Every call updates the agent's last activity, though it has no hooks.
    let last_active = || {
        let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
        let agents = who["items"].as_array().unwrap();
        agents.iter().find(|agent| agent["cli"] == "probe").unwrap()["last_active_at"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = last_active();
    probe.call("who", json!({}));
    assert!(last_active() > before);
}

#[test]
fn what_is_wrong_is_answered_and_changes_nothing() {
    let world = world();
    let mut client = Client::start(&world, Some("s1"));
    let before = world.run("journal tail -n 100").stdout;
    assert_eq!(client.ask("no/such/method", json!({}))["error"]["code"], -32601);
    assert!(client.ask("server/discover", json!({}))["error"].is_object());
    assert_eq!(client.ask("tools/call", json!({ "name": "nope" }))["error"]["code"], -32602);
    for (tool, arguments) in [
        ("send", json!({})),
        ("send", json!({ "to": "Raven", "text": "x" })),
        ("send", json!({ "to": ["Nobody"], "text": "x" })),
        ("send", json!({ "to": ["Raven"], "text": "x", "type": "gossip" })),
        ("send", json!({ "to": ["Raven"], "text": "x".repeat(1 << 20) })),
        ("reserve", json!({ "what": [] })),
        ("reserve", json!({ "what": ["{a,b}".repeat(10)] })),
        ("explain", json!({ "path": "" })),
        ("task", json!({ "action": "dance" })),
        ("handoff", json!({ "agent": "" })),
    ] {
        let (text, is_error) = client.call(tool, arguments);
        assert!(is_error && text.starts_with("Error: ") && text.contains("\nHint: "), "{tool}: {text}");
    }
    assert_eq!(world.run("journal tail -n 100").stdout, before);
}

/// The resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_query_that_was_cancelled_ends_and_the_next_is_answered() {
    let world = world();
    let (mut client, _) = Client::of(world.consort(["mcp"]));
    client.call(
        "query",
        json!({ "expr": "(define loop (lambda (n) (loop (string-length (number->string n)))))" }),
    );
    // The first query would take seconds, and the next one waits for it.
    let params = json!({ "name": "query", "arguments": { "expr": "(let loop () (loop))" } });
    let begun = std::time::Instant::now();
    let id = client.send("tools/call", params);
    client.tell(
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    assert_eq!(client.call("query", json!({ "expr": "(+ 1 2)" })).0, "3");
    assert!(begun.elapsed() < std::time::Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn what_a_session_keeps_is_bounded_and_given_back() {
    let world = world();
    let (mut client, _) = Client::of(world.consort(["mcp"]));
    let Server::Ours(child) = &client.server else { panic!("ours") };
    let pid = child.id();
    for n in 0..40 {
        let expr = format!("(define big{n} (map (lambda (x) (list x (* x 2))) (range 60000)))");
        client.call("query", json!({ "expr": expr }));
    }
    let (refused, _) = client.call("query", json!({ "expr": "(define more (range 400000))" }));
    assert!(refused.contains("definitions may keep"), "{refused}");
    assert!(resident(pid) < 200 * 1024, "{} KiB", resident(pid));
}

#[test]
fn a_client_without_hooks_is_told_of_mail_with_any_result() {
    let world = world();
    let mut client = Client::start(&world, Some("s1"));
    let notices = |client: &mut Client| {
        let answer = client.ask("tools/call", json!({ "name": "who", "arguments": {} }));
        answer["result"]["content"].as_array().unwrap().len() - 1
    };
    assert_eq!(notices(&mut client), 0);
    world.run_as(Some("s2"), &["send", "Falcon", "look here"]);
    let answer = client.ask("tools/call", json!({ "name": "query", "arguments": { "expr": "(+ 1 2)" } }));
    assert_eq!(answer["result"]["content"][1]["text"], "[consort] 1 new message: call `inbox`.", "{answer}");
    assert!(client.call("inbox", json!({})).0.contains("look here"));
    assert_eq!(notices(&mut client), 0);
}

#[test]
fn a_question_is_about_the_project_that_it_names() {
    let world = world();
    let (mut client, _) = Client::of(world.consort(["mcp"]));
    let name = world.project().file_name().unwrap().to_string_lossy().into_owned();
    let actions = json!([["record-principle", { "name": "here" }]]);
    let (said, is_error) = client.call("act", json!({ "projectId": name, "actions": actions }));
    assert!(!is_error, "{said}");
    let (refused, is_error) = client.call("act", json!({ "projectId": "elsewhere", "actions": actions }));
    assert!(
        is_error && refused.contains("elsewhere") && refused.contains("Hint: leave `project` out"),
        "{refused}"
    );
    let (mut other, _) = Client::of(world.consort(["mcp", "--project", &name]));
    assert_eq!(other.call("query", json!({ "expr": "(map :name (get-principles))" })).0, "(\"here\")");
    let refused = world.run("mcp --project elsewhere");
    assert!(refused.code != 0 && refused.stderr.contains("elsewhere"), "{refused}");
}

/// An agent that opens another is told of it and answers its questions, and nothing else.
#[test]
fn an_agent_is_a_parent() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HOOKS", "1")]);
    let join = ["agent", "join", "--pid", "$OTHER", "--kind", "claude", "--session", "s1", "--name", "Raven"];
    assert_eq!(world.run(&join).code, 0);
    let mut command = world.command(&["mcp"]);
    command.env("CONSORT_SESSION", "s1");
    let (mut raven, _) = Client::seated(&world.world, &command);
    let loose = json!({ "cli": "claude", "prompt": "x", "permissions": "full" });
    assert!(raven.call("open", loose).1);
    let (opened, _) =
        raven.call("open", json!({ "cli": "claude", "name": "Wren", "prompt": "ask a question" }));
    assert!(opened.starts_with("Wren (pane 1) waits for you: Which colour?"), "{opened}");

    let (screen, _) = raven.call("screen", json!({ "agent": "Wren" }));
    assert!(screen.starts_with("Wren is question:\n") && screen.contains("❯ 1. Red"), "{screen}");
    let (mail, _) = raven.call("inbox", json!({}));
    assert!(mail.contains("Wren, which you opened, waits for an answer: \"Which colour?\""), "{mail}");
    let (waiting, _) = raven.call("waiting", json!({}));
    assert_eq!(
        waiting,
        "  1  Wren (claude) question: \"Which colour?\"\n     Red · Blue · \"Type something.\"\n     it is yours: `answer`"
    );
    assert_eq!(raven.call("watch", json!({})).0, "Wren is question: \"Which colour?\"");
    let (wrong, is_error) = raven.call("answer", json!({ "agent": "Wren", "option": "Green" }));
    assert!(is_error && wrong.contains("Red, Blue"), "{wrong}");
    let (answered, is_error) = raven.call("answer", json!({ "agent": "Wren", "option": "blue" }));
    assert_eq!((answered.as_str(), is_error), ("Answered Wren: Blue", false));
    assert!(
        world.cli.submitted_texts().contains(&"answered: Blue".to_owned()),
        "{:?}",
        world.cli.submitted_texts()
    );
    let (screen, _) = raven.call("screen", json!({ "agent": "Wren", "wait": 20 }));
    assert!(screen.starts_with("Wren is finished:"), "{screen}");

    // A permission is for the person to give, and an agent that others opened is not Raven's to close.
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    world.tmux(&["send-keys", "-t", &pane, "-l", "ask for permission"]);
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    let (screen, _) = raven.call("screen", json!({ "agent": "Wren", "wait": 20 }));
    assert!(screen.starts_with("Wren is permission:"), "{screen}");
    let (waiting, _) = raven.call("waiting", json!({}));
    assert!(waiting.contains("it is your user's: tell them with `send` to `@me`"), "{waiting}");
    let (refused, is_error) = raven.call("answer", json!({ "agent": "Wren", "option": "Yes" }));
    assert!(is_error && refused.contains("your user's"), "{refused}");
    assert!(!world.cli.submitted_texts().contains(&"answered: Yes".to_owned()));
    assert_eq!(world.run(&["open", "claude", "--name", "Heron"]).code, 0);
    assert!(raven.call("close", json!({ "agent": "Heron" })).1);
    // An agent that others opened is not listed.
    let (watched, _) = raven.call("watch", json!({}));
    assert_eq!(watched, "Wren is permission: \"Do you want to proceed?\"");
    // A `watch` that waits for a change answers when the change comes.
    let number = raven.send("tools/call", json!({ "name": "watch", "arguments": { "wait": 50 } }));
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    let told = raven.message(|message| message["id"] == json!(number));
    let told = told["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(told == "Wren is working" || told == "Wren is finished", "{told}");
    assert_eq!(raven.call("close", json!({ "agent": "Wren" })), ("Closed: Wren".into(), false));
    assert_eq!(world.panes().len(), 1);
    assert_eq!(raven.call("watch", json!({})).0, "You have opened no agent.");
    assert_eq!(raven.call("waiting", json!({})).0, "No agent waits.");
}
