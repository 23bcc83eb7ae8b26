//! The command `consort know similar`: finds principles and patterns of other projects.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
use consort_core::text;

use crate::error::CommandResult;
use crate::world::Opened;
use crate::world::World;

/// How many others are found.
const FEW: usize = 20;

/// Principles and patterns of other projects that have these words.
pub(super) fn run(world: &World, opened: &mut Opened, words: &str) -> CommandResult {
    let here = Scope::Project(opened.project.id.clone());
    let index = opened.app.knowledge()?;
    let found = index.search(None, words, FEW * 2)?;
    let is_other = |(scope, known): &&(Scope, Known)| {
        *scope != here && matches!(known.kind, Kind::Principle | Kind::Pattern)
    };
    for (scope, known) in found.iter().filter(is_other).take(FEW) {
        let place = scope.project().map_or("--global", |project| project.as_str());
        let line = format!("{place} {} {}: {}", known.kind.as_str(), known.name, known.text("description"));
        world.out.line(text::one_line(&line, 200))?;
    }
    Ok(())
}
