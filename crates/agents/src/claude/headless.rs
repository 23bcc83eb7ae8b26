//! Builds the command line of Claude Code without a terminal, and reads its output. Behaviour as of 2.1.325.
//!
//! A result with the subtype `success` may still be an error, and includes the usage of subagents only in its
//! counts per model.

use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
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

/// Claude Code's own tools that change nothing on this machine. An allow-list, because new tools are added
/// all the time.
const READING: &str = "Read,Grep,Glob,WebFetch,WebSearch,Task,Skill,ToolSearch,TodoWrite";

/// The tools that may be used without asking in a run that edits and runs commands.
const WORKING: &str = "Bash,BashOutput,KillShell,Edit,Write,NotebookEdit,Read,Grep,Glob,WebFetch,WebSearch,\
                       Task,Skill,ToolSearch,TodoWrite,mcp__consort";

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["-p", "--output-format", "stream-json", "--verbose"]);
    // Only partial messages report the output tokens so far.
    if (work.knows)("--include-partial-messages") {
        command.argue(["--include-partial-messages"]);
    }
    match work.safety {
        // Without a terminal, a tool that would ask for permission is refused.
        Safety::Suggest => command.argue([
            "--permission-mode",
            "default",
            "--tools",
            READING,
            "--allowedTools",
            "WebFetch,WebSearch,mcp__consort",
        ]),
        // As root, Claude Code refuses to bypass permissions, unless IS_SANDBOX says that it runs in a
        // sandbox.
        Safety::FullAuto if !work.is_root || (work.environment)("IS_SANDBOX").is_some() => {
            command.argue(["--permission-mode", "bypassPermissions"]);
        }
        Safety::AutoEdit | Safety::FullAuto => {
            command.argue(["--permission-mode", "acceptEdits", "--allowedTools", WORKING]);
        }
    }
    if let Some(model) = work.model {
        command.argue([format!("--model={model}")]);
    }
    if let Some(system) = work.system {
        if (work.knows)("--append-system-prompt-file") {
            let file = command.write(work, "role.md", system);
            command.argue(["--append-system-prompt-file".to_owned(), file]);
        } else {
            command.argue([format!("--append-system-prompt={system}")]);
        }
    }
    if let Some(reasoning) = work.reasoning {
        let effort = match reasoning {
            "off" | "minimal" => "low",
            reasoning => reasoning,
        };
        if (work.knows)("--effort") {
            command.argue(["--effort", effort]);
        } else {
            command.ignore("reasoning", true);
        }
    }
    match work.max_turns {
        Some(turns) if (work.knows)("--max-turns") => {
            command.argue(["--max-turns".to_owned(), turns.to_string()]);
        }
        // The supervisor of the run counts turns anyway.
        _ => {}
    }
    match work.budget {
        Some(budget) if (work.knows)("--max-budget-usd") => {
            command.argue(["--max-budget-usd".to_owned(), budget.dollars().to_string()]);
        }
        budget => command.ignore("budget", budget.is_some()),
    }
    if let Some(session) = work.resume {
        command.argue([format!("--resume={session}")]);
    }
    command.stdin = Some(work.prompt.to_owned());
    command
}

/// The beginning of a line with a partial message; only the piece at the end of a message is read.
const PIECE: &str = r#"{"type":"stream_event""#;
const PIECE_AT_END: &str = r#""type":"message_delta""#;

#[derive(Default)]
pub(super) struct Reader {
    session: Option<String>,
    model: Option<String>,
    /// The id of the message whose parts are being read.
    message: Option<String>,
    /// The time at which the rate limit that was reported last ends.
    limit: Option<Timestamp>,
    used: Usage,
    has_ended: bool,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        if line.starts_with(PIECE) && !line.contains(PIECE_AT_END) {
            return Vec::new();
        }
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        match event["type"].as_str() {
            Some("system") => self.system(&event, now, &mut told),
            Some("assistant") => self.assistant(&event, &mut told),
            Some("user") => results(&event, &mut told),
            Some("stream_event") if event["event"]["type"] == "message_delta" => {
                let output = event["event"]["usage"]["output_tokens"].as_u64();
                told.push(WorkerEvent::Used(Usage { output, ..Usage::default() }));
            }
            Some("rate_limit_event") => {
                self.limit = failure::until_of(&event["rate_limit_info"]["resetsAt"], now);
            }
            Some("result") => self.result(&event, now, &mut told),
            _ => {}
        }
        told
    }

    fn end_report(&mut self, _over: &WorkerEnd<'_>) -> EndReport {
        EndReport { has_ended: self.has_ended, ..EndReport::default() }
    }
}

