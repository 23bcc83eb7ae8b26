//! The command `consort know suggest`: names what sessions had to find out for
//! themselves, and nobody has recorded.

use consort_core::knowledge::Scope;
use consort_core::text;

use crate::error::CommandResult;
use crate::world::Opened;
use crate::world::World;

/// How many are named.
const FEW: usize = 10;

pub(super) fn run(world: &World, opened: &mut Opened) -> CommandResult {
    let scope = Scope::Project(opened.project.id.clone());
    let worktree = opened.place.worktree.clone();
    let found = opened.app.suggest_knowledge(&scope, &worktree)?;
    if found.is_empty() {
        return world.out.line("Nothing stands out.");
    }
    for (path, readers) in found.iter().take(FEW) {
        let line = format!("{path}: {readers} sessions have read it; `consort record file {path} \"…\"`");
        world.out.line(text::one_line(&line, 200))?;
    }
    Ok(())
}
