//! `consort uninit`

use std::path::Path;

use consort_agents::AgentCli;

use super::git_hook;
use super::init::AgentArgs;
use super::init::LevelArgs;
use super::init::one_by_one;
use super::knowledge::git_merge;
use crate::connect;
use crate::connect::Plan;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::out;
use crate::person;
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
    /// Accepted for scripts that were written before; a token says it now
    #[arg(short, long, hide = true)]
    yes: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let worktree = world.place().worktree;
    if !args.dry_run {
        person::confirmed(
            &mut world.app(),
            "disconnect agent CLIs: nothing keeps them from reserved files then",
        )?;
    }
    if args.git_merge {
        return git_merge::remove(world, &worktree, args.dry_run);
    }
    if args.git_hook {
        return git_hook::remove(world, &worktree, args.dry_run);
    }
    let all = args.which.choose(|_| true);
    let (is_any_connected, all_went_well) = one_by_one(all.clone(), |cli| {
        // Where nothing is done, the first is not gone before the second.
        let leaving = if args.dry_run { all.as_slice() } else { &[cli] };
        disconnect(world, args, cli, &worktree, leaving)
    })?;
    all_went_well?;
    if !is_any_connected {
        world.out.line("Nothing is connected here.")?;
    }
    Ok(())
}

/// Disconnects one, if the person agrees; whether it was connected. A file that
/// cannot be understood is reported after the others are done.
fn disconnect(
    world: &World,
    args: &Args,
    cli: &'static dyn AgentCli,
    worktree: &Path,
    leaving: &[&'static dyn AgentCli],
) -> Result<bool, CommandError> {
    let config_dir = world.config_dir(cli);
    let level = args.level.choose(&config_dir, worktree);
    let make = || {
        let plans = connect::plan_disconnect(world, cli, level, leaving);
        let (plans, failures): (Vec<_>, Vec<_>) = plans.into_iter().partition(Result::is_ok);
        let mut plans: Vec<Plan> = plans.into_iter().flatten().collect();
        plans.retain(|plan| !plan.changes_nothing());
        (plans, failures)
    };
    let (mut plans, mut failures) = make();
    let is_connected = !plans.is_empty();
    plans.iter().try_for_each(|plan| world.out.text(plan.diff()))?;
    if !is_connected {
        // There is nothing to agree to.
    } else if args.dry_run {
        out::note("Nothing was changed: this was a dry run.");
    } else {
        if !plans.iter().all(Plan::is_current) {
            (plans, failures) = make();
        }
        plans.iter().try_for_each(Plan::check)?;
        for plan in &plans {
            plan.carry_out(&world.pending())?;
            world.out.line(format!("Disconnected {}: {}", cli.title(), plan.path.display()))?;
        }
    }
    let failures: Vec<CommandError> = failures.into_iter().filter_map(Result::err).collect();
    failures.iter().for_each(|error| out::note(error.render().trim_end()));
    if failures.is_empty() { Ok(is_connected) } else { Err(CommandError::Told) }
}
