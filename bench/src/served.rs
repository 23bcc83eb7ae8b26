//! Benchmarks of knowledge through servers: the time that HTTP adds to a call, the effect of an
//! endless query on others, the memory that hostile queries leave behind, and the cost of saving for git.

use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::once;
use consort_bench::sealed;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;
use serde_json::json;

use crate::knowledge;
use crate::mcp::Server;
use crate::table;

const CLIENTS: usize = 20;

/// Queries that never end, fill the memory that they may keep, or nest too deep.
const HOSTILE: &[&str] = &[
    "(let loop ((n 0)) (loop (+ n 1)))",
    "(define big (map (lambda (x) (list x (* x 2))) (range 60000)))",
    "(apply string-append (map (lambda (n) \"0123456789\") (range 400000)))",
    "(let deep ((n 0)) (+ 1 (deep n)))",
    "(group-by (lambda (n) n) (range 300000))",
];

pub(crate) fn run(rounds: usize, hostile: usize) {
    let home = Home::new(2, 100);
    home.enter();
    knowledge::fill(&home, 10_000);
    let site = Site::start(&home);
    let mut server = Server::start(&home);
    server.greet();
    let (mut piped, mut served) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let begun = Instant::now();
        server.call("query", &json!({ "expr": "(+ 1 2)" }));
        piped.push(begun.elapsed());
        served.push(site.query("(+ 1 2)"));
    }
    let rows = [("MCP over pipes: (+ 1 2)", piped), ("MCP over HTTP: the same, connection included", served)];
    table("a query through a server, µs", rows.map(|(name, taken)| (name.to_owned(), taken)));

    let (mut quiet, mut beside) = (Vec::new(), Vec::new());
    // In turns, because the load of the machine changes.
    for _ in 0..4 {
        quiet.extend(site.crowd(rounds / 4));
        let goes_on = AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while goes_on.load(Ordering::Relaxed) {
                    site.query(HOSTILE[0]);
                }
            });
            std::thread::sleep(Duration::from_millis(50));
            beside.extend(site.crowd(rounds / 4));
            goes_on.store(false, Ordering::Relaxed);
        });
    }
    let p99 = |taken: Vec<Duration>| Sample::new(taken).quantile(0.99) / 1_000.0;
    let (quiet, beside) = (p99(quiet), p99(beside));
    println!(
        "{CLIENTS} clients at once, p99: {quiet:.1} ms quiet, {beside:.1} ms beside a query without end, {:.2} times\n",
        beside / quiet
    );

    for number in 0..hostile {
        server.call("query", &json!({ "expr": HOSTILE[1 + number % (HOSTILE.len() - 1)] }));
    }
    server.call("query", &json!({ "expr": "(+ 1 2)" }));
    println!("resident after {hostile} hostile queries: {:.1} MB\n", server.resident() as f64 / 1_024.0);

    let add = |save: &str, name: &str, words: &str| {
        home.consort(&["--set", save, "know", "add", "principle", name, words, "confidence=0.5"])
    };
    let rounds = rounds.min(60);
    let plain: Vec<Duration> = (0..rounds)
        .map(|round| once(&mut add("knowledge.save=false", &format!("plain-{round}"), "some words")))
        .collect();
    // Not in turns with the unsaved ones: each save would then write two things to the file.
    once(&mut add("knowledge.save=true", "first", "some words"));
    let saved = |round| once(&mut add("knowledge.save=true", &format!("saved-{round}"), "some words"));
    let saved: Vec<Duration> = (0..rounds).map(saved).collect();
    let changed = |round| once(&mut add("knowledge.save=true", "principle-77", &format!("words {round}")));
    let changed: Vec<Duration> = (0..rounds).map(changed).collect();
    let rows = [
        ("know add: one, of 10,000", plain),
        ("the same with knowledge.save", saved),
        ("one that is known, with knowledge.save", changed),
    ];
    table("saving for git, µs", rows.map(|(name, taken)| (name.to_owned(), taken)));
}

/// A running `consort serve`; ended when dropped.
struct Site {
    pid: Pid,
    port: String,
    token: String,
}

impl Site {
    /// Starts the server through a shell that ends at once, so that this process is not its
    /// ancestor: this process hosts an agent, and no agent may serve.
    fn start(home: &Home) -> Self {
        let serve = home.consort(&[]).get_program().to_string_lossy().into_owned();
        let mut shell = Command::new("sh");
        shell.args(["-c", "(sleep 0.2; exec \"$0\" serve --port 0 > serving) & echo $!", &serve]);
        sealed(&mut shell, Path::new("/dev/null"));
        let started = shell.env("CONSORT_HOME", home.dir.path()).stdout(Stdio::piped()).output().unwrap();
        let pid = String::from_utf8(started.stdout).unwrap().trim().parse().unwrap();
        let said = || std::fs::read_to_string("serving").unwrap_or_default();
        while said().lines().count() < 3 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let port = said().rsplit("127.0.0.1:").next().unwrap().split(':').next().unwrap().to_owned();
        let token = std::fs::read_to_string(home.dir.path().join("token")).unwrap().trim().to_owned();
        Self { pid: Pid::from_raw(pid).unwrap(), port, token }
    }

    /// Calls the tool `query` over a new connection; returns the time taken.
    fn query(&self, expr: &str) -> Duration {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "query", "arguments": { "expr": expr }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let begun = Instant::now();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: query\r\n\
             content-length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        begun.elapsed()
    }

    /// Lets many clients query at once, `each` times; returns all durations.
    fn crowd(&self, each: usize) -> Vec<Duration> {
        std::thread::scope(|scope| {
            let ask = || (0..each).map(|_| self.query("(+ 1 2)")).collect::<Vec<_>>();
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        })
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = kill_process(self.pid, Signal::TERM);
    }
}
