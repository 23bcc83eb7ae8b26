//! Builds the command line of OpenCode without a terminal, and reads its output. Behaviour as of 1.18.33.
//!
//! OpenCode reports costs per step and marks no final text: the result is the text of the last message.

use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Failure;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::CONTENT;
use crate::EndReport;
use crate::Headless;
use crate::HeadlessCommand;
use crate::OutputReader;
use crate::WorkerEnd;
use crate::failure;
use crate::worker_output;
use crate::worker_output::text_at;

/// The name of the OpenCode agent that we define for runs that only read.
const READER: &str = "consort-reader";

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["run", "--format", "json"]);
    // OpenCode reports retries only in its log.
    if (work.knows)("--print-logs") && (work.knows)("--log-level") {
        command.argue(["--print-logs", "--log-level", "ERROR"]);
    }
    let mut config = (work.environment)(CONTENT).and_then(|text| worker_output::object(&text));
    if let Some(system) = work.system {
        let file = command.write(work, "role.md", system);
        let config = config.get_or_insert_with(|| json!({}));
        match config["instructions"].as_array_mut() {
            Some(instructions) => instructions.push(file.into()),
            None => config["instructions"] = json!([file]),
        }
    }
    match work.safety {
        Safety::Suggest => {
            let config = config.get_or_insert_with(|| json!({}));
            config["agent"][READER] = reader();
            command.argue(["--agent", READER]);
        }
        // With `--auto`, tools that the person's settings deny stay denied.
        Safety::AutoEdit | Safety::FullAuto => command.argue(["--auto"]),
    }
    if let Some(config) = config {
        command.set(CONTENT, config.to_string());
    }
    if let Some(model) = work.model {
        command.argue([format!("--model={model}")]);
    }
    match work.reasoning {
        Some(reasoning) if (work.knows)("--variant") => {
            let variant = if reasoning == "off" { "none" } else { reasoning };
            command.argue(["--variant", variant]);
        }
        reasoning => command.ignore("reasoning", reasoning.is_some()),
    }
    if let Some(session) = work.resume {
        command.argue([format!("--session={session}")]);
    }
    command.ignore("budget", work.budget.is_some());
    command.stdin = Some(work.prompt.to_owned());
    command
}

/// Defines an agent that may use these tools and no others. The last matching rule decides, and the keys are
/// in alphabetical order.
fn reader() -> Value {
    let env = json!({ "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" });
    json!({
        "mode": "primary",
        "description": "Reads, and changes nothing.",
        "permission": {
            "*": "deny",
            "codesearch": "allow", "consort_*": "allow", "glob": "allow", "grep": "allow", "list": "allow",
            "lsp": "allow", "read": env, "skill": "allow", "todoread": "allow", "todowrite": "allow",
            "webfetch": "allow", "websearch": "allow",
        },
    })
}

#[derive(Default)]
pub(super) struct Reader {
    session: Option<String>,
    /// The id of the message that is being read, and its text so far.
    message: String,
    saying: String,
    failure: Option<Failure>,
    has_spoken: bool,
    attempts: u32,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let session = text_at(&event, "/sessionID");
        if session.is_some() && session != self.session {
            told.extend(session.clone().map(WorkerEvent::Session));
            self.session = session;
        }
        let part = &event["part"];
        match event["type"].as_str() {
            Some("step_start") => {
                self.finish_text(&mut told);
                told.push(WorkerEvent::Turn);
            }
            Some("text") => self.say(part),
            Some("tool_use") => tool(part, &mut told),
            Some("step_finish") => {
                self.attempts = 0;
                self.finish_text(&mut told);
                self.has_spoken |= part["reason"] != "tool-calls";
                told.push(WorkerEvent::Used(usage(part)));
            }
            Some("error") => {
                let error = &event["error"];
                let message = text_at(error, "/data/message").or_else(|| text_at(error, "/name"));
                let status = worker_output::status(&error["data"]["statusCode"]);
                let mut failure = failure::read(status, &message.unwrap_or_default(), now);
                let headers = &error["data"]["responseHeaders"];
                let after = headers["retry-after"].as_str().and_then(|after| after.parse::<i64>().ok());
                failure.until = failure.until.or_else(|| Some(now.plus(after? * Timestamp::SECOND)));
                self.failure = Some(failure);
            }
            _ => {}
        }
        told
    }

    /// Reads a retry: `… level=ERROR … message="stream error" … error.error="AI_APICallError: why"`.
    fn error_line(&mut self, line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        if !line.contains("level=ERROR") || !line.contains("message=\"stream error\"") {
            return Vec::new();
        }
        self.attempts += 1;
        let why = line.split_once("error.error=").map_or(line, |(_, why)| why.trim_matches('"'));
        let why = text::one_line(why, 300);
        vec![WorkerEvent::Retries { attempt: self.attempts, why, until: None }]
    }

    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport {
        let mut told = Vec::new();
        self.finish_text(&mut told);
        let has_ended = self.has_spoken && over.exit.code == Some(0);
        EndReport { told, failure: self.failure.take(), has_ended }
    }
}

impl Reader {
    /// Adds a text to the message that is being read: one message may have several texts.
    fn say(&mut self, part: &Value) {
        let message = part["messageID"].as_str().unwrap_or_default();
        if !self.saying.is_empty() && message == self.message {
            self.saying.push('\n');
        }
        message.clone_into(&mut self.message);
        self.saying.push_str(part["text"].as_str().unwrap_or_default());
    }

    fn finish_text(&mut self, told: &mut Vec<WorkerEvent>) {
        if !self.saying.is_empty() {
            told.push(WorkerEvent::Said(std::mem::take(&mut self.saying)));
        }
    }
}

/// Reads the use of a tool, which OpenCode reports only when the tool has ended.
fn tool(part: &Value, told: &mut Vec<WorkerEvent>) {
    let (id, name, state) =
        (part["callID"].as_str().unwrap_or_default(), part["tool"].as_str(), &part["state"]);
    told.push(worker_output::begins(id, name.unwrap_or("?"), worker_output::about(&state["input"])));
    let code = state["metadata"]["exit"].as_i64().filter(|code| *code != 0);
    let is_ok = state["status"] != "error" && code.is_none();
    let said = text_at(state, "/error").or_else(|| Some(format!("exit code {}", code?))).unwrap_or_default();
    told.push(worker_output::ends(id, is_ok, &said));
}

fn usage(part: &Value) -> Usage {
    let tokens = &part["tokens"];
    let output = tokens["output"].as_u64().map(|output| output + tokens["reasoning"].as_u64().unwrap_or(0));
    Usage {
        input: tokens["input"].as_u64(),
        output,
        cache_read: tokens["cache"]["read"].as_u64(),
        cache_write: tokens["cache"]["write"].as_u64(),
        // OpenCode reports the cost 0 for a model whose price it does not know.
        cost: part["cost"].as_f64().filter(|cost| *cost > 0.0).map(Cost::from_dollars),
        turns: None,
    }
}
