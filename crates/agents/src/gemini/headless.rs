//! Builds the command line of Gemini CLI without a terminal, and reads its output. Behaviour as of 0.61.0.
//!
//! Its exit code may be an HTTP status cut to one byte, and it reports no cost.

use consort_core::Timestamp;
use consort_core::dispatch::Failure;
use consort_core::dispatch::FailureKind;
use consort_core::dispatch::Safety;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
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

/// Gemini's exit code when the limit of turns was reached.
const TURN_LIMIT: i32 = 53;

/// The policy for a run that only reads: it changes nothing, whatever the person's policies allow.
const READING: &str = "[[rule]]\ntoolName = [\"run_shell_command\", \"write_file\", \"replace\"]\n\
                       decision = \"deny\"\npriority = 999\n\n\
                       [[rule]]\nmcpName = \"consort\"\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 900\n";

/// The policy for a run that edits and runs commands without asking.
const WORKING: &str = "[[rule]]\ntoolName = [\"run_shell_command\", \"web_fetch\", \"google_web_search\"]\n\
                       decision = \"allow\"\npriority = 900\n\n\
                       [[rule]]\nmcpName = \"consort\"\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 900\n";

pub(super) fn command(work: &Headless<'_>) -> HeadlessCommand {
    let mut command = HeadlessCommand::default();
    command.argue(["--output-format", "stream-json"]);
    // With nobody to ask, Gemini refuses every tool that it would ask about.
    let (mode, policy) = match work.safety {
        Safety::Suggest => ("default", Some(READING)),
        Safety::AutoEdit => ("auto_edit", Some(WORKING)),
        Safety::FullAuto => ("yolo", None),
    };
    command.argue(["--approval-mode", mode]);
    if let Some(policy) = policy.filter(|_| (work.knows)("--policy")) {
        let file = command.write(work, "policy.toml", policy);
        command.argue(["--policy".to_owned(), file]);
    }
    // Otherwise Gemini refuses to run in a directory that nobody has trusted in its terminal.
    if (work.knows)("--skip-trust") {
        command.argue(["--skip-trust"]);
    }
    if let Some(model) = work.model {
        command.argue([format!("--model={model}")]);
    }
    if let Some(session) = work.resume {
        command.argue([format!("--resume={session}")]);
    }
    command.ignore("reasoning", work.reasoning.is_some());
    command.ignore("budget", work.budget.is_some());
    // Gemini could only replace its own system prompt, so the role goes before the prompt.
    let prompt = match work.system {
        Some(system) => format!("{system}\n\n{}", work.prompt),
        None => work.prompt.to_owned(),
    };
    command.stdin = Some(prompt);
    command
}

#[derive(Default)]
pub(super) struct Reader {
    /// The text of the model so far: it comes in pieces, and no piece is marked as the last.
    saying: String,
    /// The number of the attempt that has failed, and the reason.
    trying: Option<(u32, String)>,
    is_in_turn: bool,
    has_ended: bool,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        let Some(event) = worker_output::object(line) else { return Vec::new() };
        let mut told = Vec::new();
        let kind = event["type"].as_str();
        let is_piece = kind == Some("message") && event["role"] == "assistant";
        if is_piece {
            self.begin_turn(&mut told);
            self.saying.push_str(event["content"].as_str().unwrap_or_default());
            return told;
        }
        self.finish_text(&mut told);
        match kind {
            Some("init") => {
                told.extend(text_at(&event, "/session_id").map(WorkerEvent::Session));
                told.extend(text_at(&event, "/model").map(WorkerEvent::Model));
            }
            Some("tool_use") => {
                self.begin_turn(&mut told);
                let (id, tool) = (event["tool_id"].as_str(), event["tool_name"].as_str());
                let about = worker_output::about(&event["parameters"]);
                told.push(worker_output::begins(id.unwrap_or_default(), tool.unwrap_or("?"), about));
            }
            Some("tool_result") => {
                self.is_in_turn = false;
                let said = text_at(&event, "/error/message").or_else(|| text_at(&event, "/output"));
                let id = event["tool_id"].as_str().unwrap_or_default();
                // Gemini reports a failed command as a success of the tool.
                let failed =
                    |said: &String| said.lines().any(|line| line.starts_with("Command exited with code: "));
                let has_failed = id.starts_with("run_shell_command") && said.as_ref().is_some_and(failed);
                let is_ok = event["status"] != "error" && !has_failed;
                told.push(worker_output::ends(id, is_ok, &said.unwrap_or_default()));
            }
            Some("error") => self.is_in_turn = false,
            Some("result") => self.result(&event, now, &mut told),
            _ => {}
        }
        told
    }

    /// Reads a retry: `Attempt 1 failed: … Retrying after 40631ms...`, in one line or in two, or `Attempt 1
    /// failed with status 500. Retrying with backoff...`.
    fn error_line(&mut self, line: &str, now: Timestamp) -> Vec<WorkerEvent> {
        if let Some(rest) = line.strip_prefix("Attempt ") {
            let (attempt, why) = rest.split_once(" failed").unwrap_or((rest, ""));
            let why = why.split("Retrying").next().unwrap_or(why);
            let why = why.trim_matches(|c: char| c == ':' || c == '.' || c.is_whitespace()).to_owned();
            self.trying = attempt.parse().ok().map(|attempt| (attempt, why));
        }
        let Some((_, how)) = line.split_once("Retrying ") else { return Vec::new() };
        let Some((attempt, why)) = self.trying.take() else { return Vec::new() };
        let delay =
            how.strip_prefix("after ").and_then(|after| after.split("ms").next()?.parse::<f64>().ok());
        let until = delay.map(|delay| now.plus(delay as i64));
        vec![WorkerEvent::Retries { attempt, why: text::one_line(&why, 300), until }]
    }

    fn end_report(&mut self, over: &WorkerEnd<'_>) -> EndReport {
        let mut told = Vec::new();
        self.finish_text(&mut told);
        // Some failures show only in the exit code.
        let kind = match over.exit.code {
            Some(TURN_LIMIT) => Some(FailureKind::Turns),
            Some(41) => Some(FailureKind::NotLoggedIn),
            _ => None,
        };
        let failure =
            kind.filter(|_| !self.has_ended).zip(worker_output::failure_without_end(over.exit, over.now));
        let failure = failure.map(|(kind, failure)| Failure { kind, ..failure });
        EndReport { told, failure, has_ended: self.has_ended }
    }
}

impl Reader {
    fn begin_turn(&mut self, told: &mut Vec<WorkerEvent>) {
        if !self.is_in_turn {
            self.is_in_turn = true;
            told.push(WorkerEvent::Turn);
        }
    }

    fn finish_text(&mut self, told: &mut Vec<WorkerEvent>) {
        if !self.saying.is_empty() {
            told.push(WorkerEvent::Said(std::mem::take(&mut self.saying)));
        }
    }

    fn result(&mut self, event: &Value, now: Timestamp, told: &mut Vec<WorkerEvent>) {
        self.has_ended = true;
        if !event["stats"].is_null() {
            told.push(WorkerEvent::UsedInAll(usage(&event["stats"])));
        }
        if event["status"] != "success" {
            let message = text_at(event, "/error/message").unwrap_or_default();
            told.push(WorkerEvent::Failed(failure::read(None, &message, now)));
        }
    }
}

fn usage(stats: &Value) -> Usage {
    let count = |name: &str| stats[name].as_u64();
    let read = count("cached");
    let input = count("input").or_else(|| Some(count("input_tokens")?.saturating_sub(read.unwrap_or(0))));
    Usage { input, output: count("output_tokens"), cache_read: read, ..Usage::default() }
}
