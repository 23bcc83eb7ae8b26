//! `consort uninit`

use std::path::Path;

use consort_agents::AgentCli;

use super::git_hook;
use super::init::AgentArgs;
use super::init::LevelArgs;
use super::init::agree;
use super::init::one_by_one;
use super::knowledge::git_merge;
use crate::connect;
use crate::error::CommandError;
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
    /// Instead: have git merge no knowledge any more
    #[arg(long, conflicts_with_all = ["user", "project", "git_hook"])]
    git_merge: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let worktree = world.place().worktree;
    if args.git_merge {
        return git_merge::remove(world, &worktree, args.dry_run);
    }
    if args.git_hook {
        return git_hook::remove(world, &worktree, args.dry_run);
    }
    let all = args.which.choose(|_| true);
    let (is_any_connected, all_went_well) = one_by_one(all, |cli| disconnect(world, args, cli, &worktree))?;
    all_went_well?;
    if !is_any_connected {
        world.out.line("Nothing is connected here.")?;
    }
    Ok(())
}

/// Disconnects one, if the person agrees; whether it was connected.
fn disconnect(
    world: &World,
    args: &Args,
    cli: &'static dyn AgentCli,
    worktree: &Path,
) -> Result<bool, CommandError> {
    let config_dir = world.config_dir(cli);
    let level = args.level.choose(&config_dir, worktree);
    let mut plans = connect::plan_disconnect(world, cli, level)?;
    plans.retain(|plan| !plan.changes_nothing());
    if plans.is_empty() {
        return Ok(false);
    }
    plans.iter().try_for_each(|plan| world.out.text(plan.diff()))?;
    if args.dry_run {
        out::note("Nothing was changed: this was a dry run.");
    } else if agree(args.yes, &format!("Disconnect {}?", cli.title())) {
        for plan in &plans {
            plan.carry_out()?;
            world.out.line(format!("Disconnected {}: {}", cli.title(), plan.path.display()))?;
        }
    } else {
        out::note("Nothing was changed.");
    }
    Ok(true)
}
