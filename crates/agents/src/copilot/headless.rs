//! Copilot CLI without a terminal. Seen with 1.0.102.
//!
//! What it used is not in its output, but in its file of the session.

use std::path::Path;

use consort_core::Timestamp;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use consort_core::path_part::PathPart;

use crate::Headless;
use crate::HeadlessCommand;
use crate::OutputReader;
use crate::failure;
use crate::worker_output;
use crate::worker_output::text_at;

/// Where it looks for further instructions.
const INSTRUCTIONS: &str = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS";

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["--output-format", "json", "--no-color", "--no-ask-user"]);
    match work.safety {
        // What is not allowed is refused. What the person allows for all is not for this.
        Safety::Suggest => {
            command.argue(["--allow-tool=consort", "--deny-tool=write", "--deny-tool=shell"]);
            command.set("COPILOT_ALLOW_ALL", "false");
        }
        Safety::AutoEdit => command.argue(["--allow-all-tools"]),
        Safety::FullAuto => command.argue(["--allow-all"]),
    }
    if let Some(model) = work.model {
        command.argue([format!("--model={model}")]);
    }
    if let Some(reasoning) = work.reasoning {
        let effort = if reasoning == "off" { "none" } else { reasoning };
        command.argue([format!("--reasoning-effort={effort}")]);
    }
    if let Some(system) = work.system {
        command.write(work, "instructions/AGENTS.md", system);
        let dir = work.dir.join("instructions").to_string_lossy().into_owned();
        let theirs = (work.environment)(INSTRUCTIONS).filter(|dirs| !dirs.is_empty());
        command.set(INSTRUCTIONS, theirs.map_or(dir.clone(), |theirs| format!("{theirs},{dir}")));
    }
    if let Some(session) = work.resume {
        command.argue([format!("--resume={session}")]);
    }
    command.ignore("max turns", work.max_turns.is_some());
    command.ignore("budget", work.budget.is_some());
    command.stdin = Some(work.prompt.to_owned());
    command
}

#[derive(Default)]
pub(super) struct Reader {
    session: Option<String>,
    model: Option<String>,
    error: Option<(Option<u16>, String)>,
    has_ended: bool,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, _now: Timestamp) -> Vec<WorkerEvent> {
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let data = &event["data"];
        let id = data["toolCallId"].as_str().unwrap_or_default();
        match event["type"].as_str() {
            Some("session.start") => self.tell_session(text_at(data, "/sessionId"), &mut told),
            Some("assistant.turn_start") => told.push(WorkerEvent::Turn),
            Some("assistant.message") => {
                self.error = None;
                self.tell_model(text_at(data, "/model"), &mut told);
                told.extend(text_at(data, "/content").filter(|said| !said.is_empty()).map(WorkerEvent::Said));
            }
            Some("tool.execution_start") => {
                let tool = data["toolName"].as_str().unwrap_or("?");
                told.push(worker_output::begins(id, tool, worker_output::about(&data["arguments"])));
            }
            Some("tool.execution_complete") => {
                let code = data["shellExecution"]["exitCode"].as_i64().filter(|code| *code != 0);
                let is_ok = data["success"] == true && code.is_none();
                let said = text_at(data, "/error/message").or_else(|| Some(format!("exit code {}", code?)));
                told.push(worker_output::ends(id, is_ok, &said.unwrap_or_default()));
            }
            Some("assistant.turn_retry") => {
                let why = text_at(data, "/reason").unwrap_or_default();
                let attempt = data["attempt"].as_u64().and_then(|attempt| attempt.try_into().ok());
                told.push(WorkerEvent::Retries { attempt: attempt.unwrap_or(1), why });
            }
            Some("session.error") => {
                let status = data["statusCode"].as_u64().and_then(|status| status.try_into().ok());
                self.error = Some((status, text_at(data, "/message").unwrap_or_default()));
            }
            Some("result") => {
                self.has_ended = true;
                self.tell_session(text_at(&event, "/sessionId"), &mut told);
            }
            _ => {}
        }
        told
    }

    fn end(
        &mut self,
        exit: &WorkerExit,
        now: Timestamp,
        config_dir: &Path,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Vec<WorkerEvent> {
        let mut told = Vec::new();
        let usage = self.session.as_deref().and_then(|session| {
            let log = format!("session-state/{}/events.jsonl", PathPart::of_any(session).as_str());
            usage(&read(&config_dir.join(log))?)
        });
        told.extend(usage.map(WorkerEvent::UsedInAll));
        match self.error.take() {
            Some((status, message)) => told.push(WorkerEvent::Failed(failure::read(status, &message, now))),
            None if self.has_ended && exit.code == Some(0) => {}
            None => told.extend(worker_output::cut_short(exit, now)),
        }
        told
    }
}

impl Reader {
    fn tell_session(&mut self, session: Option<String>, told: &mut Vec<WorkerEvent>) {
        if session.is_some() && session != self.session {
            told.extend(session.clone().map(WorkerEvent::Session));
            self.session = session;
        }
    }

    fn tell_model(&mut self, model: Option<String>, told: &mut Vec<WorkerEvent>) {
        if model.is_some() && model != self.model {
            told.extend(model.clone().map(WorkerEvent::Model));
            self.model = model;
        }
    }
}

/// What the log of a session says was used, by its last end.
fn usage(log: &str) -> Option<Usage> {
    let is_end = |line: &&str| line.contains(r#""session.shutdown""#);
    let end = worker_output::object(log.lines().rev().find(is_end)?)?;
    let mut all = Usage::default();
    for model in end["data"]["modelMetrics"].as_object()?.values() {
        let count = |name: &str| model["usage"][name].as_u64();
        let kept = count("cacheReadTokens").unwrap_or(0) + count("cacheWriteTokens").unwrap_or(0);
        worker_output::add(
            &mut all,
            &Usage {
                input: count("inputTokens").map(|input| input.saturating_sub(kept)),
                output: count("outputTokens"),
                cache_read: count("cacheReadTokens"),
                cache_write: count("cacheWriteTokens"),
                turns: model["requests"]["count"].as_u64().and_then(|count| count.try_into().ok()),
                cost: None,
            },
        );
    }
    Some(all)
}
