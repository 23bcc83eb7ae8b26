//! MCP tools of the dispatch room: run and runs, for an agent that starts other agents.

use std::time::Duration;

use consort_core::call_context::RunWish;
use consort_core::call_context::RunsQuestion;
use consort_core::dispatch::Safety;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

/// Most seconds that a tool waits: every client waits for an answer for at least a minute.
const LONGEST: u64 = 55;

/// Most tokens of a result that are returned by default.
const RETURNED: usize = 2_000;

/// Fewest characters that a token stands for.
const CHARACTERS: usize = 3;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "run",
        about: "Have another agent do a task by itself; role `scout` explores read-only. You hear of its end.",
        properties: || {
            json!({
                "task": { "type": "string" },
                "role": { "type": "string" },
                "cli": { "type": "string" },
                "safety": { "enum": ["suggest", "auto-edit"] },
                "worktree": { "type": "boolean" },
                "calls": { "type": "integer", "description": "most tool calls" },
                "takes": { "type": "string", "description": "id of a task in your spec, or next" },
                "review": { "type": "boolean" },
                "wait": { "type": "integer" },
            })
        },
        required: &["task"],
        only_reads: false,
    },
    ToolEntry {
        name: "runs",
        about: "Your runs, or one: how it stands and its result; `wait` for its end.",
        properties: || {
            json!({
                "run": { "type": "integer" },
                "wait": { "type": "integer" },
                "tokens": { "type": "integer" },
                "stop": { "type": "boolean" },
            })
        },
        required: &[],
        only_reads: false,
    },
];

#[derive(Deserialize)]
pub(super) struct RunArgs {
    task: String,
    role: Option<String>,
    cli: Option<String>,
    safety: Option<String>,
    worktree: Option<bool>,
    calls: Option<u32>,
    takes: Option<String>,
    review: Option<bool>,
    wait: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct RunsArgs {
    run: Option<i64>,
    wait: Option<u64>,
    tokens: Option<usize>,
    stop: Option<bool>,
}

pub(super) fn run(context: &mut ToolContext<'_>, run: RunArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let safety = run.safety.as_deref().map(|name| {
        Safety::named(name).ok_or_else(|| Problem::user("there is no such safety", "suggest or auto-edit"))
    });
    let wish = RunWish {
        task: run.task,
        role: run.role,
        cli: run.cli,
        safety: safety.transpose()?,
        has_worktree: run.worktree.unwrap_or_default(),
        max_tools: run.calls,
        takes: run.takes,
        is_reviewed: run.review.unwrap_or_default(),
        wait: wait(run.wait),
    };
    let facts = context.facts();
    let told = context.calls.run_agent(&facts, &me.location.cwd, &wish)?;
    Ok(ToolAnswer::new(quoted(told.text, &told.data, RETURNED), told.data))
}

pub(super) fn runs(context: &mut ToolContext<'_>, runs: RunsArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let question =
        RunsQuestion { run: runs.run, wait: wait(runs.wait), stops: runs.stop.unwrap_or_default() };
    let facts = context.facts();
    let told = context.calls.runs_of_agent(&facts, &me.location.cwd, &question)?;
    Ok(ToolAnswer::new(quoted(told.text, &told.data, runs.tokens.unwrap_or(RETURNED)), told.data))
}

fn wait(seconds: Option<u64>) -> Option<Duration> {
    seconds.map(|seconds| Duration::from_secs(seconds.min(LONGEST)))
}

/// Appends the beginning of the run's result, quoted because it is nobody's instruction.
fn quoted(text: String, data: &serde_json::Value, tokens: usize) -> String {
    let Some(result) = data["result"].as_str().filter(|result| !result.trim().is_empty()) else {
        return text;
    };
    let most = tokens.saturating_mul(CHARACTERS);
    let shown: String = result.trim().chars().take(most).collect();
    let lines: Vec<String> = shown.lines().map(|line| format!("> {}", text::printable(line))).collect();
    let more = if shown.len() < result.trim().len() { "\n(more: `runs` with `tokens`)" } else { "" };
    format!("{text}\n{}{more}", lines.join("\n"))
}
