//! Benchmarks of the MCP server: time to its first answer, memory, and time of a call.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;

use crate::table;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const GREETED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const WHO: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"who","arguments":{}}}"#;

pub(crate) fn run(rounds: usize) {
    let home = Home::new(50, 10_000);
    let mut floor = Command::new(release("floor"));
    sealed(&mut floor, Path::new("/dev/null"));
    let (mut floors, mut cold) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        floors.push(once(&mut floor));
        let begun = Instant::now();
        let mut server = Server::start(&home);
        server.ask(HELLO);
        cold.push(begun.elapsed());
    }
    let mut server = Server::start(&home);
    server.greet();
    let mut calls: Vec<Duration> = Vec::new();
    for _ in 0..rounds.max(200) {
        let begun = Instant::now();
        server.ask(WHO);
        calls.push(begun.elapsed());
    }
    let weight = server.resident();
    let rows = [
        ("floor: a process that does nothing", floors),
        ("started until `initialize` is answered", cold),
        ("call `who`, 50 agents, there and back", calls),
    ];
    let rows = rows.map(|(name, taken)| (name.to_owned(), taken));
    table(&format!("MCP server, {rounds} rounds interleaved, µs"), rows);
    println!("resident: {weight} KiB\n");
}

/// A running `consort mcp`; ended when dropped.
pub(crate) struct Server {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Server {
    pub(crate) fn start(home: &Home) -> Self {
        let mut command = home.consort(&["mcp"]);
        command.current_dir(&home.cwd).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    pub(crate) fn greet(&mut self) {
        self.ask(HELLO);
        self.tell(GREETED);
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &serde_json::Value) {
        let params = serde_json::json!({ "name": tool, "arguments": arguments });
        self.ask(
            &serde_json::json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params })
                .to_string(),
        );
    }

    fn tell(&mut self, message: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, message: &str) {
        self.tell(message);
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(line.contains("\"result\""), "{line}");
    }

    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
