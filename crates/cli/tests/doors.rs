//! Tests that MCP and HTTP can do what the command line can, in the same words: each command has
//! its tool and its route, or a reason why it has none.

use std::collections::BTreeSet;

use crate::client::Client;
use crate::http_server::HttpServer;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

/// The way to call a command through another door, or the reason why it cannot be called.
enum Way {
    /// A tool and its argument for the command; or the method and path of a request.
    By(&'static str, &'static str),
    Not(&'static str),
}

use Way::By;
use Way::Not;

/// The command prepares the machine, or is for a person at a terminal or for git.
const SET_UP: Way = Not("the person's, at a terminal");
/// The command changes settings or protection, or runs programs: an agent that may call every tool
/// unasked may not do that.
const ASKED: Way = Not("asked about on the command line, and tools are not asked about");
/// The tool `query` has a function for the command.
const QUERY: Way = By("query", "expr");
const KNOW_QUERY: Way = By("POST", "know/query?project=shop");
/// The command keeps what programs on this machine have computed.
const CACHE: Way = Not("files of this machine, for scripts on it");
/// The command goes over the whole store.
const STORE: Way = Not("it goes over the whole store, for repairing it");

/// The command works on terminals of this machine.
const PANES: Way = Not("terminals of this machine, for who is at it or opened them");

/// The command is about files of the person's and the project's.
const ROLES: Way = Not("a run names a role; what it is stands in files");

/// Agents have the tools `run` and `runs`; the other commands are for the person, who pays.
const RUNS: Way = Not("runs are started and read by the person and by agents, not by pages");

/// Every command, with its tool and its route.
const DOORS: &[(&str, Way, Way)] = &[
    ("agent handoff", By("handoff", "agent"), By("GET", "agent/handoff/Raven")),
    ("agent join", Not("an agent joins with its first call"), By("POST", "agent/join")),
    ("agent leave", ASKED, By("POST", "agent/leave")),
    ("agent rename", By("agent", "name"), By("POST", "agent/rename")),
    ("agent suggest", By("agent", "task"), By("GET", "agent/suggest?project=shop&task=login")),
    ("answer", By("answer", "option"), PANES),
    ("chat", Not("`send` and `inbox`, line by line"), Not("`send` and `inbox`, line by line")),
    ("completions", SET_UP, SET_UP),
    ("config accept", ASKED, SET_UP),
    ("config get", ASKED, By("GET", "config/context.mode?cwd=/")),
    ("config list", ASKED, By("GET", "config?cwd=/")),
    ("config path", ASKED, Not("with each setting")),
    ("config set", ASKED, SET_UP),
    ("config unset", ASKED, SET_UP),
    ("demo", SET_UP, SET_UP),
    ("doctor", ASKED, Not("it runs the agent CLIs of the person at the terminal")),
    ("down", SET_UP, SET_UP),
    ("explain", By("explain", "command"), By("GET", "explain?path=/a")),
    ("git-hook", SET_UP, SET_UP),
    ("holds", By("holds", "action"), By("GET", "holds")),
    ("holds contest", By("holds", "reason"), By("POST", "holds/contest")),
    ("holds list", By("holds", "action"), By("GET", "holds")),
    ("holds override", ASKED, By("POST", "holds/override")),
    ("holds restore", By("restore", "path"), By("POST", "holds/restore")),
    ("inbox", By("inbox", "thread"), By("GET", "inbox")),
    ("init", SET_UP, SET_UP),
    ("journal rebuild", ASKED, STORE),
    ("journal tail", Not("everything that happened is more than a model reads"), By("GET", "journal")),
    ("journal verify", STORE, STORE),
    ("know add", By("act", "actions"), By("POST", "know/apply?project=shop")),
    ("know adopt", By("know", "name"), By("POST", "know/adopt?project=shop")),
    ("know apply", By("act", "actions"), By("POST", "know/apply?project=shop")),
    ("know as-of", QUERY, KNOW_QUERY),
    ("know cache clear", CACHE, CACHE),
    ("know cache get", CACHE, CACHE),
    ("know cache put", CACHE, CACHE),
    ("know cache size", CACHE, CACHE),
    ("know export", ASKED, Not("`/sync` has the document as it changes")),
    ("know forget", ASKED, Not("for good, also elsewhere: typed at a terminal")),
    ("know history", QUERY, KNOW_QUERY),
    ("know import", ASKED, Not("it reads files; `know/apply` takes a batch")),
    ("know join", SET_UP, SET_UP),
    ("know list", QUERY, KNOW_QUERY),
    ("know merge", SET_UP, SET_UP),
    ("know query", QUERY, KNOW_QUERY),
    ("know renew", By("know", "name"), By("POST", "know/renew?project=shop")),
    ("know save", Not("written by itself where `knowledge.save` is on"), SET_UP),
    ("know search", QUERY, KNOW_QUERY),
    ("know show", QUERY, KNOW_QUERY),
    ("know similar", By("know", "words"), By("GET", "know/similar?project=shop")),
    ("know stale", QUERY, KNOW_QUERY),
    ("know suggest", By("know", "action"), By("GET", "know/suggest?project=shop")),
    ("know sync", ASKED, Not("it is the other side of `/sync`")),
    ("know take-in", SET_UP, SET_UP),
    ("know try", SET_UP, SET_UP),
    ("know watch", ASKED, Not("`serve` watches while it runs")),
    ("mcp", SET_UP, Not("at `/mcp`")),
    ("open", By("open", "cli"), PANES),
    ("pane attach", SET_UP, SET_UP),
    ("pane close", By("close", "agent"), PANES),
    ("pane explain", ASKED, Not("it reads a capture from a file")),
    ("pane focus", SET_UP, SET_UP),
    ("pane list", Not("`who` tells, and `screen` shows one"), PANES),
    ("pane screen", By("screen", "agent"), PANES),
    ("pane start", SET_UP, SET_UP),
    ("pane watch", By("watch", "wait"), PANES),
    ("policy add", SET_UP, SET_UP),
    ("policy list", SET_UP, SET_UP),
    ("policy remove", SET_UP, SET_UP),
    ("policy test", SET_UP, SET_UP),
    ("radar", By("radar", "show"), By("GET", "radar?project=shop")),
    ("radar history", By("radar", "of"), By("GET", "radar/history?project=shop")),
    ("radar list", By("radar", "of"), By("GET", "radar?project=shop")),
    ("radar merges", By("radar", "of"), By("GET", "radar/merges?project=shop")),
    ("radar show", By("radar", "show"), By("GET", "radar/1?project=shop")),
    ("radar topics", By("radar", "of"), By("GET", "radar/topics?project=shop")),
    ("radar topics forget", Not("it changes the warnings of all: the person's"), SET_UP),
    ("radar topics set", Not("it changes the warnings of all: the person's"), SET_UP),
    ("release", By("release", "what"), By("POST", "release")),
    ("reply", By("send", "reply"), By("POST", "reply/1")),
    ("reserve", By("reserve", "what"), By("POST", "reserve")),
    ("roles list", ROLES, ROLES),
    ("roles set", SET_UP, SET_UP),
    ("roles show", ROLES, ROLES),
    ("roles validate", ROLES, ROLES),
    ("run", By("run", "task"), RUNS),
    ("runs attach", By("runs", "wait"), RUNS),
    ("runs audit", RUNS, RUNS),
    ("runs batch", RUNS, RUNS),
    ("runs chain", RUNS, RUNS),
    ("runs cost", RUNS, RUNS),
    ("runs list", By("runs", ""), RUNS),
    ("runs logs", RUNS, RUNS),
    ("runs reset", SET_UP, SET_UP),
    ("runs resume", RUNS, RUNS),
    ("runs retry", RUNS, RUNS),
    ("runs show", By("runs", "run"), RUNS),
    ("runs stop", By("runs", "stop"), RUNS),
    ("runs supervise", SET_UP, SET_UP),
    ("send", By("send", "to"), By("POST", "send")),
    ("serve", SET_UP, SET_UP),
    ("shield", SET_UP, SET_UP),
    ("status", By("status", ""), By("GET", "status?project=shop")),
    ("task", By("task", "action"), By("GET", "task")),
    ("task claim", By("task", "id"), By("POST", "task/claim")),
    ("task done", By("task", "notes"), By("POST", "task/done")),
    ("task drop", By("task", "id"), By("POST", "task/drop")),
    ("task list", By("task", "action"), By("GET", "task")),
    ("task next", By("task", "spec"), By("POST", "task/next")),
    ("token list", SET_UP, SET_UP),
    ("token new", SET_UP, SET_UP),
    ("token revoke", SET_UP, SET_UP),
    ("uninit", SET_UP, SET_UP),
    ("up", SET_UP, SET_UP),
    ("wait", By("reserve", "wait"), Not("`/api/events` tells when it is free")),
    ("waiting", By("waiting", ""), PANES),
    ("who", By("who", "agent"), By("GET", "who")),
    ("whoami", By("status", ""), By("GET", "status?project=shop")),
    ("with", SET_UP, SET_UP),
];

/// Tools that have no command, and why.
const ALONE: &[(&str, &str)] = &[("answer", "the person answers at a terminal")];

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

#[test]
fn every_command_has_its_tool_and_its_route_or_a_reason() {
    let commands: BTreeSet<&str> =
        consort_agents::allow::ALLOWED.iter().chain(consort_agents::allow::ASKED).copied().collect();
    let listed: BTreeSet<&str> = DOORS.iter().map(|(command, ..)| *command).collect();
    assert_eq!(commands, listed);
    let world = world();
    let tools: Vec<Value> = serde_json::from_str(&world.run("mcp --schemas").stdout).unwrap();
    let site = HttpServer::start(&world);
    for (command, tool, route) in DOORS {
        if let By(name, argument) = tool {
            let tool = tools.iter().find(|tool| tool["name"] == *name);
            let tool = tool.unwrap_or_else(|| panic!("`{command}`: no tool `{name}`"));
            let has_it = argument.is_empty() || tool["inputSchema"]["properties"][argument].is_object();
            assert!(has_it, "`{command}`: `{name}` has no `{argument}`");
        }
        if let By(method, path) = route {
            // A field that is missing in the body is another error; 404 means that there is no route.
            let (status, answer) =
                if *method == "GET" { site.get(path) } else { site.post(path, &json!({})) };
            assert_ne!(status, 404, "`{command}`: {method} {path}: {answer}");
        }
        for way in [tool, route] {
            assert!(!matches!(way, Not("")), "`{command}`");
        }
    }
    // Every tool has a command, except those named in `ALONE`.
    for tool in tools.iter().filter(|tool| !ALONE.iter().any(|(name, _)| tool["name"] == *name)) {
        let is_meant = |way: &Way| matches!(way, By(name, _) if tool["name"] == *name);
        assert!(DOORS.iter().any(|(_, way, _)| is_meant(way)), "{}", tool["name"]);
    }
}

/// Tools answer in the envelope of all doors, and agents have all their four fields.
#[test]
fn tools_answer_in_the_envelope_of_the_commands() {
    let world = world();
    std::fs::write(world.project().join("spec.md"), "- [ ] T-1: first\n").unwrap();
    world.run_as(Some("s2"), &["reserve", "lib/"]);
    let mut client = Client::start(&world, Some("s1"));
    for (tool, arguments, noun) in [
        ("who", json!({}), "items"),
        ("status", json!({}), "status"),
        ("send", json!({ "to": ["Raven"], "text": "hello" }), "message"),
        ("inbox", json!({}), "items"),
        ("reserve", json!({ "what": ["docs/"] }), "items"),
        ("holds", json!({ "action": "list" }), "items"),
        ("holds", json!({ "action": "contest", "path": "lib/" }), "reservation"),
        ("explain", json!({ "path": "lib/a.rs" }), "path"),
        ("explain", json!({ "command": "touch lib/a.rs" }), "command"),
        ("release", json!({}), "items"),
        ("task", json!({ "action": "list", "spec": "spec.md" }), "items"),
        ("task", json!({ "action": "next", "spec": "spec.md" }), "task"),
        ("radar", json!({}), "items"),
        ("radar", json!({ "of": "history" }), "items"),
        ("radar", json!({ "of": "topics" }), "items"),
        ("radar", json!({ "of": "merges" }), "items"),
        ("handoff", json!({ "agent": "Raven" }), "handoff"),
        ("agent", json!({ "action": "suggest", "task": "login" }), "items"),
        ("agent", json!({ "action": "rename", "name": "Kestrel" }), "agent"),
        ("query", json!({ "expr": "(+ 1 2)" }), "answer"),
        ("act", json!({ "actions": [["record-note", { "description": "x" }]] }), "recorded"),
        ("know", json!({ "action": "suggest" }), "items"),
        ("know", json!({ "action": "similar", "words": "x" }), "items"),
        ("send", json!({ "to": ["Nobody"], "text": "x" }), "error"),
    ] {
        let answer = client.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let data = &answer["result"]["structuredContent"];
        assert!(!data[noun].is_null(), "{tool} {arguments}: {answer}");
        let is_moment = data["at"].as_str().is_some_and(|at| at.ends_with('Z'));
        assert_eq!(is_moment, noun != "error", "{tool} {arguments}: {answer}");
        assert_agents_are_whole(data, tool);
    }
    let seen = client.ask("tools/call", json!({ "name": "who", "arguments": { "agent": "Raven" } }));
    let seen = &seen["result"]["structuredContent"]["items"][0];
    assert!(seen["machine"].is_string() && seen["session"] == "s2", "{seen}");
    assert!(world.run("who").stdout.contains("Kestrel"));
}

fn assert_agents_are_whole(value: &Value, tool: &str) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| assert_agents_are_whole(value, tool)),
        Value::Object(fields) => {
            let is_named = fields.contains_key("session") && fields.contains_key("name");
            let is_whole = fields.contains_key("cli") && fields.contains_key("machine");
            assert!(!is_named || is_whole, "{tool}: {value}");
            fields.values().for_each(|value| assert_agents_are_whole(value, tool));
        }
        _ => {}
    }
}

