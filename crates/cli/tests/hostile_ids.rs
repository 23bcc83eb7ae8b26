//! Tests that ids which somebody else made up never lead out of our directory.
//!
//! Every hook event of every CLI, `join`, MCP and HTTP get hostile ids, in a chroot
//! and as an ordinary user; afterwards everything outside of our directory must be as it was.

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use consort_testkit::jail;
use consort_testkit::jail::Jail;
use consort_testkit::rounds;
use proptest::prelude::*;
use proptest::test_runner::Config;
use proptest::test_runner::RngAlgorithm;
use proptest::test_runner::TestRng;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use serde_json::json;

const OURS: &[&str] = &["/home/user/.local", "/home/user/.config"];

/// The pieces that hostile ids are made of.
const PIECES: &[&str] = &[
    "",
    ".",
    "..",
    "/",
    "//",
    "../",
    "../../..",
    "/etc",
    "etc",
    "flag",
    "mail",
    "~",
    "%",
    "%2f",
    "%2e%2e",
    "a",
    "s1",
    "\0",
    "\n",
    "\u{1b}[2J",
    " ",
    "-rf",
    "*",
    "$HOME",
    "\u{202e}",
    "\u{d7ff}",
    "C:\\",
    "\\",
    "'",
    "\"",
];

const KINDS: &[&str] = &["claude", "codex", "gemini", "opencode", "pi", "copilot"];

/// Every event of every CLI, roughly in the order of a session.
const EVENTS: &[&str] = &[
    "SessionStart",
    "sessionStart",
    "session-start",
    "UserPromptSubmit",
    "BeforeAgent",
    "userPromptSubmitted",
    "prompt",
    "SubagentStart",
    "PreToolUse",
    "BeforeTool",
    "preToolUse",
    "tool-before",
    "PostToolUse",
    "AfterTool",
    "postToolUse",
    "tool-after",
    "PostToolUseFailure",
    "PermissionRequest",
    "Notification",
    "notification",
    "waiting",
    "resumed",
    "mail",
    "resting",
    "PreCompact",
    "SubagentStop",
    "Stop",
    "AfterAgent",
    "agentStop",
    "end",
    "idle",
    "StopFailure",
    "errorOccurred",
    "failed",
    "SessionEnd",
    "sessionEnd",
    "session-end",
];

fn consort(arguments: &[&str], input: &str) -> (i32, String) {
    let mut command = Command::new("/bin/consort");
    command.args(arguments).env_clear().env("HOME", "/home/user").env("PATH", "/bin");
    command.current_dir("/home/user/src").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // An argument cannot have a NUL in it: such a command cannot be run.
    let Ok(mut child) = command.spawn() else { return (1, String::new()) };
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Makes a payload with the id in every field that can have one.
fn payload(id: &str, with_subagent: bool) -> String {
    let mut payload = json!({
        "session_id": id, "sessionId": id, "cwd": "/home/user/src", "tool_use_id": id, "tool_name": "Bash",
        "toolName": "bash", "tool_input": { "command": "make", "file_path": id }, "prompt": id, "message": id,
        "agent_type": id, "model": id, "source": "startup", "error": id,
    });
    if with_subagent {
        payload["agent_id"] = json!(id);
        payload["session_id"] = json!("good");
        payload["sessionId"] = json!("good");
    }
    payload.to_string()
}

fn hooks(kind: &str, id: &str) {
    for with_subagent in [false, true] {
        for event in EVENTS {
            let (code, said) = consort(&["hook", kind, event], &payload(id, with_subagent));
            assert_eq!((code, said.as_str()), (0, ""), "{kind} {event} {id:?}");
            if *event == "prompt" {
                // Sends a message to every agent that is here now.
                let mail = json!([json!({}), json!({})]);
                consort(&["hook", "claude", "PostToolUse"], &payload("good", false));
                mcp("send", &json!({ "to": ["all"], "text": format!("{mail}") }), "good");
            }
        }
    }
}

fn mcp(tool: &str, arguments: &Value, thread: &str) {
    let call = |id: u32, method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
    };
    let input = call(
        1,
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": thread, "version": "1" } }),
    ) + &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()
        + "\n"
        + &call(
            2,
            "tools/call",
            json!({ "name": tool, "arguments": arguments, "_meta": { "threadId": thread } }),
        );
    consort(&["mcp"], &input);
}

fn commands(id: &str) {
    let pid = std::process::id().to_string();
    let (code, said) = consort(&["agent", "join", "--session", id, "--pid", &pid], "");
    let is_refused = id.is_empty() || id == "." || id == ".." || id.contains(['/', '\n', '\u{1b}']);
    if is_refused && !id.contains('\0') {
        assert_eq!(code, 1, "agent join --session {id:?}: {said}");
        assert!(said.contains("Hint: "), "{said}");
    }
    for arguments in [
        &["agent", "join", "--pid", &pid, "--name", id][..],
        &["agent", "join", "--pid", &pid, "--kind", id],
        &["agent", "join", "--pid", &pid, "--session", "good", "--spec", id],
        &["agent", "leave", "--agent", id],
        &["task", "list", "--spec", id],
        &["task", "claim", id, "--spec", id],
        &["reserve", id],
        &["explain", id],
        &["reserve", "--advisory", id],
        &["know", "cache", "get", id, id],
        &["config", "set", id, id],
        &["know", "show", id],
        &["who", "--json"],
    ] {
        let (code, said) = consort(arguments, "");
        assert!(matches!(code, 0..=7), "{arguments:?}: {code} {said}");
    }
    for tool in ["who", "reserve", "task", "handoff"] {
        mcp(tool, &json!({ "paths": [id], "action": "claim", "id": id, "spec": id, "agent": id }), id);
    }
}

