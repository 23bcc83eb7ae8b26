//! Builds the command line of Codex without a terminal, and reads its output. Behaviour as of 0.166.0.
//!
//! Codex reports no cost, and its model only in its log. A refused tool leaves nothing in the standard
//! output.

use consort_core::Timestamp;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Safety;
use consort_core::dispatch::WorkerEvent;
use consort_core::text;
use serde_json::Value;

use super::run_log;
use super::run_log::RunLog;
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
    command.argue(["exec"]);
    if work.resume.is_some() {
        command.argue(["resume"]);
    }
    command.argue(["--json", "--skip-git-repo-check"]);
    // Set with `-c`, because `resume` has no option for the sandbox.
    let set = |name: &str, value: &str| ["-c".to_owned(), format!("{name}={}", Value::from(value))];
    command.argue(set("approval_policy", "never"));
    match work.safety {
        Safety::Suggest => command.argue(set("sandbox_mode", "read-only")),
        Safety::AutoEdit => command.argue(set("sandbox_mode", "workspace-write")),
        Safety::FullAuto => command.argue(set("sandbox_mode", "danger-full-access")),
    }
    if let Some(model) = work.model {
        command.argue([format!("--model={model}")]);
    }
    if let Some(reasoning) = work.reasoning {
        let effort = if reasoning == "off" { "none" } else { reasoning };
        command.argue(set("model_reasoning_effort", effort));
    }
    if let Some(system) = work.system {
        command.argue(set("developer_instructions", system));
    }
    command.ignore("budget", work.budget.is_some());
    if let Some(session) = work.resume {
        command.argue([session]);
    }
    command.argue(["-"]);
    command.stdin = Some(work.prompt.to_owned());
    command
}

/// The text before the reason for which a tool was refused, which is on standard error and nowhere else.
const REFUSED: &str = "codex_core::tools::router: error=";

#[derive(Default)]
pub(super) struct Reader {
    session: Option<String>,
    /// The last error message.
    error: Option<String>,
    /// The error message of the turn, if it has failed.
    failure: Option<String>,
    refused: u32,
    is_answering: bool,
    has_ended: bool,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let item = &event["item"];
        match event["type"].as_str() {
            Some("thread.started") => {
                self.session = text_at(&event, "/thread_id");
                told.extend(self.session.clone().map(WorkerEvent::Session));
            }
            Some("item.started") => {
                self.answers(item, &mut told);
                told.extend(begins(item));
            }
            Some("item.completed") => {
                if item["type"] == "agent_message" {
                    self.answers(item, &mut told);
                }
                // The items after a tool belong to the next answer.
                self.is_answering &= tool(item).is_none();
                completed(item, &mut told);
            }
            Some("error") => self.error(&event, &mut told),
            Some("turn.completed") => {
                self.has_ended = true;
                told.push(WorkerEvent::UsedInAll(run_log::usage(&event["usage"])));
            }
            Some("turn.failed") => {
                self.has_ended = true;
                let message = text_at(&event, "/error/message").or(self.error.take());
                self.failure = Some(message.unwrap_or_default());
            }
            _ => {}
        }
        told
    }

    fn error_line(&mut self, line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        let Some((_, why)) = line.split_once(REFUSED) else { return Vec::new() };
        self.refused += 1;
        let id = format!("refused-{}", self.refused);
        vec![worker_output::begins(&id, "tool", String::new()), worker_output::ends(&id, false, why)]
    }

    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport {
        let log = self.session.as_deref().and_then(|session| RunLog::find(over.config_dir, session));
        let log = log.unwrap_or_default();
        let mut told = Vec::new();
        told.extend(log.model.map(WorkerEvent::Model));
        told.extend(log.usage.map(WorkerEvent::UsedInAll));
        let failure = self.failure.take().map(|message| {
            let mut failure = failure::read(None, &message, over.now);
            if failure.kind == FailureKind::Limit {
                failure.until = failure.until.or_else(|| run_log::retry_time(&message, log.ahead, over.now));
            }
            failure
        });
        EndReport { told, failure, has_ended: self.has_ended }
    }
}

impl Reader {
    /// Reports a turn if the item begins a new answer of the model. This is an estimate: Codex does not mark
    /// where an answer begins.
    fn answers(&mut self, item: &Value, told: &mut Vec<WorkerEvent>) {
        let is_answer = item["type"] == "agent_message" || tool(item).is_some();
        if is_answer && !self.is_answering {
            self.is_answering = true;
            told.push(WorkerEvent::Turn);
        }
    }

    /// Reads an error event. Codex also reports a retry as an error: `Reconnecting... 2/5 (why)`.
    fn error(&mut self, event: &Value, told: &mut Vec<WorkerEvent>) {
        let Some(message) = text_at(event, "/message") else { return };
        let rest = message.strip_prefix("Reconnecting... ");
        match rest.and_then(|rest| rest.split('/').next()?.parse().ok()) {
            Some(attempt) => {
                told.push(WorkerEvent::Retries { attempt, why: text::one_line(&message, 300), until: None });
            }
            None => self.error = Some(message),
        }
    }
}

/// Returns the name and the subject of an item, if the item is the use of a tool.
fn tool(item: &Value) -> Option<(String, String)> {
    let text = |pointer| text_at(item, pointer).unwrap_or_default();
    match item["type"].as_str()? {
        "command_execution" => {
            Some(("shell".into(), worker_output::about(&Value::from(command_of(&text("/command"))))))
        }
        "file_change" => {
            let changes = item["changes"].as_array().into_iter().flatten();
            let paths: Vec<&str> = changes.filter_map(|change| change["path"].as_str()).collect();
            Some(("apply_patch".into(), worker_output::about(&Value::from(paths.join(", ")))))
        }
        "mcp_tool_call" => {
            let name = format!("{}.{}", text("/server"), text("/tool"));
            Some((name, worker_output::about(&item["arguments"])))
        }
        "web_search" => Some(("web_search".into(), worker_output::about(&Value::from(text("/query"))))),
        "collab_tool_call" => Some((text("/tool"), worker_output::about(&Value::from(text("/prompt"))))),
        _ => None,
    }
}

/// Returns the command without the shell that runs it: `make` of `/bin/bash -lc 'make'`.
fn command_of(words: &str) -> &str {
    let (shell, command) =
        words.split_once(" -lc ").or_else(|| words.split_once(" -c ")).unwrap_or(("", words));
    if shell.contains(' ') {
        return words;
    }
    let unquoted = command.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    unquoted.or_else(|| command.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))).unwrap_or(command)
}

fn begins(item: &Value) -> Option<WorkerEvent> {
    let (name, about) = tool(item)?;
    Some(worker_output::begins(item["id"].as_str()?, &name, about))
}

fn completed(item: &Value, told: &mut Vec<WorkerEvent>) {
    let id = item["id"].as_str().unwrap_or_default();
    match item["type"].as_str() {
        Some("agent_message") => told.extend(text_at(item, "/text").map(WorkerEvent::Said)),
        // Codex also reports warnings as items of the type `error`.
        Some("error" | "reasoning" | "todo_list") | None => {}
        _ if tool(item).is_some() => {
            let is_ok = !matches!(item["status"].as_str(), Some("failed" | "declined"));
            let said = text_at(item, "/error/message").or_else(|| text_at(item, "/aggregated_output"));
            let said = said.filter(|said| !said.trim().is_empty());
            let code = item["exit_code"].as_i64().map(|code| format!("exit code {code}"));
            let said = said.or(code).unwrap_or_default();
            told.push(worker_output::ends(id, is_ok, &said));
        }
        _ => {}
    }
}
