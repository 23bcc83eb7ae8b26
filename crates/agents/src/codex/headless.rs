//! Codex without a terminal. Seen with 0.166.0.
//!
//! It tells no cost and no model. A tool that a hook refused leaves nothing in its output.

use std::path::Path;

use consort_core::Timestamp;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use serde_json::Value;

use crate::Headless;
use crate::HeadlessCommand;
use crate::OutputReader;
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
    // Resuming has no option for the sandbox.
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
    command.ignore("max turns", work.max_turns.is_some());
    command.ignore("budget", work.budget.is_some());
    if let Some(session) = work.resume {
        command.argue([session]);
    }
    command.argue(["-"]);
    command.stdin = Some(work.prompt.to_owned());
    command
}

#[derive(Default)]
pub(super) struct Reader {
    has_ended: bool,
    /// What was told last of what is tried again.
    error: Option<String>,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let item = &event["item"];
        match event["type"].as_str() {
            Some("thread.started") => told.extend(text_at(&event, "/thread_id").map(WorkerEvent::Session)),
            Some("turn.started") => told.push(WorkerEvent::Turn),
            Some("item.started") => told.extend(begins(item)),
            Some("item.completed") => completed(item, &mut told),
            Some("error") => self.error(&event, &mut told),
            Some("turn.completed") => {
                self.has_ended = true;
                told.push(WorkerEvent::UsedInAll(usage(&event["usage"])));
            }
            Some("turn.failed") => {
                self.has_ended = true;
                let message = text_at(&event, "/error/message").or(self.error.take()).unwrap_or_default();
                told.push(WorkerEvent::Failed(failure::read(None, &message, now)));
            }
            _ => {}
        }
        told
    }

    fn end(
        &mut self,
        exit: &WorkerExit,
        now: Timestamp,
        _config_dir: &Path,
        _read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<WorkerEvent> {
        if self.has_ended { Vec::new() } else { worker_output::cut_short(exit, now) }
    }
}

impl Reader {
    /// What it tries again it tells as an error too: `Reconnecting... 2/5 (why)`.
    fn error(&mut self, event: &Value, told: &mut Vec<WorkerEvent>) {
        let Some(message) = text_at(event, "/message") else { return };
        let attempt =
            message.strip_prefix("Reconnecting... ").and_then(|rest| rest.split('/').next()?.parse().ok());
        match attempt {
            Some(attempt) => told.push(WorkerEvent::Retries { attempt, why: message }),
            None => self.error = Some(message),
        }
    }
}

/// What an item is called and about, if it is a tool.
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

/// A command without the shell that runs it: `/bin/bash -lc 'make'`.
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
        // Warnings are errors here too.
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

/// Its count of what it read includes what was kept from before.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    let (read, written) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    let kept = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    Usage {
        input: count("input_tokens").map(|input| input.saturating_sub(kept)),
        output: count("output_tokens"),
        cache_read: read,
        cache_write: written,
        ..Usage::default()
    }
}
