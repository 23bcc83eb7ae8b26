//! Builds the command line of Copilot CLI without a terminal, and reads its output. Behaviour as of 1.0.102.
//!
//! Its usage is not in the output, but in Copilot's log of the session.

use std::path::Path;

use consort_core::Timestamp;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::path_part::PathPart;
use consort_core::text;
use serde_json::Value;

use crate::EndReport;
use crate::Headless;
use crate::HeadlessCommand;
use crate::OutputReader;
use crate::WorkerEnd;
use crate::failure;
use crate::worker_output;
use crate::worker_output::text_at;

/// The variable with the directories that Copilot reads further instructions from.
const INSTRUCTIONS: &str = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS";

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["--output-format", "json", "--no-color", "--no-ask-user"]);
    match work.safety {
        // Tools that are not allowed are refused, even if the person's environment allows all tools.
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
        let text = format!("---\napplyTo: \"**\"\n---\n{system}\n");
        command.write(work, "role/.github/instructions/role.instructions.md", text);
        let dir = work.dir.join("role").to_string_lossy().into_owned();
        let theirs = (work.environment)(INSTRUCTIONS).filter(|dirs| !dirs.is_empty());
        command.set(INSTRUCTIONS, theirs.map_or(dir.clone(), |theirs| format!("{theirs},{dir}")));
    }
    match work.resume {
        Some(session) => command.argue([format!("--resume={session}")]),
        // Copilot prints the id that it chooses only at the end, and never if it is killed before.
        None if (work.knows)("--session-id") => {
            let session = new_session(work.dir);
            command.argue([format!("--session-id={session}")]);
            command.session = Some(session);
        }
        None => {}
    }
    command.ignore("budget", work.budget.is_some());
    command.stdin = Some(work.prompt.to_owned());
    command
}

/// Derives a session id from the run's directory, which no other run uses.
fn new_session(dir: &Path) -> String {
    let path = dir.as_os_str().as_encoded_bytes();
    let (high, low) = (text::stable_hash(path), text::stable_hash(&[path, b"#"].concat()));
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (d, e) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}")
}

#[derive(Default)]
pub(super) struct Reader {
    session: Option<String>,
    model: Option<String>,
    error: Option<(Option<u16>, String)>,
    attempts: u32,
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
                (self.error, self.attempts) = (None, 0);
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
                self.attempts += 1;
                let why = text_at(data, "/reason").unwrap_or_default();
                told.push(WorkerEvent::Retries { attempt: self.attempts, why, until: None });
            }
            Some("session.error") => {
                let status = worker_output::status(&data["statusCode"]);
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

    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport {
        let usage = self.session.as_deref().and_then(|session| {
            let log = format!("session-state/{}/events.jsonl", PathPart::escaped_or_hashed(session).as_str());
            usage(&(over.read)(&over.config_dir.join(log))?)
        });
        let failure = self.error.take().map(|(status, message)| failure::read(status, &message, over.now));
        let has_ended = self.has_ended && over.exit.code == Some(0);
        EndReport { told: usage.map(WorkerEvent::UsedInAll).into_iter().collect(), failure, has_ended }
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

/// Returns the usage since the session was resumed, from the text of its log: each end of the session logs
/// the total, so the previous total is subtracted.
fn usage(log: &str) -> Option<Usage> {
    let is_end = |line: &&str| line.contains(r#""type":"session.shutdown""#);
    let mut ends = log.lines().rev().filter(is_end).filter_map(worker_output::object).map(|end| in_all(&end));
    let (now, before) = (ends.next()?, ends.next().unwrap_or_default());
    let less = |now: Option<u64>, before: Option<u64>| now.map(|now| now.saturating_sub(before.unwrap_or(0)));
    Some(Usage {
        input: less(now.input, before.input),
        output: less(now.output, before.output),
        cache_read: less(now.cache_read, before.cache_read),
        cache_write: less(now.cache_write, before.cache_write),
        turns: now.turns.map(|turns| turns.saturating_sub(before.turns.unwrap_or(0))),
        cost: None,
    })
}

/// Adds up the usage of all models.
fn in_all(end: &Value) -> Usage {
    let metrics = end["data"]["modelMetrics"].as_object();
    let metrics = metrics.or_else(|| end["data"]["accountingSnapshot"]["modelMetrics"].as_object());
    let mut all = Usage::default();
    for model in metrics.into_iter().flat_map(|models| models.values()) {
        let count = |name: &str| model["usage"][name].as_u64();
        let (read, written) = (count("cacheReadTokens"), count("cacheWriteTokens"));
        let kept = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
        all = all.with(&Usage {
            input: count("inputTokens").map(|input| input.saturating_sub(kept)),
            output: count("outputTokens"),
            cache_read: read,
            cache_write: written,
            turns: worker_output::as_count(&model["requests"]["count"]),
            cost: None,
        });
    }
    all
}
