//! The command `consort know similar`: finds principles and patterns of other projects
//! that have certain words; without words, the projects that are like this one.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::world::Opened;
use crate::world::World;

/// How many others are found.
const FEW: usize = 20;

pub(super) fn run(world: &World, words: &str, is_json: bool) -> CommandResult {
    let mut opened = world.open()?;
    if words.is_empty() {
        projects(world, &mut opened, is_json)
    } else {
        things(world, &mut opened, words, is_json)
    }
}

/// The projects of this machine that are like this one.
fn projects(world: &World, opened: &mut Opened, is_json: bool) -> CommandResult {
    let mut found = opened.app.similar_projects(&opened.project.id)?;
    found.truncate(FEW);
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

/// Principles and patterns of other projects that have these words.
fn things(world: &World, opened: &mut Opened, words: &str, is_json: bool) -> CommandResult {
    let here = Scope::Project(opened.project.id.clone());
    let index = opened.app.knowledge()?;
    let mut found = index.search(None, words, FEW * 2)?;
    let is_other = |(scope, known): &(Scope, Known)| {
        *scope != here && matches!(known.kind, Kind::Principle | Kind::Pattern)
    };
    found.retain(is_other);
    found.truncate(FEW);
    let place = |scope: &Scope| scope.project().map_or("--global", |project| project.as_str()).to_owned();
    if is_json {
        let item = |(scope, known): &(Scope, Known)| {
            let mut item = envelope::item(known);
            item["project"] = place(scope).into();
            item
        };
        return envelope::list(world, opened.app.host().now(), &found.iter().map(item).collect::<Vec<_>>());
    }
    for (scope, known) in &found {
        let about = known.text("description");
        let line = format!("{} {} {}: {about}", place(scope), known.kind.as_str(), known.name);
        world.out.line(text::one_line(&line, 200))?;
    }
    Ok(())
}
