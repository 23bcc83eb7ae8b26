//! Runs a real agent CLI in tests as a long session that is idle between its turns: pi by
//! its protocol on standard input, OpenCode by its server.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Child;
use std::process::ChildStdin;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::RealAgent;
use crate::Sealed;
use crate::StubModel;

/// A real agent CLI with a long session; ended when dropped.
pub struct Resident {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    door: Door,
}

enum Door {
    /// Standard input, for lines of JSON.
    Stdin(Option<ChildStdin>),
    /// A server's address, and the session on that server.
    Server { address: String, session: String },
}

impl Resident {
    pub fn start(agent: RealAgent, world: &Sealed, model: &StubModel, name: &str) -> Self {
        let mut command = agent.command(world, model);
        let is_pi = agent == RealAgent::Pi;
        assert!(is_pi || agent == RealAgent::OpenCode, "{agent:?} is not known to stay");
        let arguments: &[&str] =
            if is_pi { &["--mode", "rpc", "--model", "stub/stub-model"] } else { &["serve", "--port", "0"] };
        command.args(arguments).env("CONSORT_NAME", name);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let kept = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        let mut resident = Self { child, lines, door: Door::Stdin(stdin) };
        if !is_pi {
            let address = resident.wait_for_line(|line| line.split("http://").nth(1).map(str::to_owned));
            let session = post(&address, "/session", &json!({}))["id"].as_str().unwrap().to_owned();
            resident.door = Door::Server { address, session };
        }
        resident
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a prompt, and does not wait for the answer.
    pub fn send_prompt(&mut self, text: &str) {
        match &self.door {
            Door::Stdin(_) => self.send_line(&json!({ "type": "prompt", "message": text })),
            Door::Server { address, session } => {
                let parts = json!({ "agent": "plan", "parts": [{ "type": "text", "text": text }] });
                post(address, &format!("/session/{session}/prompt_async"), &parts);
            }
        }
    }

    /// Sends a line to a CLI that reads lines from standard input.
    pub fn send_line(&mut self, line: &Value) {
        let Door::Stdin(Some(stdin)) = &mut self.door else { panic!("it does not speak in lines") };
        writeln!(stdin, "{line}").unwrap();
    }

    /// Sends a GET request to the CLI's server or, with a body, a POST request.
    pub fn send_request(&self, path: &str, body: Option<&Value>) -> Value {
        let Door::Server { address, .. } = &self.door else { panic!("it is no server") };
        match body {
            Some(body) => post(address, path, body),
            None => request(address, "GET", path, ""),
        }
    }

    /// Waits until `look` finds something in a line that the CLI has printed.
    pub fn wait_for_line<T>(&self, look: impl Fn(&str) -> Option<T>) -> T {
        for _ in 0..600 {
            if let Some(found) = self.lines.lock().unwrap().iter().find_map(|line| look(line)) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it said only {:#?}", self.lines.lock().unwrap());
    }

    /// Lists the CLI's descendant processes whose command line ends with `ending`.
    pub fn helpers(&self, ending: &str) -> Vec<u32> {
        below(self.id(), ending)
    }

    /// Ends the CLI as a person would.
    pub fn end(&mut self) {
        match &mut self.door {
            Door::Stdin(stdin) => drop(stdin.take()),
            Door::Server { .. } => {
                let id = self.child.id().to_string();
                assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
            }
        }
        for _ in 0..200 {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("it does not end");
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lists the descendants of a process (and itself) whose command line ends with `ending`.
fn below(root: u32, ending: &str) -> Vec<u32> {
    let output = Command::new("ps").args(["-eo", "pid=,ppid=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let all: Vec<(u32, u32, &str)> = text
        .lines()
        .filter_map(|line| {
            let (pid, rest) = line.trim().split_once(' ')?;
            let (parent, line) = rest.trim().split_once(' ')?;
            Some((pid.parse().ok()?, parent.parse().ok()?, line))
        })
        .collect();
    let mut family = vec![root];
    let mut next = 0;
    while let Some(parent) = family.get(next).copied() {
        family.extend(all.iter().filter(|process| process.1 == parent).map(|process| process.0));
        next += 1;
    }
    let is_meant = |process: &&(u32, u32, &str)| family.contains(&process.0) && process.2.ends_with(ending);
    all.iter().filter(is_meant).map(|process| process.0).collect()
}

fn post(address: &str, path: &str, body: &Value) -> Value {
    request(address, "POST", path, &body.to_string())
}

fn request(address: &str, method: &str, path: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(address.trim()).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 2"), "{method} {path}: {answer}");
    // The body may come in chunks: cut off the lines around the JSON.
    let (start, end) = (body.find(['{', '[']), body.rfind(['}', ']']));
    match (start, end) {
        (Some(start), Some(end)) => serde_json::from_str(&body[start..=end]).unwrap(),
        _ => Value::Null,
    }
}
