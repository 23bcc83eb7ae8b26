//! The command `consort know similar`: finds principles and patterns of other projects
//! that have certain words; without words, the projects that are like this one.

use consort_core::text;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::world::OpenWorld;
use crate::world::World;

pub(super) fn run(world: &World, words: &str, is_json: bool) -> CommandResult {
    let mut opened = world.open()?;
    if words.is_empty() {
        projects(world, &mut opened, is_json)
    } else {
        things(world, &mut opened, words, is_json)
    }
}

/// Prints the projects of this machine that are like this one.
fn projects(world: &World, opened: &mut OpenWorld, is_json: bool) -> CommandResult {
    let found = opened.app.similar_projects(&opened.project.id)?;
    if is_json {
        let items: Vec<Value> = found.iter().map(|one| json!(one)).collect();
        return envelope::list(world, opened.app.host().now(), &items);
    }
    if found.is_empty() {
        return world.out.line("No other project knows anything of the same words.");
    }
    for one in found {
        let line = format!("{} {:.0} %: {}", one.name, one.likeness * 100.0, one.shared.join(", "));
        world.out.line(text::one_line(&line, 200))?;
    }
    world.out.line("`consort know similar <words>` finds what they know.")
}

/// Prints principles and patterns of other projects that have these words.
fn things(world: &World, opened: &mut OpenWorld, words: &str, is_json: bool) -> CommandResult {
    let found = opened.app.similar_things(&opened.project.id, words)?;
    if is_json {
        let items: Vec<Value> = found.iter().map(|(scope, known)| known.item_of(scope)).collect();
        return envelope::list(world, opened.app.host().now(), &items);
    }
    if found.is_empty() {
        return world.out.line("Nothing found.");
    }
    found.iter().try_for_each(|(scope, known)| world.out.line(known.scoped_line(scope)))
}