#[test]
fn hostile_ids_touch_nothing_of_anyone_elses() {
    if !jail::is_inside() {
        let jail = Jail::new(env!("CARGO_BIN_EXE_consort"));
        assert!(jail.run("hostile_ids_touch_nothing_of_anyone_elses"), "see above");
        return;
    }
    let before = jail::manifest(OURS);
    assert!(before.contains_key("/etc/passwd") && before.contains_key("/home/user/mail/cur/1"));
    for event in ["SessionStart", "UserPromptSubmit"] {
        consort(&["hook", "claude", event], &payload("good", false));
    }
    let check = |id: &str| assert_eq!(jail::manifest(OURS), before, "after {id:?}");
    for id in PIECES.iter().copied().chain([&*"x".repeat(200), &*"é".repeat(3_000)]) {
        for kind in ["claude", "opencode", "copilot"] {
            hooks(kind, id);
        }
        commands(id);
        check(id);
    }
    // The same with ids made of several pieces; a long run has more of them.
    let cases = rounds(12, 200) as u32;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let ids = prop::collection::vec(prop::sample::select(PIECES), 0..5).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::new_with_rng(config, rng);
    let feed = |(kind, id): (&str, String)| {
        hooks(kind, &id);
        commands(&id);
        check(&id);
        Ok(())
    };
    runner.run(&(prop::sample::select(KINDS), ids), feed).unwrap();
}

#[test]
fn hostile_ids_over_http_touch_nothing_of_anyone_elses() {
    if !jail::is_inside() {
        let jail = Jail::new(env!("CARGO_BIN_EXE_consort"));
        assert!(jail.run("hostile_ids_over_http_touch_nothing_of_anyone_elses"), "see above");
        return;
    }
    let before = jail::manifest(OURS);
    let mut command = Command::new("/bin/consort");
    command
        .args(["serve", "--port", "0"])
        .env_clear()
        .env("HOME", "/home/user")
        .current_dir("/home/user/src");
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let token = Path::new("/home/user/.local/share/consort/token");
    let mut address = None;
    for _ in 0..500 {
        let listening = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let port = |line: &str| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_ours = fields.get(3) == Some(&"0A") && fields.get(7) == Some(&"12345");
            is_ours.then(|| u16::from_str_radix(fields[1].split_once(':').unwrap().1, 16).unwrap())
        };
        address = listening.lines().find_map(port);
        if address.is_some() && token.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let (port, secret) = (address.unwrap(), std::fs::read_to_string(token).unwrap());
    for id in PIECES {
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for path in
            [format!("api/who?project={encoded}"), format!("api/{encoded}"), format!("sync/{encoded}")]
        {
            request(port, secret.trim(), "GET", &path, "");
        }
        for verb in ["send", "reserve", "claim", "task/claim", "leave", "release"] {
            let body = json!({ "to": [id], "what": [id], "text": id, "id": id, "spec": id, "agent": id, "key": id,
                               "cwd": "/home/user/src" });
            request(port, secret.trim(), "POST", &format!("api/{verb}"), &body.to_string());
        }
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(jail::manifest(OURS), before);
}

fn request(port: u16, token: &str, method: &str, path: &str, body: &str) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 "), "{method} {path}: {answer:?}");
    assert!(!answer.starts_with("HTTP/1.1 500"), "{method} {path}: {answer}");
}

/// A directory that the user shares with us keeps what was there before.
#[test]
fn a_home_of_ours_that_was_somebodys_keeps_what_was_there() {
    if !jail::is_inside() {
        let jail = Jail::new(env!("CARGO_BIN_EXE_consort"));
        assert!(jail.run("a_home_of_ours_that_was_somebodys_keeps_what_was_there"), "see above");
        return;
    }
    let precious = [
        "mail/cur/1",
        "touched/mine",
        "trails/mine",
        "files/mine",
        "sessions/mine",
        "slots/mine",
        "published/mine",
        "cache/mine",
        "pending/mine",
    ];
    let home = Path::new("/home/user");
    for file in precious {
        std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        std::fs::write(home.join(file), "precious").unwrap();
    }
    for _ in 0..2 {
        for event in EVENTS {
            let mut command = Command::new("/bin/consort");
            command.args(["hook", "claude", event]).env_clear().env("CONSORT_HOME", home).env("HOME", home);
            let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(payload("s1", false).as_bytes()).unwrap();
            assert!(child.wait().unwrap().success());
        }
        // The next round makes a new store beside the remains of the old one.
        let _ = std::fs::remove_file(home.join("consort.db"));
        let _ = std::fs::remove_file(home.join("consort.db-wal"));
    }
    for file in precious {
        assert_eq!(std::fs::read_to_string(home.join(file)).unwrap(), "precious", "{file}");
    }
}
