//! The command `consort know suggest`: names what sessions found out and nobody has
//! recorded.

use consort_core::knowledge::Scope;
use consort_core::knowledge::Suggestion;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::markdown;
use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::world::World;

pub(super) fn run(world: &World, is_json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let scope = Scope::Project(opened.project.id.clone());
    let worktree = opened.place.worktree.clone();
    let found = opened.app.suggest_knowledge(&scope, &worktree)?;
    if is_json {
        let items: Vec<Value> = found.iter().map(|one| json!(one)).collect();
        return envelope::list(world, opened.app.host().now(), &items);
    }
    if found.is_empty() {
        return world.out.line("Nothing stands out.");
    }
    for one in &found {
        let line = match one {
            Suggestion::File { path, readers } => {
                let command = format!("consort know add file {} '…'", text::shell_quoted(path));
                format!("{path}: {readers} sessions have read it; `{command}`")
            }
            Suggestion::Command { failed, worked } => {
                let about = format!("{worked} works where {failed} fails");
                let command = format!("consort know add note {}", text::shell_quoted(&about));
                format!("A command failed, and then worked otherwise; `{command}`")
            }
            Suggestion::Decision { number, by, text: said } => {
                let name: String = markdown::slug(said).chars().take(40).collect();
                let command = format!("consort know add decision {name} {}", text::shell_quoted(said));
                format!("Message #{number} of {by} sounds like a decision; `{command}`")
            }
        };
        world.out.line(text::one_line(&line, 300))?;
    }
    Ok(())
}
