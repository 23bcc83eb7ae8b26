//! MCP tool of the tasks room: task.

use std::path::PathBuf;

use consort_core::tasks::ChangedTask;
use consort_core::tasks::CompleteRequest;
use consort_core::tasks::TaskRequest;
use consort_core::tasks::TaskView;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

pub(super) const TOOLS: &[ToolEntry] = &[ToolEntry {
    name: "task",
    about: "Tasks of a Markdown spec: `list` them, take the `next` that is ready or `claim` one by its id; say `done`, or `drop` it.",
    properties: || {
        json!({
            "action": { "enum": ["list", "next", "claim", "done", "drop"] },
            "spec": { "type": "string", "description": "the file; needed until you joined with one" },
            "id": { "type": "string" },
            "notes": { "type": "string", "description": "why, or what came of it" },
        })
    },
    required: &["action"],
    only_reads: false,
}];

#[derive(Deserialize)]
pub(super) struct TaskArgs {
    action: String,
    spec: Option<PathBuf>,
    id: Option<String>,
    notes: Option<String>,
}

pub(super) fn task(context: &mut ToolContext<'_>, task: TaskArgs) -> Result<ToolAnswer, Problem> {
    let cwd = context.me()?.location.cwd;
    let request = |id: Option<String>, is_for_new| TaskRequest {
        caller: context.facts(),
        cwd: cwd.clone(),
        spec: task.spec.clone(),
        id,
        words: task.notes.clone(),
        is_for_new,
    };
    let done = |verb: &str, outcome: ChangedTask| {
        let title = outcome.title.as_deref().map_or_else(String::new, |title| format!(": {title}"));
        let line = format!("{verb} {}{title}", outcome.key.id);
        let data = json!({ "id": outcome.key.id, "title": outcome.title, "spec": outcome.key.spec.path });
        ToolAnswer::new(text::one_line(&line, 200), json!({ "task": data }))
    };
    Ok(match task.action.as_str() {
        "list" => {
            let request = request(None, true);
            let outcome = context.app.tasks(&request)?;
            let lines: Vec<String> = outcome.tasks.iter().map(line).collect();
            let data = json!({ "items": lines, "done": outcome.done });
            ToolAnswer::new(lines.join("\n"), data)
        }
        "next" => {
            let request = request(None, true);
            done("Claimed", context.app.claim_task(&request)?)
        }
        "claim" => {
            let request = request(task.id.clone(), true);
            done("Claimed", context.app.claim_task(&request)?)
        }
        "done" => {
            let request = request(task.id.clone(), false);
            let request = CompleteRequest { task: request, generation: None, take_anyway: false };
            done("Completed", context.app.complete_task(&request)?)
        }
        "drop" => {
            let request = request(task.id.clone(), false);
            done("Gave back", context.app.unclaim_task(&request)?)
        }
        _ => return Err(Problem::user("there is no such action", "list, next, claim, done or drop")),
    })
}

fn line(task: &TaskView) -> String {
    let state = match &task.record {
        Some(record) => {
            format!("{:?}", record.state).split(['(', ' ']).next().unwrap_or_default().to_lowercase()
        }
        None if task.ready => "ready".into(),
        None if task.ticked => "done".into(),
        None => format!("waits for {}", task.waits_for.join(", ")),
    };
    text::one_line(&format!("{} {} [{state}]", task.id, task.title.as_deref().unwrap_or_default()), 200)
}
