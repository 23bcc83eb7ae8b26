//! MCP tools of the presence room: who, status, agent.

use consort_core::convergence::Candidate;
use consort_core::envelope::agent_json;
use consort_core::journal::Actor;
use consort_core::presence::AgentView;
use consort_core::presence::WhoScope;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "who",
        about: "Who else is at work here, on what, and where.",
        properties: || {
            json!({
                "agent": { "type": "string" },
                "all": { "type": "boolean", "description": "every project" },
            })
        },
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "status",
        about: "You, your task and mail, and this project at a glance.",
        properties: || json!({}),
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "agent",
        about: "`rename` yourself, or have it `suggest` who is best placed for a task.",
        properties: || {
            json!({
                "action": { "enum": ["rename", "suggest"] },
                "name": { "type": "string" },
                "task": { "type": "string" },
            })
        },
        required: &["action"],
        only_reads: false,
    },
];

#[derive(Deserialize)]
pub(super) struct WhoArgs {
    agent: Option<String>,
    all: Option<bool>,
}

/// The fields of an agent that `who` shows.
const TOLD: [&str; 12] = [
    "name", "cli", "session", "machine", "status", "doing", "branch", "worktree", "model", "task", "unread",
    "you",
];

pub(super) fn who(context: &mut ToolContext<'_>, who: WhoArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let is_wide = who.all.unwrap_or_default() || who.agent.is_some();
    let scope = if is_wide { WhoScope::Everywhere } else { WhoScope::Project(me.project.clone()) };
    let calls = context.calls;
    let mut outcome = context.app.who(&scope, Some(&me.session), |agents| calls.look(agents))?;
    if let Some(name) = &who.agent {
        let agent = context.app.find_agent(name)?;
        outcome.agents.retain(|seen| seen.agent.session == agent.session);
    }
    let lines: Vec<String> = outcome.agents.iter().map(line).collect();
    let mut items = Vec::new();
    for seen in &outcome.agents {
        let item = context.app.who_item(seen)?;
        let mut item = context.app.for_readers(item);
        if let Some(fields) = item.as_object_mut() {
            fields.retain(|field, value| TOLD.contains(&field.as_str()) && !value.is_null());
        }
        items.push(item);
    }
    Ok(ToolAnswer::new(lines.join("\n"), json!({ "items": items })))
}

pub(super) fn status(context: &mut ToolContext<'_>) -> Result<ToolAnswer, Problem> {
    let (me, facts, calls) = (context.me()?, context.facts(), context.calls);
    let status = context.app.status(&facts, &me.project, |agents| calls.look(agents))?;
    let branch =
        me.branch.as_ref().map_or_else(String::new, |branch| format!(" on {}", text::foreign(branch, 60)));
    let mut lines = vec![
        format!("You are {} in {}{branch}.", me.name, text::foreign(&me.project.name, 60)),
        format!("{} here.", text::counted_noun(status.here.agents.len().saturating_sub(1), "other agent")),
        format!("{} unread.", text::counted_noun(status.unread, "message")),
    ];
    lines.extend(
        status.task.as_ref().map(|task| format!("Your task: {} of {}.", task.key.id, task.key.spec.path)),
    );
    let held = status.held.first.iter().map(|seen| {
        let who = if seen.yours { "you" } else { seen.name.as_str() };
        format!("{} ({who})", text::foreign(&seen.hold.resource.shown(), 80))
    });
    if status.held.count > 0 {
        lines.push(format!(
            "Reserved, {} in all: {}.",
            status.held.count,
            held.collect::<Vec<_>>().join(", ")
        ));
    }
    let data = json!({ "status": {
        "you": agent_json(&me), "project": me.project.name, "branch": me.branch, "unread": status.unread,
        "task": status.task.map(|task| task.key.id), "here": status.here.agents.len(), "reserved": status.held.count,
    } });
    Ok(ToolAnswer::new(lines.join("\n"), data))
}

#[derive(Deserialize)]
pub(super) struct NamedAgentArgs {
    action: String,
    name: Option<String>,
    task: Option<String>,
}

pub(super) fn agent(context: &mut ToolContext<'_>, want: NamedAgentArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let missing = |what: &str| Problem::user(format!("`{what}` is missing"), "see the tool's schema");
    match want.action.as_str() {
        "rename" => {
            let name = want.name.ok_or_else(|| missing("name"))?;
            let actor = Actor::Agent(me.session.clone());
            let outcome = context.app.rename(&me.session, &name, actor)?;
            let text = format!("You are now {}.", outcome.to);
            let mut agent = agent_json(&me);
            agent["name"] = json!(outcome.to);
            agent["was"] = json!(outcome.from);
            Ok(ToolAnswer::new(text, json!({ "agent": agent })))
        }
        "suggest" => {
            let (task, calls) = (want.task.ok_or_else(|| missing("task"))?, context.calls);
            let environment = |name: &str| calls.variable(name);
            let candidates =
                context.app.delegation_candidates(&task, &me.project.id, Some(&me.session), &environment)?;
            let line =
                |one: &Candidate| format!("{}  {:.2}  {}", one.name, one.score, one.reasons.join("; "));
            let lines: Vec<String> =
                candidates.iter().map(line).map(|line| text::one_line(&line, 200)).collect();
            let items = context.app.items(&candidates)["items"].take();
            Ok(ToolAnswer::new(lines.join("\n"), json!({ "items": items })))
        }
        _ => Err(Problem::user("there is no such action", "rename or suggest")),
    }
}

/// Describes an agent in a line: `GoldFalcon (claude), working: Edit src/auth.rs; on feat/x`.
fn line(seen: &AgentView) -> String {
    let name = if seen.you { format!("{} (you)", seen.agent.name) } else { seen.agent.name.to_string() };
    let status = format!("{:?}", seen.status).to_lowercase();
    let mut line = format!("{name}, {}, {status}", text::foreign(&seen.agent.kind, 20));
    if let Some(activity) = &seen.activity {
        line.push_str(&format!(": {}", text::foreign(activity, 80)));
    }
    if let Some(branch) = &seen.agent.branch {
        line.push_str(&format!("; on {}", text::foreign(branch, 60)));
    }
    line
}
