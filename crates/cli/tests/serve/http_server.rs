//! A running `consort serve` for tests, and requests to it.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::Value;

pub(crate) struct HttpServer {
    pub(crate) child: Child,
    pub(crate) port: String,
    /// A token that the person made for programs.
    pub(crate) token: String,
    /// The server's own token: every program of this user can read it, agents too.
    pub(crate) access: String,
}

impl HttpServer {
    pub(crate) fn start(world: &Sealed) -> Self {
        Self::start_by(world, world.consort(["serve", "--port", "0"]))
    }

    /// Starts a server by a command that may have more in its environment.
    pub(crate) fn start_by(world: &Sealed, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port =
            line.strip_prefix("Serving http://127.0.0.1:").unwrap().split(':').next().unwrap().to_owned();
        let access = fs::read_to_string(world.data().join("token")).unwrap().trim().to_owned();
        let token = world.run("token new --for serve").stdout.trim().to_owned();
        Self { child, port, token, access }
    }

    /// Sends a request; returns the connection to read the answer from.
    pub(crate) fn request(&self, line: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let request = format!(
            "{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Sends a request; returns the status and the JSON body.
    pub(crate) fn ask(&self, line: &str, headers: &[&str], body: &str) -> (u16, Value) {
        let mut answer = String::new();
        self.request(line, headers, body).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
    }

    pub(crate) fn bearer(&self) -> String {
        format!("authorization: Bearer {}", self.token)
    }

    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        self.ask(&format!("GET /api/{path}"), &["host: localhost", &self.bearer()], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask(&format!("POST /api/{path}"), &["host: localhost", &self.bearer()], &body.to_string())
    }

    pub(crate) fn end(mut self) -> ExitStatus {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
