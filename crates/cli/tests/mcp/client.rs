//! An MCP client for tests, at the other end of a server's pipes.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use consort_testkit::HostedCommand;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

/// A client and the server it talks to.
pub(crate) struct Client {
    pub(crate) server: Server,
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    next: u64,
}

pub(crate) enum Server {
    Ours(Child),
    /// A server that the process which hosts the agents has started.
    HostedCommand(HostedCommand),
}

impl Client {
    /// Starts our server and greets it.
    pub(crate) fn start(world: &Sealed, session: Option<&str>) -> Self {
        let mut command = world.consort(["mcp"]);
        command.envs(session.map(|session| ("CONSORT_SESSION", session)));
        let (client, hello) = match session {
            Some(_) => Self::seated(world, &command),
            None => Self::of(command),
        };
        assert_eq!(hello["result"]["serverInfo"]["name"], "consort", "{hello}");
        client
    }

    pub(crate) fn seated(world: &Sealed, command: &Command) -> (Self, Value) {
        let mut server = world.spawn_as_agent(command);
        let (input, output) = (server.stdin.take().unwrap(), server.stdout.try_clone().unwrap());
        Self::greet(Server::HostedCommand(server), Box::new(input), Box::new(output))
    }

    /// Starts any server; returns the client and the server's description of itself.
    pub(crate) fn of(mut command: Command) -> (Self, Value) {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self::greet(Server::Ours(child), Box::new(input), Box::new(output))
    }

    pub(crate) fn greet(server: Server, input: Box<dyn Write>, output: Box<dyn Read>) -> (Self, Value) {
        let mut client = Self { server, input, output: BufReader::new(output), next: 1 };
        let hello = client.ask(
            "initialize",
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "probe", "version": "1" } }),
        );
        client.tell(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        (client, hello)
    }

    pub(crate) fn tell(&mut self, message: Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.message(|message| message["id"] == json!(id))
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.tell(json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    pub(crate) fn message(&mut self, is_meant: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has gone");
            let message: Value = serde_json::from_str(&line).unwrap();
            if is_meant(&message) {
                return message;
            }
        }
    }

    /// Waits for the next notification of this method.
    pub(crate) fn hear(&mut self, method: &str) -> Value {
        self.message(|message| message["method"] == json!(method))["params"].clone()
    }

    /// Calls a tool; returns the text and whether it is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert!(result["structuredContent"].is_object(), "{answer}");
        (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == json!(true))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        match &mut self.server {
            Server::Ours(child) => {
                let _ = child.kill();
                let _ = child.wait();
            }
            Server::HostedCommand(server) => server.kill(),
        }
    }
}
