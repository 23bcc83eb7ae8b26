//! The command `consort know adopt`: copies something that another project knows.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Scope;
use consort_core::knowledge::adopted;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge;
use crate::world::World;

/// Copies something that another project knows, with where it is from.
pub(super) fn run(world: &World, name: &str, from: Option<&str>, json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let there = match from {
        Some(project) => Scope::Project(opened.app.find_project(project)?.id),
        None => Scope::Global,
    };
    let index = opened.app.knowledge()?;
    let mut known = None;
    for kind in [Kind::Principle, Kind::Pattern, Kind::Decision] {
        known = known.or(index.known(&there, kind, name)?);
    }
    let Some(known) = known else {
        return Err(CommandError::user(
            format!("nothing called `{name}` is known there"),
            "`consort know similar \"…\"` finds what other projects know",
        ));
    };
    let here = Scope::Project(opened.project.id.clone());
    let manner = knowledge::Manner { json, ..Default::default() };
    knowledge::act(world, &mut opened, here, json!([adopted(&known, &there)]), manner)
}
