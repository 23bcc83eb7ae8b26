//! `consort uninit`

use super::git_hook;
use super::init::AgentArgs;
use super::init::LevelArgs;
use super::init::agree;
use crate::connect;
use crate::error::CommandResult;
use crate::out;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    which: AgentArgs,
    /// Instead: take the pre-commit hook of this repository away
    #[arg(long, conflicts_with_all = ["user", "project"])]
    git_hook: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let worktree = world.place().worktree;
    if args.git_hook {
        return git_hook::remove(world, &worktree, args.dry_run);
    }
    let mut is_any_connected = false;
    for cli in args.which.choose(|_| true) {
        let config_dir = world.config_dir(cli);
        let level = args.level.choose(&config_dir, &worktree);
        let plan = connect::plan_disconnect(world, cli, level)?;
        if plan.changes_nothing() {
            continue;
        }
        is_any_connected = true;
        world.out.text(plan.diff())?;
        if args.dry_run {
            out::note("Nothing was changed: this was a dry run.");
        } else if agree(args.yes, &format!("Disconnect {}?", cli.title())) {
            plan.carry_out()?;
            world.out.line(format!("Disconnected {}: {}", cli.title(), plan.path.display()))?;
        } else {
            out::note("Nothing was changed.");
        }
    }
    if !is_any_connected {
        world.out.line("Nothing is connected here.")?;
    }
    Ok(())
}
