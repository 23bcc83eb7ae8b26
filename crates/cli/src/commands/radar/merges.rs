//! The command `consort radar merges`: finds changes in different worktrees that will
//! conflict.

use consort_core::text;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Every project
    #[arg(long)]
    all: bool,
    /// Only look, and tell nobody
    #[arg(long)]
    quiet: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let project = (!args.all).then(|| opened.project.id.clone());
    let overlaps = opened.app.worktree_overlaps(project.as_ref())?;
    if !args.quiet {
        opened.app.tell_worktree_overlaps(&overlaps)?;
    }
    if args.json {
        return world.out.items(&mut opened.app, &overlaps);
    }
    if overlaps.is_empty() {
        return world.out.line("No work in different worktrees meets.");
    }
    for overlap in &overlaps {
        let [one, other] = &overlap.agents;
        world.out.line(format!("{} and {}:", one.name, other.name))?;
        for path in &overlap.files {
            world.out.line(format!("  {}  both have edited it", text::foreign(path, 120)))?;
        }
        for path in &overlap.conflicts {
            world.out.line(format!("  {}  their branches conflict", text::foreign(path, 120)))?;
        }
    }
    Ok(())
}