impl Reader {
    fn system(&mut self, event: &Value, now: Timestamp, told: &mut Vec<WorkerEvent>) {
        match event["subtype"].as_str() {
            Some("init") => {
                let session = text_at(event, "/session_id");
                if session.is_some() && session != self.session {
                    told.extend(session.clone().map(WorkerEvent::Session));
                    self.session = session;
                }
                self.tell_model(text_at(event, "/model"), told);
            }
            Some("api_retry") => {
                let status = event["error_status"].as_u64();
                let error = event["error"].as_str().unwrap_or("unknown");
                let why = status.map_or_else(|| error.to_owned(), |status| format!("{error} ({status})"));
                let attempt = worker_output::as_count(&event["attempt"]).unwrap_or(1);
                let until = event["retry_delay_ms"].as_i64().map(|delay| now.plus(delay));
                told.push(WorkerEvent::Retries { attempt, why, until });
            }
            _ => {}
        }
    }

    fn tell_model(&mut self, model: Option<String>, told: &mut Vec<WorkerEvent>) {
        // Claude Code's own messages come from no model.
        let model = model.filter(|model| model != "<synthetic>");
        if model.is_some() && model != self.model {
            told.extend(model.clone().map(WorkerEvent::Model));
            self.model = model;
        }
    }

    /// Reads one part of a message; each part comes on a line of its own, with the same message id and usage.
    fn assistant(&mut self, event: &Value, told: &mut Vec<WorkerEvent>) {
        let message = &event["message"];
        let is_synthetic = message["model"] == "<synthetic>";
        let of_subagent = !event["parent_tool_use_id"].is_null();
        let id = text_at(message, "/id");
        if !is_synthetic && id.is_some() && id != self.message {
            self.message = id;
            if !of_subagent {
                self.tell_model(text_at(message, "/model"), told);
                told.push(WorkerEvent::Turn);
            }
            let usage = &message["usage"];
            // The final count of output tokens comes at the end of the message.
            told.push(WorkerEvent::Used(Usage {
                input: usage["input_tokens"].as_u64(),
                cache_read: usage["cache_read_input_tokens"].as_u64(),
                cache_write: usage["cache_creation_input_tokens"].as_u64(),
                ..Usage::default()
            }));
        }
        for part in message["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text") if !of_subagent && !is_synthetic => {
                    told.extend(text_at(part, "/text").map(WorkerEvent::Said));
                }
                Some("tool_use" | "server_tool_use") => {
                    let (id, tool) = (part["id"].as_str(), part["name"].as_str());
                    let about = worker_output::about(&part["input"]);
                    told.push(worker_output::begins(id.unwrap_or_default(), tool.unwrap_or("?"), about));
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, event: &Value, now: Timestamp, told: &mut Vec<WorkerEvent>) {
        self.has_ended = true;
        self.used = self.used.with(&usage(event));
        told.push(WorkerEvent::UsedInAll(self.used));
        match self.failure(event, now) {
            Some(failure) => told.push(WorkerEvent::Failed(failure)),
            None => told.extend(text_at(event, "/result").map(WorkerEvent::Result)),
        }
    }

    fn failure(&self, event: &Value, now: Timestamp) -> Option<Failure> {
        let text = text_at(event, "/result").unwrap_or_default();
        let errors = event["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let errors: Vec<&str> = errors.collect();
        let message = if text.is_empty() { errors.join("; ") } else { text };
        match event["subtype"].as_str() {
            Some("error_max_turns") => Some(failure::of_kind(FailureKind::Turns, &message)),
            Some("error_max_budget_usd") => Some(failure::of_kind(FailureKind::Budget, &message)),
            Some("success") if event["is_error"] != true => {
                // A hook blocked the prompt, so no model was asked; Claude Code still exits with 0.
                let is_blocked = message.starts_with("UserPromptSubmit operation blocked by hook");
                is_blocked.then(|| failure::other(&message))
            }
            _ => {
                let status = worker_output::status(&event["api_error_status"]);
                let mut failure = failure::read(status, &message, now);
                if failure.kind == FailureKind::Limit {
                    failure.until = failure.until.or(self.limit.filter(|until| *until > now));
                }
                Some(failure)
            }
        }
    }
}

/// Reads the results of tools.
fn results(event: &Value, told: &mut Vec<WorkerEvent>) {
    for part in event["message"]["content"].as_array().into_iter().flatten() {
        if part["type"] == "tool_result" {
            let is_ok = part["is_error"] != true;
            let said = worker_output::content(&part["content"]);
            told.push(worker_output::ends(part["tool_use_id"].as_str().unwrap_or_default(), is_ok, &said));
        }
    }
}

/// Returns the usage up to a result. The result's own sum leaves subagents out, and its counts per model
/// (`modelUsage`) are for the whole session, which may be older than this process.
fn usage(result: &Value) -> Usage {
    let since = result["model_usage_since_last_result"].as_object();
    let models = since.or_else(|| result["modelUsage"].as_object());
    let mut all = Usage { turns: worker_output::as_count(&result["num_turns"]), ..Usage::default() };
    for model in models.into_iter().flat_map(|models| models.values()) {
        all = all.with(&Usage {
            input: model["inputTokens"].as_u64(),
            output: model["outputTokens"].as_u64(),
            cache_read: model["cacheReadInputTokens"].as_u64(),
            cache_write: model["cacheCreationInputTokens"].as_u64(),
            cost: model["costUSD"].as_f64().map(Cost::from_dollars),
            turns: None,
        });
    }
    all
}
