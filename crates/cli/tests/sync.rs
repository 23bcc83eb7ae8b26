//! Tests of knowledge that is kept in sync over a websocket, with the real y-websocket on the other
//! end.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

struct HttpServer<'a> {
    world: &'a Sealed,
    child: Child,
    port: String,
}

impl<'a> HttpServer<'a> {
    fn start(world: &'a Sealed) -> Self {
        Self::start_at(world, "0")
    }

    fn start_at(world: &'a Sealed, port: &str) -> Self {
        let mut child = world.consort(["serve", "--port", port]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.strip_prefix("Serving http://127.0.0.1:").unwrap().split(':').next().unwrap();
        Self { world, child, port: port.to_owned() }
    }

    fn token(&self, name: &str) -> String {
        if name == "token" {
            // Makes a token for a program of the person's, which has no terminal.
            let made = self.world.run("token new --for serve");
            assert_eq!(made.code, 0, "{made}");
            return made.stdout.trim().to_owned();
        }
        fs::read_to_string(self.world.data().join(name)).unwrap().trim().to_owned()
    }

    /// Sends a request for a websocket; returns the status.
    fn knock(&self, line: &str, headers: &[&str]) -> u16 {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
        let request = format!("{line} HTTP/1.1\r\ncontent-length: 0\r\n{upgrade}\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
    }

    /// Starts a peer with this token; `None`, with a loud message, if y-websocket could not be installed.
    fn peer(&self, token: &str) -> Option<Peer> {
        self.peer_in(token, None)
    }

    /// Starts a peer with this token in an agent's session.
    fn peer_in(&self, token: &str, session: Option<&str>) -> Option<Peer> {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let tools = here.join("../../.test-tools");
        if tools.join("yjs/unreachable").exists() {
            std::io::stderr().write_all(b"!!! SKIPPED: y-websocket could not be installed !!!\n").unwrap();
            return None;
        }
        let mut child = self
            .world
            .command(tools.join("claude/node_modules/.bin/node"))
            .arg(here.join("tests/sync/peer.mjs"))
            .arg(tools.join("yjs"))
            .args([&format!("ws://127.0.0.1:{}/sync", self.port), "shop", token])
            .envs(session.map(|session| ("CONSORT_SESSION", session)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("no node, which scripts/test-tools brings: {error}"));
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Some(Peer { child, stdin, stdout })
    }

    /// Starts a peer that may write, and waits until it has all knowledge.
    fn writer(&self) -> Option<Peer> {
        let mut peer = self.peer(&self.token("token"))?;
        peer.does(&json!({ "job": "synced" }));
        Some(peer)
    }

    fn end(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for HttpServer<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Peer {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Peer {
    fn does(&mut self, job: &Value) -> Value {
        writeln!(self.stdin, "{job}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let mut answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{job}: {line}"));
        assert!(answer["error"].is_null(), "{job}: {answer}");
        answer["told"].take()
    }

    fn has(&mut self, name: &str) -> Value {
        self.does(&json!({ "job": "has", "name": name }))
    }

    fn write(&mut self, name: &str, description: &str) {
        self.does(&json!({ "job": "write", "entity": format!("js-{name}"), "tags": ["js"],
            "fields": { "kind": "principle", "name": name, "description": description, "confidence": 0.5 } }));
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

fn record(world: &Sealed, name: &str, description: &str) {
    let ran = world.run_as(Some("s1"), &["know", "add", "principle", name, description]);
    assert_eq!(ran.code, 0, "{ran}");
}

fn ask(world: &Sealed, expression: &str) -> String {
    let ran = world.run_as(None, &["know", "query", expression]);
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout.trim_end().replace('"', "")
}

/// Waits for the answer of a query, because a peer is not told when its change is recorded.
fn until(world: &Sealed, expression: &str, answer: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let now = ask(world, expression);
        if now == answer {
            return;
        }
        assert!(Instant::now() < end, "{expression}: {now}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn described(name: &str) -> String {
    format!("(@ (get-principle \"{name}\") :description)")
}

#[test]
fn what_is_recorded_is_there_and_what_comes_is_recorded() {
    let world = world();
    record(&world, "before", "known when the peer came");
    let mut site = HttpServer::start(&world);
    let Some(mut peer) = site.writer() else { return };
    assert_eq!(peer.has("before")["description"], "known when the peer came");

    peer.write("viewed", "written in a browser");
    until(&world, &described("viewed"), "written in a browser");
    assert_eq!(ask(&world, "(@ (get-principle \"viewed\") :tags)"), "(js)");
    assert_eq!(ask(&world, "(@ (get-principle \"viewed\") :by)"), "Viewer");
    record(&world, "live", "recorded while the peer is there");
    assert_eq!(peer.has("live")["description"], "recorded while the peer is there");
    // The peer received only the two records of others, none of its own.
    assert_eq!(peer.does(&json!({ "job": "arrived" })), json!(2));

    assert_eq!(world.run("journal verify").code, 0);
    // The server says that it ends, and the document is the same when it is back.
    site.end();
    assert_eq!(peer.does(&json!({ "job": "closed" }))[0], 1001);
    record(&world, "meanwhile", "while nobody served");
    let before = site.port.clone();
    let site = HttpServer::start_at(&world, &before);
    assert_eq!(peer.has("meanwhile")["description"], "while nobody served");
    let Some(mut other) = site.writer() else { return };
    assert_eq!(other.does(&json!({ "job": "content" })), peer.does(&json!({ "job": "content" })));
}

#[test]
fn peers_see_each_other_and_what_was_written_offline() {
    let world = world();
    let site = HttpServer::start(&world);
    let (Some(mut one), Some(mut other)) = (site.writer(), site.writer()) else { return };
    one.write("from-one", "hello");
    assert_eq!(other.has("from-one")["description"], "hello");
    other.write("from-other", "hello too");
    assert_eq!(one.has("from-other")["tags"], json!(["js"]));
    // Awareness is passed on, also to a peer that connects later.
    one.does(&json!({ "job": "present", "state": { "is": "here" } }));
    other.does(&json!({ "job": "sees", "state": { "is": "here" } }));
    let Some(mut third) = site.writer() else { return };
    third.does(&json!({ "job": "sees", "state": { "is": "here" } }));

    one.does(&json!({ "job": "disconnect" }));
    one.write("offline", "written alone");
    other.write("online", "written meanwhile");
    record(&world, "recorded", "meanwhile too");
    other.has("recorded");
    one.does(&json!({ "job": "connect" }));
    assert_eq!(other.has("offline")["description"], "written alone");
    one.has("online");
    one.has("recorded");
    until(&world, "(sort (map :name (get-principles)))", "(from-one from-other offline online recorded)");
    let all = one.does(&json!({ "job": "content" }));
    assert_eq!(all.as_object().unwrap().len(), 5);
    assert_eq!(all, other.does(&json!({ "job": "content" })));
}

/// Changes outside of our layout are kept although we do not read them, because later changes build on
/// them.
#[test]
fn what_is_not_of_the_layout_does_no_harm() {
    let world = world();
    let mut site = HttpServer::start(&world);
    let Some(mut peer) = site.writer() else { return };
    peer.does(&json!({ "job": "raw", "key": "no writer", "value": { "x": [1, null] } }));
    peer.write("after", "built on it");
    until(&world, &described("after"), "built on it");
    site.end();
    let site = HttpServer::start(&world);
    let Some(mut again) = site.writer() else { return };
    again.has("after");
    again.write("later", "goes on");
    until(&world, &described("later"), "goes on");
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn a_store_that_is_gone_gets_back_what_peers_know() {
    let world = world();
    record(&world, "before", "known");
    let site = HttpServer::start(&world);
    let Some(mut peer) = site.writer() else { return };
    world.move_away(&world.data());
    assert_eq!(world.run("agent join --pid $OTHER --kind claude --session s1 --name Falcon").code, 0);
    record(&world, "fresh", "in a new store");
    assert_eq!(peer.does(&json!({ "job": "closed" }))[0], 4503);
    peer.has("fresh");
    until(&world, "(sort (map :name (get-principles)))", "(before fresh)");
}

#[test]
fn one_that_may_only_read_reads() {
    let world = world();
    record(&world, "known", "to all");
    let site = HttpServer::start(&world);
    let token = site.token("token-read");
    let mode = fs::metadata(world.data().join("token-read")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_ne!(token, site.token("token"));
    let (Some(mut reader), Some(mut writer)) = (site.peer(&token), site.writer()) else { return };
    reader.has("known");
    let before = world.run("journal tail -n 100").stdout;
    reader.write("intruder", "should not be here");
    writer.write("welcome", "may be here");
    reader.has("welcome");
    until(&world, "(sort (map :name (get-principles)))", "(known welcome)");
    assert!(!writer.does(&json!({ "job": "content" })).to_string().contains("intruder"));
    assert_eq!(world.run("journal tail -n 100").stdout.lines().count(), before.lines().count() + 1);

    let bearer = format!("authorization: Bearer {token}");
    for (status, line) in [
        (200, "GET /api/who"),
        (101, "GET /sync/shop"),
        (403, "POST /api/send"),
        (403, "POST /mcp"),
        (403, "GET /mcp"),
    ] {
        assert_eq!(site.knock(line, &["host: localhost", &bearer]), status, "{line}");
    }
}

#[test]
fn who_may_not_come_in_stays_outside() {
    let world = world();
    let site = HttpServer::start(&world);
    let (token, bearer) = (site.token("token"), format!("authorization: Bearer {}", site.token("token")));
    let wrong = "0".repeat(token.len());
    let host = "host: localhost";
    for (status, line, headers) in [
        (101, "GET /sync/shop".to_owned(), &[host, &bearer][..]),
        (101, format!("GET /sync/shop?token={token}"), &[host]),
        (101, format!("GET /sync/shop?token={token}"), &[host, "origin: http://localhost:3000"]),
        (401, "GET /sync/shop".into(), &[host]),
        (401, format!("GET /sync/shop?token={wrong}"), &[host]),
        (401, format!("GET /api/who?token={token}"), &[host]),
        (403, format!("GET /sync/shop?token={token}"), &["host: evil.example"]),
        (403, format!("GET /sync/shop?token={token}"), &[host, "origin: http://evil.example"]),
        (404, format!("GET /sync/nowhere?token={token}"), &[host]),
        (404, format!("GET /sync/?token={token}"), &[host]),
    ] {
        assert_eq!(site.knock(&line, headers), status, "{line} {headers:?}");
    }
    // The token for reading suffices to read. To write, the caller must be an agent or the person.
    let access = fs::read_to_string(world.data().join("token")).unwrap().trim().to_owned();
    for (token, session, status) in
        [(&wrong, None, 401), (&access, Some("nobody"), 400), (&access, None, 400)]
    {
        let Some(mut peer) = site.peer_in(token, session) else { return };
        let refused = peer.does(&json!({ "job": "refused" }));
        assert!(refused.as_str().is_some_and(|text| text.ends_with(&status.to_string())), "{refused}");
    }
    let Some(mut reader) = site.peer_in(&site.token("token-read"), Some("nobody")) else { return };
    reader.does(&json!({ "job": "synced" }));
}

#[test]
fn a_malformed_frame_ends_one_connection() {
    let world = world();
    record(&world, "known", "to all");
    let site = HttpServer::start(&world);
    let Some(mut witness) = site.writer() else { return };
    for frame in [
        json!({ "bytes": [0, 2, 3, 1, 1, 0] }),
        json!({ "bytes": [9] }),
        json!({ "bytes": [] }),
        json!({ "bytes": [0, 0, 1] }),
        // A broken awareness state of an unknown client, which would trip its readers.
        json!({ "bytes": [1, 2, 9, 9] }),
        json!({ "text": "hello" }),
    ] {
        let Some(mut peer) = site.writer() else { return };
        let mut job = frame.clone();
        job["job"] = "frame".into();
        peer.does(&job);
        let closed = peer.does(&json!({ "job": "closed" }));
        assert_eq!(closed[0], 4400, "{frame}: {closed}");
        assert!(closed[1].as_str().is_some_and(|reason| !reason.is_empty()), "{closed}");
    }
    let Some(mut long) = site.writer() else { return };
    long.does(&json!({ "job": "write", "entity": "long", "fields": { "text": "x".repeat(17 << 20) } }));
    assert_eq!(long.does(&json!({ "job": "closed" }))[0], 4400);
    witness.write("unmoved", "goes on");
    until(&world, "(sort (map :name (get-principles)))", "(known unmoved)");
}

/// Commands and peers of two servers write at once, and every change reaches all of them.
#[test]
fn nothing_is_lost_between_peers_and_commands() {
    let world = world();
    let (site, second) = (HttpServer::start(&world), HttpServer::start(&world));
    let (Some(mut one), Some(mut other)) = (site.writer(), second.writer()) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| (0..15).for_each(|n| record(&world, "same", &format!("said {n}"))));
        scope.spawn(|| (0..15).for_each(|n| record(&world, &format!("cli-{n}"), "by a command")));
        for (name, peer) in [("one", &mut one), ("other", &mut other)] {
            scope.spawn(move || {
                (0..40).for_each(|n| peer.write(&format!("{name}-{n}"), "by a peer"));
            });
        }
    });
    until(&world, "(length (get-principles))", "96");
    for peer in [&mut one, &mut other] {
        for last in ["one-39", "other-39", "cli-14"] {
            peer.has(last);
        }
        peer.does(&json!({ "job": "has", "name": "same", "description": "said 14" }));
    }
    let (one, other) = (one.does(&json!({ "job": "content" })), other.does(&json!({ "job": "content" })));
    assert_eq!(one, other);
    assert_eq!(one.as_object().unwrap().len(), 96);
    // A client that connects now gets the document that is made from the journal.
    let Some(mut late) = site.writer() else { return };
    assert_eq!(late.does(&json!({ "job": "content" })), one);
    assert_eq!(world.run("journal verify").code, 0);
}
