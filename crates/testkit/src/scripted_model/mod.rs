//! A scripted model for tests, on loopback, that answers every agent CLI in the API which the CLI
//! speaks.
//!
//! Requests that offer tools are turns of the agent and take the next step of
//! the script; the rest (titles, summaries) get a canned answer.

mod wire;

use std::collections::VecDeque;
use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Read as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;
use serde_json::json;

use self::wire::Api;

/// The model's action in one turn.
#[derive(Clone, Debug)]
pub enum Step {
    Say(String),
    Use {
        tool: String,
        input: Value,
    },
    /// Takes the request and never answers.
    Stall,
    /// Refuses the request with an error that is not worth another try.
    Refuse,
    /// Fails with this HTTP status, which is worth another try.
    Fail(u16),
    /// Refuses the request as rate limited for so many seconds, in the words of every provider.
    Limit(u64),
    /// Lets something happen before the model answers with the step.
    Meanwhile(Happening, Box<Step>),
}

/// A function that is called while the model thinks.
#[derive(Clone)]
pub struct Happening(Arc<dyn Fn() + Send + Sync>);

impl std::fmt::Debug for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Happening")
    }
}

impl Step {
    pub fn say(text: &str) -> Self {
        Self::Say(text.into())
    }

    /// Makes a step that runs a command in Claude Code's shell.
    pub fn bash(command: &str) -> Self {
        Self::Use { tool: "Bash".into(), input: json!({ "command": command, "description": "a step" }) }
    }

    /// Calls `happening` before the model answers with this step.
    pub fn meanwhile(self, happening: impl Fn() + Send + Sync + 'static) -> Self {
        Self::Meanwhile(Happening(Arc::new(happening)), Box::new(self))
    }
}

/// The scripted model's server; it stops when dropped.
pub struct StubModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: Option<JoinHandle<()>>,
}

struct Shared {
    script: Mutex<VecDeque<Step>>,
    requests: Mutex<Vec<(Instant, Value)>>,
    stopping: AtomicBool,
}

impl StubModel {
    pub fn start(script: impl IntoIterator<Item = Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let for_server = Arc::clone(&shared);
        let server = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if for_server.stopping.load(Ordering::SeqCst) {
                    break;
                }
                let shared = Arc::clone(&for_server);
                std::thread::spawn(move || {
                    let _ = serve(stream, &shared);
                });
            }
        });
        Self { address, shared, server: Some(server) }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a step to the end of the script.
    pub fn then(&self, step: Step) {
        self.shared.script.lock().unwrap().push_back(step);
    }

    /// Drops the rest of the script.
    pub fn drop_script(&self) {
        self.shared.script.lock().unwrap().clear();
    }

    /// Returns the requests for turns, oldest first.
    pub fn turn_requests(&self) -> Vec<Value> {
        self.shared.requests.lock().unwrap().iter().map(|(_, request)| request.clone()).collect()
    }

    /// Returns the times between one turn's request and the next.
    pub fn times_between_turns(&self) -> Vec<Duration> {
        let requests = self.shared.requests.lock().unwrap();
        requests.windows(2).map(|two| two[1].0 - two[0].0).collect()
    }
}

impl Drop for StubModel {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let asked = line.clone();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(api) = Api::of(&asked) else {
        let nothing = json!({ "input_tokens": 1, "totalTokens": 1, "data": [], "models": [] });
        return reply(stream, "200 OK", "application/json", &nothing.to_string());
    };
    // A request with a JSON schema asks for a title, and is no turn.
    let is_turn = request["tools"].as_array().is_some_and(|tools| !tools.is_empty())
        && request["text"]["format"]["type"] != "json_schema";
    let step = if is_turn {
        shared.requests.lock().unwrap().push((Instant::now(), request.clone()));
        shared.script.lock().unwrap().pop_front()
    } else {
        None
    };
    if matches!(step, Some(Step::Stall)) {
        // Waits until the client hangs up.
        let _ = reader.read(&mut [0]);
        return Ok(());
    }
    if matches!(step, Some(Step::Refuse)) {
        let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "no" } });
        return reply(stream, "400 Bad Request", "application/json", &error.to_string());
    }
    if let Some(Step::Fail(status)) = step {
        let error =
            json!({ "type": "error", "error": { "type": "api_error", "message": "the model is away" } });
        return reply(stream, &format!("{status} Failed"), "application/json", &error.to_string());
    }
    if let Some(Step::Limit(seconds)) = step {
        return limit(stream, seconds, api);
    }
    let step = match step {
        Some(Step::Meanwhile(happening, step)) => {
            happening.0();
            Some(*step)
        }
        step => step,
    };
    let step = step.unwrap_or_else(|| Step::Say("Done.".into()));
    let (kind, body) = api.answer(step, &request, &asked);
    reply(stream, "200 OK", kind, &body)
}

/// Replies that the rate limit is reached.
#[expect(clippy::disallowed_methods, reason = "CLIs go by the real clock")]
fn limit(stream: TcpStream, seconds: u64, api: Api) -> std::io::Result<()> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let reset = now.as_secs() + seconds;
    let delay =
        json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s") });
    // The responses API has a word as the code, the others have a number.
    let code = if api == Api::Responses { json!("rate_limit_exceeded") } else { json!(429) };
    let error = json!({ "type": "error", "error": {
        "type": "usage_limit_reached", "code": code, "plan_type": "plus", "status": "RESOURCE_EXHAUSTED", "resets_at": reset,
        "message": format!("Rate limit reached. Please try again in {seconds}s."), "details": [delay],
    } });
    let headers = format!(
        "application/json\r\nretry-after: {seconds}\r\nanthropic-ratelimit-unified-status: rejected\r\n\
         anthropic-ratelimit-unified-reset: {reset}"
    );
    reply(stream, "429 Too Many Requests", &headers, &error.to_string())
}

fn reply(mut stream: TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}