/// Every door tells in the same way, before a command is run, what of it would be refused.
#[test]
fn a_command_is_judged_the_same_through_every_door() {
    let world = world();
    std::fs::create_dir(world.project().join("lib")).unwrap();
    std::fs::write(world.project().join("lib/a.rs"), "").unwrap();
    world.run_as(Some("s2"), &["reserve", "lib/"]);
    let mut client = Client::start(&world, Some("s1"));
    let told =
        client.ask("tools/call", json!({ "name": "explain", "arguments": { "command": "touch lib/a.rs" } }));
    let by_tool = &told["result"]["structuredContent"]["command"];
    let shown = world.run_as(Some("s1"), &["explain", "--json", "--", "touch lib/a.rs"]).stdout;
    let by_command = &serde_json::from_str::<Value>(&shown).unwrap()["command"];
    let site = HttpServer::start(&world);
    let (_, by_route) =
        site.get(&format!("explain?command=touch%20lib/a.rs&cwd={}", world.project().display()));
    assert_eq!(by_tool["verdict"], "refused");
    for field in ["verdict", "reasons"] {
        assert_eq!([&by_tool[field], &by_route["command"][field]], [&by_command[field]; 2]);
    }
}

/// The server's own token is readable by every agent; what weakens protection takes one
/// that the person made.
#[test]
fn what_weakens_protection_takes_the_persons_proof() {
    let world = world();
    world.run_as(Some("s2"), &["reserve", "lib/"]);
    let site = HttpServer::start(&world);
    let lift = json!({ "cwd": world.project(), "paths": ["lib/"], "for_s": 120 });
    let away = json!({ "agent": "Raven" });
    let as_nobody = ["host: localhost", &format!("authorization: Bearer {}", site.access)];
    for (path, body) in [("holds/override", &lift), ("agent/leave", &away)] {
        let (status, answer) = site.ask(&format!("POST /api/{path}"), &as_nobody, &body.to_string());
        assert_eq!(status, 400, "{path}: {answer}");
        assert!(world.run("holds list").stdout.contains("Reserved:"), "{path}");
    }
    assert_eq!(
        site.post("holds/override", &json!({ "cwd": "/", "paths": ["lib/"], "for_s": 999_999 })).0,
        400
    );
    let (status, lifted) = site.post("holds/override", &lift);
    assert_eq!((status, &lifted["reservation"]["strength"]), (200, &json!("overridden")), "{lifted}");
    assert_eq!(site.post("agent/leave", &away).1["agent"]["name"], "Raven");
    assert!(!world.run("who").stdout.contains("Raven"));
}

#[test]
fn programs_read_settings_and_record_over_http() {
    let world = world();
    let site = HttpServer::start(&world);
    let cwd = world.project();
    assert_eq!(site.get("status?project=shop").1["status"]["here"]["agents"].as_array().unwrap().len(), 2);
    let (_, setting) = site.get(&format!("config/context.mode?cwd={}", cwd.display()));
    assert_eq!(setting["setting"]["key"], "context.mode", "{setting}");
    assert_eq!(site.get(&format!("config/no.such?cwd={}", cwd.display())).0, 400);
    let note = json!({ "actions": [["record-note", { "name": "one-writer", "description": "one writes at a time" }]] });
    let (status, recorded) = site.post("know/apply?project=shop", &note);
    assert_eq!(status, 200, "{recorded}");
    let asked = json!({ "expr": "(map :name (get-notes))" });
    assert_eq!(site.post("know/query?project=shop", &asked).1["items"], json!(["one-writer"]));
    assert!(world.run("know search writer").stdout.contains("one-writer"));
    let renamed = site.post("agent/rename", &json!({ "agent": "Falcon", "name": "Kestrel" })).1;
    assert_eq!(renamed["agent"]["was"], "Falcon", "{renamed}");
}
