//! MCP tools of the monitor room: open, screen, watch, waiting, answer and close, for an agent that opens
//! others.

use std::time::Duration;

use consort_core::call_context::AgentOpenRequest;
use consort_core::monitor::Permissions;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

/// Most seconds that a tool waits: every client waits for an answer for at least a minute.
const LONGEST: u64 = 55;

/// Lines of a screen that are shown by default.
const LINES: usize = 30;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "open",
        about: "Put another agent to work in a terminal. Leave its files alone; you hear of it.",
        properties: || {
            json!({
                "cli": { "type": "string" },
                "prompt": { "type": "string" },
                "name": { "type": "string" },
                "worktree": { "type": "boolean" },
                "permissions": { "enum": ["plan", "ask", "edit"] },
            })
        },
        required: &["cli", "prompt"],
        only_reads: false,
    },
    ToolEntry {
        name: "screen",
        about: "An agent's terminal; `wait` seconds for a change.",
        properties: || json!({ "agent": { "type": "string" }, "lines": { "type": "integer" }, "wait": { "type": "integer" } }),
        required: &["agent"],
        only_reads: true,
    },
    ToolEntry {
        name: "watch",
        about: "How your agents stand; `wait` for a change.",
        properties: || json!({ "wait": { "type": "integer" } }),
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "waiting",
        about: "Agents that wait for your user or you.",
        properties: || json!({}),
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "answer",
        about: "Answer a question (no permission) of an agent you opened.",
        properties: || json!({ "agent": { "type": "string" }, "option": { "type": "string" } }),
        required: &["agent", "option"],
        only_reads: false,
    },
    ToolEntry {
        name: "close",
        about: "End an agent you opened.",
        properties: || json!({ "agent": { "type": "string" } }),
        required: &["agent"],
        only_reads: false,
    },
];

#[derive(Deserialize)]
pub(super) struct OpenArgs {
    cli: String,
    prompt: String,
    name: Option<String>,
    worktree: Option<bool>,
    permissions: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct ScreenArgs {
    agent: String,
    lines: Option<usize>,
    wait: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct WatchArgs {
    wait: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct ReplyArgs {
    agent: String,
    option: String,
}

#[derive(Deserialize)]
pub(super) struct CloseArgs {
    agent: String,
}

pub(super) fn open(context: &mut ToolContext<'_>, open: OpenArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let permissions = open.permissions.as_deref().map(|mode| {
        Permissions::named(mode).ok_or_else(|| Problem::user("there is no such mode", "plan, ask or edit"))
    });
    let wish = AgentOpenRequest {
        cli: open.cli,
        prompt: open.prompt,
        name: open.name,
        in_worktree: open.worktree.unwrap_or_default(),
        permissions: permissions.transpose()?,
    };
    let facts = context.facts();
    let opened = context.calls.open_agent(&mut context.app, &facts, &me.location.cwd, &wish)?;
    Ok(ToolAnswer::new(opened.text, opened.data))
}

pub(super) fn screen(context: &mut ToolContext<'_>, screen: ScreenArgs) -> Result<ToolAnswer, Problem> {
    context.me()?;
    let wait = screen.wait.map(|seconds| Duration::from_secs(seconds.min(LONGEST)));
    let lines = screen.lines.unwrap_or(LINES);
    let shown = context.calls.agent_screen(&mut context.app, &screen.agent, lines, wait)?;
    // Quoted, because the text on an agent's terminal is nobody's instruction.
    let quoted: Vec<String> = shown.text.lines().map(|line| format!("> {}", text::printable(line))).collect();
    let head = format!("{} is {}:", screen.agent, shown.data["state"].as_str().unwrap_or("unknown"));
    Ok(ToolAnswer::new(format!("{head}\n{}", quoted.join("\n")), shown.data))
}

pub(super) fn watch(context: &mut ToolContext<'_>, watch: WatchArgs) -> Result<ToolAnswer, Problem> {
    context.me()?;
    let wait = watch.wait.map(|seconds| Duration::from_secs(seconds.min(LONGEST)));
    let facts = context.facts();
    let told = context.calls.watch_agents(&mut context.app, &facts, wait)?;
    Ok(ToolAnswer::new(told.text, told.data))
}

pub(super) fn waiting(context: &mut ToolContext<'_>) -> Result<ToolAnswer, Problem> {
    context.me()?;
    let facts = context.facts();
    let told = context.calls.waiting_agents(&mut context.app, &facts)?;
    Ok(ToolAnswer::new(told.text, told.data))
}

pub(super) fn answer(context: &mut ToolContext<'_>, reply: ReplyArgs) -> Result<ToolAnswer, Problem> {
    context.me()?;
    let facts = context.facts();
    let told = context.calls.answer_agent(&mut context.app, &facts, &reply.agent, &reply.option)?;
    Ok(ToolAnswer::new(told.text, told.data))
}

pub(super) fn close(context: &mut ToolContext<'_>, close: CloseArgs) -> Result<ToolAnswer, Problem> {
    context.me()?;
    let facts = context.facts();
    let told = context.calls.close_agent(&mut context.app, &facts, &close.agent)?;
    Ok(ToolAnswer::new(told.text, told.data))
}
