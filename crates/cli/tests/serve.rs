//! Tests of `consort serve`, as programs on the other end of a connection see it: ours,
//! and the official clients of MCP.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use crate::http_server::HttpServer;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

#[test]
fn the_outcomes_are_served_as_json() {
    let world = world();
    let site = HttpServer::start(&world);
    let (status, who) = site.get("who?project=shop");
    assert_eq!(status, 200);
    let names: Vec<&str> =
        who["items"].as_array().unwrap().iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Falcon", "Raven"]);

    let (status, sent) = site.post("send", &json!({ "to": ["Raven"], "text": "hello" }));
    assert_eq!((status, &sent["message"]["to"][0]["name"]), (200, &json!("Raven")));
    assert!(world.run_as(Some("s2"), &["inbox"]).stdout.contains("> hello"));
    world.run_as(Some("s2"), &["send", "@me", "hi"]);
    let (_, inbox) = site.get("inbox");
    assert_eq!(inbox["items"][0]["text"], "hi");
    // The message waits until the client says that it was shown.
    assert_eq!(site.get("inbox").1["items"], inbox["items"]);
    let id = inbox["items"][0]["id"].clone();
    let (status, read) = site.post("inbox/read", &json!({ "messages": [id] }));
    assert_eq!((status, &read["items"]), (200, &json!([id])));
    assert_eq!(site.get("inbox").1["items"], json!([]));
    assert_eq!(site.get("inbox/all").1["items"][0]["text"], "hi");
    assert_eq!(site.get("inbox/sent").1["items"][0]["receipts"][0]["state"], "read");
    assert_eq!(site.get(&format!("inbox/thread/{}", id.as_str().unwrap())).1["items"][0]["text"], "hi");
    let number = site.get("inbox/all").1["items"][0]["number"].clone();
    let (status, _) = site.post(&format!("reply/{number}?project=shop"), &json!({ "text": "hi back" }));
    assert_eq!(status, 200);

    world.run_as(Some("s1"), &["reserve", "src/", "--reason", "mine"]);
    assert_eq!(site.get("holds?project=shop").1["items"][0]["holder"]["name"], "Falcon");
    assert_eq!(site.get("who/Falcon").1["agent"]["cli"], "claude");
    let cwd = world.project();
    let explain = format!("explain?path=src/a.rs&cwd={}", cwd.display());
    assert_eq!(site.get(&explain).1["path"]["reserved"], true);
    std::fs::create_dir_all(cwd.join("src")).unwrap();
    let explain = format!("explain?command=touch%20src/a.rs&cwd={}", cwd.display());
    assert_eq!(site.get(&explain).1["command"]["verdict"], "refused");
    let (status, held) = site.post("reserve", &json!({ "cwd": cwd, "paths": ["docs/"], "ttl_s": 60 }));
    assert_eq!((status, &held["items"][0]["holder"]), (200, &json!("person")));
    assert_eq!(site.post("reserve", &json!({ "cwd": cwd, "paths": ["src/"] })).0, 409);
    assert_eq!(site.post("holds/contest", &json!({ "cwd": cwd, "paths": ["src/"] })).0, 200);
    assert_eq!(site.post("release", &json!({ "cwd": cwd })).1["items"].as_array().unwrap().len(), 1);
    std::fs::write(cwd.join("spec.md"), "- [ ] T-1: first\n").unwrap();
    let task = json!({ "cwd": cwd, "spec": "spec.md" });
    assert_eq!(site.post("task/next", &task).1["task"]["id"], "T-1");
    assert_eq!(site.post("task/done", &task).0, 200);
    assert_eq!(site.get("radar/history?project=shop").1["items"], json!([]));
    assert_eq!(site.get("radar?project=shop").0, 200);
    assert_eq!(site.get("agent/handoff/Raven").1["handoff"]["name"], "Raven");
    assert!(site.get("task").1["items"].is_array());
    assert_eq!(site.get("journal?limit=1").1["items"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_wrong_is_refused_with_a_hint() {
    let world = world();
    let site = HttpServer::start(&world);
    let before = world.run("journal tail -n 100").stdout;
    for (status, line, body) in [
        (404, "GET /", ""),
        (404, "GET /api/nothing", ""),
        (404, "PUT /api/who", ""),
        (400, "GET /api/who?project=nowhere", ""),
        (400, "GET /api/who?limit=many", ""),
        (400, "GET /api/radar", ""),
        (400, "GET /api/inbox/thread/99999", ""),
        (400, "GET /api/inbox/thread/x", ""),
        (400, "GET /api/agent/handoff/Nobody", ""),
        (400, "POST /api/send", ""),
        (400, "POST /api/send", r#"{"to": ["Nobody"], "text": "x"}"#),
        (400, "POST /api/send", r#"{"to": ["Raven"], "text": "x", "typ": "info"}"#),
        (400, "POST /api/send", r#"{"to": ["Raven"], "text": "x", "type": "gossip"}"#),
        (400, "POST /api/inbox/read", r#"{"numbers": "all"}"#),
    ] {
        let (found, problem) = site.ask(line, &["host: localhost", &site.bearer()], body);
        assert_eq!(found, status, "{line} {body}: {problem}");
        assert!(problem["error"]["message"].is_string() && problem["error"]["hints"].is_array(), "{problem}");
    }
    let wrong = "authorization: Bearer 00000000000000000000000000000000";
    for (status, path, headers) in [
        (401, "/api/who", &["host: localhost"][..]),
        (401, "/api/who", &["host: localhost", wrong]),
        (401, "/mcp", &["host: localhost"]),
        (403, "/api/who", &["host: evil.example", &site.bearer()]),
        (403, "/mcp", &["host: evil.example", &site.bearer()]),
        (403, "/api/who", &["host: localhost", "origin: http://evil.example", &site.bearer()]),
        (403, "/mcp", &["host: localhost", "origin: http://evil.example", &site.bearer()]),
    ] {
        assert_eq!(site.ask(&format!("GET {path}"), headers, "").0, status, "{path} {headers:?}");
    }
    assert_eq!(world.run("journal tail -n 100").stdout, before);
}

fn next(events: &mut impl Iterator<Item = String>) -> (String, Value) {
    let mut field = |name: &str| events.find_map(|line| line.strip_prefix(name).map(str::to_owned)).unwrap();
    let (id, data) = (field("id: "), field("data: "));
    (id, serde_json::from_str(&data).unwrap())
}

#[test]
fn the_journal_is_followed_and_taken_up_again() {
    let world = world();
    let site = HttpServer::start(&world);
    let events = |headers: &[&str]| {
        let bearer = site.bearer();
        let headers = [&["host: localhost", bearer.as_str()], headers].concat();
        BufReader::new(site.request("GET /api/events", &headers, "")).lines().map(Result::unwrap)
    };
    let text = |entry: &Value| entry["changes"][0]["change"]["sent"]["text"].clone();
    let mut live = events(&[]);
    // The head of the answer has come: from here on no entry is missed.
    live.find(String::is_empty).unwrap();
    world.run_as(Some("s1"), &["send", "Raven", "one"]);
    let (id, entry) = next(&mut live);
    assert_eq!(text(&entry), "one");
    drop(live);
    for more in ["two", "three"] {
        world.run_as(Some("s1"), &["send", "Raven", more]);
    }
    let mut again = events(&[&format!("last-event-id: {id}")]);
    assert_eq!([next(&mut again), next(&mut again)].map(|(_, entry)| text(&entry)), ["two", "three"]);
    // An open stream does not keep the server from ending.
    assert!(site.end().success());
}

/// The token only allows a call; the caller is identified by its processes.
#[test]
fn an_agent_is_itself_whatever_token_it_has() {
    let world = world();
    let site = HttpServer::start(&world);
    let script = r#"
import json, os, subprocess, sys, urllib.request
consort, port, token = sys.argv[1:]
subprocess.run([consort, "agent", "join", "--name", "Heron", "--kind", "python", "--pid", str(os.getpid()), "--session", "py"], check=True, stdout=2)
request = urllib.request.Request(f"http://127.0.0.1:{port}/api/send", method="POST",
    data=json.dumps({"to": ["@me"], "text": "it is me"}).encode(), headers={"authorization": f"Bearer {token}"})
print(urllib.request.urlopen(request).read().decode())
"#;
    let mut python = world.command("python3");
    python.args(["-c", script]).arg(world.program()).args([&site.port, &site.access]);
    let ran = world.ran(&mut python);
    assert_eq!(ran.code, 0, "{ran}");
    let (_, inbox) = site.get("inbox");
    assert_eq!(
        (&inbox["items"][0]["text"], &inbox["items"][0]["from"]["name"]),
        (&json!("it is me"), &json!("Heron"))
    );
}

/// An agent does not become the person by hiding the origin of a call.
#[test]
fn an_agent_that_hides_is_not_the_person() {
    let world = world();
    let site = HttpServer::start(&world);
    let script = r#"
import json, os, socket, subprocess, sys, time
consort, port, token = sys.argv[1:]
subprocess.run([consort, "agent", "join", "--name", "Heron", "--kind", "python", "--pid", str(os.getpid()), "--session", "py"], check=True, stdout=2)
def request(text):
    body = json.dumps({"to": ["Raven"], "text": text})
    return f"POST /api/send HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
# Gone before anyone can look who it was.
for _ in range(20):
    peer = socket.create_connection(("127.0.0.1", int(port)))
    peer.sendall(request("gone"))
    peer.close()
# Set free of its session.
child = os.fork()
if child == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.5)
        orphan = "import socket,sys; s=socket.create_connection(('127.0.0.1', int(sys.argv[1]))); s.sendall(sys.argv[2].encode()); s.recv(9999)"
        os.execvpe(sys.executable, [sys.executable, "-c", orphan, port, request("free").decode()], {**os.environ, "CONSORT_SESSION": "py"})
    os._exit(0)
os.waitpid(child, 0)
time.sleep(2)
"#;
    let mut python = world.command("python3");
    python.args(["-c", script]).arg(world.program()).args([&site.port, &site.access]);
    let ran = world.ran(&mut python);
    assert_eq!(ran.code, 0, "{ran}");
    let letters: Value =
        serde_json::from_str(&world.run_as(Some("s2"), &["inbox", "--json"]).stdout).unwrap();
    let letters = letters["items"].as_array().unwrap();
    assert!(letters.iter().all(|letter| letter["from"]["name"] == "Heron"), "{letters:?}");
    assert!(letters.iter().all(|letter| letter["text"] != "free"), "{letters:?}");
}

/// Clients that come and go leave no threads running.
#[test]
fn clients_leave_no_threads_behind() {
    let world = world();
    let site = HttpServer::start(&world);
    let count = || {
        let status = fs::read_to_string(format!("/proc/{}/status", site.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("Threads:")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
    };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "api-client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "who", "arguments": {}, "_meta": meta } });
    let bearer = site.bearer();
    let headers = [
        "host: localhost",
        bearer.as_str(),
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: who",
    ];
    for _ in 0..30 {
        let mut answer = String::new();
        site.request("POST /mcp", &headers, &call.to_string()).read_to_string(&mut answer).unwrap();
        assert!(answer.contains("api-client, idle"), "{answer}");
    }
    // The blocking pool keeps a few threads for a while.
    assert!(count() < 15, "{}", count());
}

#[test]
fn the_person_reaches_all_of_a_project() {
    let world = world();
    let site = HttpServer::start(&world);
    let (status, sent) = site.post("send?project=shop", &json!({ "to": ["all"], "text": "hello" }));
    assert_eq!((status, sent["message"]["to"].as_array().unwrap().len()), (200, 2), "{sent}");
    assert_eq!(site.ask("GET /api/events?after=zz", &["host: localhost", &site.bearer()], "").0, 400);
}

#[test]
fn a_token_that_others_can_read_is_not_used() {
    let world = world();
    let site = HttpServer::start(&world);
    let path = world.data().join("token");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(site.end().success());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = world.run("serve --port 0");
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("can be read by others") && refused.stderr.contains("Hint"), "{refused}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "short").unwrap();
    assert!(world.run("serve --port 0").stderr.contains("holds no token"));
}

fn tools() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools")
}

/// Makes a command of a program from npm; `None`, with a loud message, if it could not be installed.
fn node(world: &Sealed, package: &str, program: &str) -> Option<Command> {
    let dir = tools().join(package);
    if dir.join("unreachable").exists() {
        let told = format!("!!! SKIPPED: {package} could not be installed !!!\n");
        std::io::stderr().write_all(told.as_bytes()).unwrap();
        return None;
    }
    let mut command = world.command(tools().join("claude/node_modules/.bin/node"));
    command.arg(dir.join("node_modules").join(program));
    Some(command)
}

/// Tests both revisions that the suite knows; checks that do not apply to us are listed with
/// reasons in `conformance/`.
#[test]
fn the_official_conformance_suite_passes() {
    let world = world();
    let site = HttpServer::start(&world);
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut proxy = world
        .command(tools().join("claude/node_modules/.bin/node"))
        .arg(dir.join("proxy.mjs"))
        .args([&site.port, &site.token])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(proxy.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    for revision in ["2025-11-25", "2026-07-28"] {
        let suite = "@modelcontextprotocol/conformance/dist/index.js";
        let Some(mut suite) = node(&world, "conformance", suite) else { break };
        suite.args(["server", "--url", &url, "--requirements", revision, "--expected-failures"]);
        let ran = world.ran(suite.arg(dir.join(format!("{revision}.yml"))));
        assert_eq!(ran.code, 0, "{revision}: {ran}");
        assert!(ran.stdout.contains("✓ resources-read-text"), "{revision}: {ran}");
    }
    proxy.kill().unwrap();
    proxy.wait().unwrap();
}

#[test]
fn the_official_inspector_lists_and_calls_tools() {
    let world = world();
    let site = HttpServer::start(&world);
    let url = format!("http://127.0.0.1:{}/mcp", site.port);
    let bearer = format!("Authorization: Bearer {}", site.token);
    let over_http = [&url, "--transport", "http", "--header", &bearer];
    let program = world.program().to_str().unwrap().to_owned();
    for way in [&over_http[..], &[&program, "mcp"]] {
        let inspect = |what: &[&str]| {
            let program = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
            let mut inspector = node(&world, "inspector", program)?;
            let ran = world.ran(inspector.arg("--cli").args(way).args(what));
            assert_eq!(ran.code, 0, "{ran}");
            Some(ran.stdout)
        };
        let Some(list) = inspect(&["--method", "tools/list"]) else { return };
        assert!(list.contains("\"name\": \"reserve\""), "{list}");
        let sent = inspect(&[
            "--method",
            "tools/call",
            "--tool-name",
            "send",
            "--tool-arg",
            "to=[\"Raven\"]",
            "text=looked into",
        ]);
        assert!(sent.as_deref().is_some_and(|sent| sent.contains("Sent message #")), "{sent:?}");
    }
    assert_eq!(world.run_as(Some("s2"), &["inbox"]).stdout.matches("> looked into").count(), 2);
}

/// Calls a tool as an MCP client without a session, over a connection of its own.
fn called(site: &HttpServer, tool: &str, arguments: Value) -> Value {
    let mut answer = String::new();
    calling(site, tool, arguments).read_to_string(&mut answer).unwrap();
    let json = answer.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line)));
    let mut json = json.filter_map(|line| serde_json::from_str::<Value>(line).ok().filter(Value::is_object));
    json.next().unwrap_or_else(|| panic!("{answer}"))["result"].clone()
}

fn calling(site: &HttpServer, tool: &str, arguments: Value) -> TcpStream {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "api-client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": meta } });
    let (bearer, name) = (site.bearer(), format!("mcp-name: {tool}"));
    let headers = [
        "host: localhost",
        bearer.as_str(),
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        name.as_str(),
    ];
    site.request("POST /mcp", &headers, &call.to_string())
}

/// A later call over another connection does not prove that an answer has arrived, so its messages
/// do not count as read.
#[test]
fn mail_in_an_answer_that_was_lost_is_shown_again() {
    let world = world();
    let site = HttpServer::start(&world);
    let who = called(&site, "who", json!({}));
    let agents = who["structuredContent"]["items"].as_array().unwrap();
    let me = agents.iter().find(|agent| agent["you"] == true).unwrap()["name"].as_str().unwrap();
    world.run_as(Some("s2"), &["send", me, "look here"]);
    let is_read = || {
        let sent = world.run_as(Some("s2"), &["inbox", "--sent", "--json"]).stdout;
        serde_json::from_str::<Value>(&sent).unwrap()["items"][0]["receipts"][0]["state"] == "read"
    };
    // The answer has been sent, and the client does not read it.
    let lost = calling(&site, "inbox", json!({}));
    lost.peek(&mut [0]).unwrap();
    drop(lost);
    called(&site, "who", json!({}));
    assert!(!is_read());
    let again = called(&site, "inbox", json!({}));
    assert!(again["content"][0]["text"].as_str().unwrap().contains("look here"), "{again}");
    assert!(!is_read());
    let items = again["structuredContent"]["items"].as_array().unwrap();
    let numbers: Vec<&Value> = items.iter().map(|item| &item["number"]).collect();
    let after = called(&site, "inbox", json!({ "read": numbers }));
    assert_eq!(after["content"][0]["text"], "No new messages.");
    assert!(is_read());
}

#[test]
fn a_runaway_query_delays_no_other_client() {
    let world = world();
    let site = HttpServer::start(&world);
    called(&site, "query", json!({ "expr": "(+ 1 2)" }));
    let forever = json!({ "expr": "(let loop ((t \"\")) (loop (number->string (string-length t))))" });
    let runaway = calling(&site, "query", forever);
    runaway.set_nonblocking(true).unwrap();
    for _ in 0..3 {
        assert_eq!(called(&site, "query", json!({ "expr": "(+ 1 2)" }))["content"][0]["text"], "3");
        called(&site, "who", json!({}));
    }
    // The first query still runs.
    let kind = runaway.peek(&mut [0]).map_err(|error| error.kind());
    assert_eq!(kind, Err(std::io::ErrorKind::WouldBlock));
}
