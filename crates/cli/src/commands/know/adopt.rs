//! The command `consort know adopt`: copies something that another project knows.

use consort_core::knowledge::Scope;
use serde_json::json;

use crate::error::CommandResult;
use crate::knowledge;
use crate::world::World;

/// Copies something that another project knows, and its origin.
pub(super) fn run(world: &World, name: &str, from: Option<&str>, json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let there = match from {
        Some(project) => Scope::Project(opened.app.find_project(project)?.id),
        None => Scope::Global,
    };
    let action = opened.app.adoption(name, &there)?;
    let here = Scope::Project(opened.project.id.clone());
    let manner = knowledge::Manner { json, ..Default::default() };
    knowledge::act(world, &mut opened, here, json!([action]), manner)
}
