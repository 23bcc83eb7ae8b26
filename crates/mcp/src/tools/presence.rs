//! MCP tool of the presence room: who.

use consort_core::presence::AgentView;
use consort_core::presence::Scope;
use consort_core::text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::Entry;
use super::ToolContext;
use crate::answer::Answer;
use crate::answer::Problem;

pub(super) const TOOLS: &[Entry] = &[Entry {
    name: "who",
    about: "Who else is at work here, on what, and where.",
    properties: || {
        json!({
            "agent": { "type": "string", "description": "only this one" },
            "all": { "type": "boolean", "description": "every project" },
        })
    },
    required: &[],
    only_reads: true,
}];

#[derive(Deserialize)]
pub(super) struct Who {
    agent: Option<String>,
    all: Option<bool>,
}

pub(super) fn who(context: &mut ToolContext<'_>, who: Who) -> Result<Answer, Problem> {
    let me = context.me()?;
    let is_wide = who.all.unwrap_or_default() || who.agent.is_some();
    let scope = if is_wide { Scope::Everywhere } else { Scope::Project(me.project.clone()) };
    let calls = context.calls;
    let mut outcome = context.app.who(&scope, Some(&me.session), |agents| calls.look(agents))?;
    if let Some(name) = &who.agent {
        let agent = context.app.find_agent(name)?;
        outcome.agents.retain(|seen| seen.agent.session == agent.session);
    }
    let lines: Vec<String> = outcome.agents.iter().map(line).collect();
    let data: Vec<Value> = outcome.agents.iter().map(data).collect();
    Ok(Answer::new(lines.join("\n"), json!({ "items": data })))
}

fn data(seen: &AgentView) -> Value {
    let AgentView { agent, status, activity, you, .. } = seen;
    json!({
        "name": agent.name, "cli": agent.kind, "status": status, "doing": activity, "branch": agent.branch,
        "worktree": agent.location.worktree, "you": you,
    })
}

/// `GoldFalcon (claude), working: Edit src/auth.rs; on feat/x`
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
