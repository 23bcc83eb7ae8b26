//! Builds the command line of pi without a terminal, and reads its output. Behaviour as of 0.87.1.
//!
//! pi exits with 0 even if the model fails.

use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use serde_json::Value;

use crate::EndReport;
use crate::Headless;
use crate::HeadlessCommand;
use crate::OutputReader;
use crate::WorkerEnd;
use crate::failure;
use crate::worker_output;
use crate::worker_output::text_at;

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["-p", "--mode", "json"]);
    match work.safety {
        Safety::Suggest => command.argue(["--tools", "read,grep,find,ls"]),
        // pi never asks for permissions.
        Safety::AutoEdit | Safety::FullAuto => {}
    }
    if let Some(model) = work.model {
        command.argue(["--model", model]);
    }
    if let Some(reasoning) = work.reasoning {
        command.argue(["--thinking", reasoning]);
    }
    if let Some(system) = work.system {
        let file = command.write(work, "role.md", system);
        command.argue(["--append-system-prompt".to_owned(), file]);
    }
    if let Some(session) = work.resume {
        command.argue(["--session", session]);
    }
    command.ignore("budget", work.budget.is_some());
    command.stdin = Some(work.prompt.to_owned());
    command
}

/// The beginnings of lines that come with every few letters of output, and whose content comes again later.
const CHATTER: &[&str] = &[r#"{"type":"message_update""#, r#"{"type":"tool_execution_update""#];

#[derive(Default)]
pub(super) struct Reader {
    model: Option<String>,
    /// The error of the model's last answer, if it failed.
    error: Option<String>,
    has_answered: bool,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        if CHATTER.iter().any(|start| line.starts_with(start)) {
            return Vec::new();
        }
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let id = event["toolCallId"].as_str().unwrap_or_default();
        match event["type"].as_str() {
            Some("session") => told.extend(text_at(&event, "/id").map(WorkerEvent::Session)),
            Some("turn_start") => told.push(WorkerEvent::Turn),
            Some("message_end") if event["message"]["role"] == "assistant" => {
                self.message(&event["message"], &mut told);
            }
            Some("tool_execution_start") => {
                let tool = event["toolName"].as_str().unwrap_or("?");
                told.push(worker_output::begins(id, tool, worker_output::about(&event["args"])));
            }
            Some("tool_execution_end") => {
                let said = worker_output::content(&event["result"]["content"]);
                told.push(worker_output::ends(id, event["isError"] != true, &said));
            }
            Some("auto_retry_start") => {
                let attempt = worker_output::as_count(&event["attempt"]).unwrap_or(1);
                let why = text_at(&event, "/errorMessage").unwrap_or_default();
                let until = event["delayMs"].as_i64().map(|delay| now.plus(delay));
                told.push(WorkerEvent::Retries { attempt, why, until });
            }
            _ => {}
        }
        told
    }

    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport {
        let failure = self.error.take().map(|error| failure::read(None, &error, over.now));
        let has_ended = self.has_answered && over.exit.code == Some(0);
        EndReport { failure, has_ended, ..EndReport::default() }
    }
}

impl Reader {
    fn message(&mut self, message: &Value, told: &mut Vec<WorkerEvent>) {
        let model = text_at(message, "/model");
        if model.is_some() && model != self.model {
            told.extend(model.clone().map(WorkerEvent::Model));
            self.model = model;
        }
        told.push(WorkerEvent::Used(usage(&message["usage"])));
        let said = worker_output::content(&message["content"]);
        if !said.is_empty() {
            told.push(WorkerEvent::Said(said));
        }
        let reason = message["stopReason"].as_str();
        self.has_answered = reason != Some("toolUse");
        let is_failed = matches!(reason, Some("error" | "aborted"));
        self.error =
            is_failed.then(|| text_at(message, "/errorMessage").unwrap_or_else(|| "it was aborted".into()));
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        // pi reports the cost 0 for a model whose price it does not know.
        cost: usage["cost"]["total"].as_f64().filter(|cost| *cost > 0.0).map(Cost::from_dollars),
        turns: None,
    }
}
