//! The command `consort know suggest`: names what sessions found out and nobody has
//! recorded.

use consort_core::knowledge::Scope;
use serde_json::Value;
use serde_json::json;

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
    found.iter().try_for_each(|one| world.out.line(one.told()))
}
