//! An agent of the demo: a process of its own that hosts one session, and runs the commands of its script as
//! its children, like an agent CLI does.

use std::io::BufRead as _;
use std::io::BufReader;
use std::io::Write as _;
use std::path::Path;
use std::process::Child;
use std::process::ChildStdin;
use std::process::ChildStdout;
use std::process::Command;
use std::process::Stdio;

use consort_host::env;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use super::Played;

/// A command for an actor to run: `consort` with these words, and this text on its standard input.
#[derive(Serialize, Deserialize)]
struct DemoCommand {
    words: Vec<String>,
    input: String,
}

/// The result of a command.
#[derive(Serialize, Deserialize)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) error: String,
}

/// Runs the actor's own process: carries out one call after the other, until its input ends.
pub(crate) fn act() -> Played<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let call: DemoCommand = serde_json::from_str(&line?)?;
        writeln!(out, "{}", json!(run(&call)?))?;
    }
    Ok(())
}

fn run(call: &DemoCommand) -> std::io::Result<Ran> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(&call.words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // A command that does not read its input to the end has read enough.
    let _ = child.stdin.take().map(|mut input| input.write_all(call.input.as_bytes()));
    let output = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Ran { code: output.status.code(), out: text(&output.stdout), error: text(&output.stderr) })
}

/// A handle of an actor's process, which ends when the handle is dropped.
pub(super) struct DemoAgent {
    pub(super) name: &'static str,
    cli: &'static str,
    session: String,
    cwd: std::path::PathBuf,
    process: Child,
    calls: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    is_busy: bool,
}

impl DemoAgent {
    /// Starts an actor under this name and begins its session; also returns what its model is told at the
    /// start.
    pub(super) fn enter(
        mut command: Command,
        name: &'static str,
        cli: &'static str,
        cwd: &Path,
    ) -> Played<(Self, String)> {
        let session = format!("demo-{}", name.to_lowercase());
        command.env(env::SESSION, &session).env(env::NAME, name).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let piped = "an agent has no pipe";
        let calls = Some(process.stdin.take().ok_or(piped)?);
        let answers = BufReader::new(process.stdout.take().ok_or(piped)?);
        let mut actor =
            Self { name, cli, session, cwd: cwd.to_owned(), process, calls, answers, is_busy: false };
        let told = actor.hook("SessionStart", json!({ "source": "startup" }))?;
        Ok((actor, told))
    }

    /// Runs a `consort` command as this agent, and returns its result.
    pub(super) fn consort(&mut self, words: &[&str]) -> Played<Ran> {
        self.begin(words, "")?;
        self.end()
    }

    /// Runs a hook, and returns the text that it puts before the model.
    pub(super) fn hook(&mut self, event: &str, more: Value) -> Played<String> {
        self.begin_hook(event, more)?;
        let ran = self.end()?;
        let reply: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let reply = &reply["hookSpecificOutput"];
        let told = [&reply["additionalContext"], &reply["permissionDecisionReason"]];
        Ok(told.iter().filter_map(|text| text.as_str()).collect::<Vec<_>>().join("\n"))
    }

    /// Starts a hook that waits for somebody; [`DemoAgent::end`] returns its result.
    pub(super) fn begin_hook(&mut self, event: &str, more: Value) -> Played<()> {
        let mut call = json!({ "session_id": self.session, "cwd": self.cwd, "hook_event_name": event });
        if let (Value::Object(call), Value::Object(more)) = (&mut call, more) {
            call.extend(more);
        }
        self.begin(&["hook", self.cli, event], &call.to_string())
    }

    fn begin(&mut self, words: &[&str], input: &str) -> Played<()> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let call = DemoCommand { words, input: input.to_owned() };
        let Some(calls) = &mut self.calls else { return Ok(()) };
        self.is_busy = true;
        writeln!(calls, "{}", json!(call))?;
        Ok(calls.flush()?)
    }

    /// Waits for the call that was begun, and returns its result.
    pub(super) fn end(&mut self) -> Played<Ran> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        self.is_busy = false;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for DemoAgent {
    fn drop(&mut self) {
        // The answer that its hook waits for comes no more.
        if self.is_busy {
            let _ = self.process.kill();
        }
        let _ = self.begin_hook("SessionEnd", json!({ "reason": "exit" }));
        // The end of its input ends the process, after the call that it has begun.
        self.calls = None;
        let _ = self.process.wait();
    }
}
