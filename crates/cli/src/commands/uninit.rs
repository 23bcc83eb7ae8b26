//! The command `consort uninit`: disconnects the agent CLIs, and gives their settings
//! back.

use std::path::Path;

use consort_agents::AgentCli;
use consort_core::presence::Agent;
use consort_core::presence::Observed;
use consort_core::presence::WhoScope;

use super::git_hook;
use super::init::AgentArgs;
use super::init::LevelArgs;
use super::init::one_by_one;
use crate::connect;
use crate::connect::FilePlan;
use crate::connect::git_merge;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::output;
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
    /// Instead: stop git from merging knowledge files
    #[arg(long, conflicts_with_all = ["user", "project", "git_hook"])]
    git_merge: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing, for scripts: this takes a token, `consort token new --for uninit`
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let worktree = world.place().worktree;
    if args.yes && !args.dry_run && !person::has_token() {
        output::note(
            "`--yes` alone does not remove protection: it takes a token (`consort token new --for uninit`), or the \
             word that you are asked for.",
        );
    }
    let confirm = |what: &str| match args.dry_run {
        true => Ok(()),
        false => person::confirmed_caller(&mut world.app(), what).map(drop),
    };
    if args.git_merge {
        confirm("stop git from merging knowledge files")?;
        return git_merge::remove(world, &worktree, args.dry_run);
    }
    if args.git_hook {
        confirm("let commits in this repository go unchecked")?;
        return git_hook::remove(world, &worktree, args.dry_run);
    }
    if !args.dry_run {
        person::may_confirm(&mut world.app())?;
    }
    let all = args.which.choose(|_| true);
    // A file that several CLIs share goes with the last of them: here all of them leave.
    let shown: Vec<Plans> = all.iter().map(|cli| plan(world, args, *cli, &worktree, &all)).collect();
    for (cli, (plans, failures)) in all.iter().zip(&shown) {
        for plan in plans {
            match args.dry_run {
                true => world.out.text(plan.diff())?,
                false => world.out.line(format!("{}: {}", cli.title(), plan.path.display()))?,
            }
        }
        failures.iter().for_each(|error| output::note(error.render().trim_end()));
    }
    let is_understood = match shown.iter().all(|(_, failures)| failures.is_empty()) {
        true => Ok(()),
        false => Err(CommandError::Told),
    };
    if shown.iter().all(|(plans, _)| plans.is_empty()) {
        is_understood?;
        world.out.line("Nothing is connected here.")?;
        tell_what_stays(&worktree);
        return Ok(());
    }
    if args.dry_run {
        tell_what_stays(&worktree);
        output::note("Nothing was changed: this was a dry run.");
        return is_understood;
    }
    output::note("What Consort added there is taken out; `consort uninit --dry-run` shows it line by line.");
    confirm("disconnect agent CLIs: nothing keeps them from reserved files then")?;
    let (_, disconnected) = one_by_one(all, |cli| disconnect(world, args, cli, &worktree))?;
    tell_what_stays(&worktree);
    disconnected
}

/// Tells of what git runs in this repository, which is taken away by itself.
fn tell_what_stays(worktree: &Path) {
    if git_hook::is_installed(worktree) {
        output::note("Commits here are still checked: `consort uninit --git-hook` ends that.");
    }
    if git_merge::is_installed(worktree) {
        output::note(
            "Git still merges knowledge files with consort: `consort uninit --git-merge` ends that.",
        );
    }
}

/// The changes that disconnect a CLI, and the files that cannot be understood.
type Plans = (Vec<FilePlan>, Vec<CommandError>);

fn plan(
    world: &World,
    args: &Args,
    cli: &'static dyn AgentCli,
    worktree: &Path,
    leaving: &[&'static dyn AgentCli],
) -> Plans {
    let config_dir = world.config_dir(cli);
    let level = args.level.choose(&config_dir, worktree);
    let mut plans: Plans = Default::default();
    for plan in connect::plan_disconnect(world, cli, level, leaving) {
        match plan {
            Ok(plan) if plan.changes_nothing() => {}
            Ok(plan) => plans.0.push(plan),
            Err(error) => plans.1.push(error),
        }
    }
    plans
}

/// Tells whether sessions of a CLI are running, which have read its settings.
fn runs_sessions(world: &World, cli: &dyn AgentCli) -> bool {
    let mut runs = false;
    let look = |agents: &[Agent]| {
        runs = agents.iter().any(|agent| agent.kind == cli.kind());
        agents.iter().map(|_| Observed::default()).collect()
    };
    let _ = world.app().who(&WhoScope::Everywhere, None, look);
    runs
}

/// Disconnects a CLI, and returns whether it was connected. A file that cannot be understood is left out; the
/// others are changed.
fn disconnect(
    world: &World,
    args: &Args,
    cli: &'static dyn AgentCli,
    worktree: &Path,
) -> Result<bool, CommandError> {
    let (plans, failures) = plan(world, args, cli, worktree, &[cli]);
    plans.iter().try_for_each(FilePlan::check)?;
    for plan in &plans {
        if plan.removes_program() && runs_sessions(world, cli) {
            output::note(format_args!(
                "{} stays for now: sessions that still run call it. Run this again when they have ended.",
                plan.path.display()
            ));
            continue;
        }
        plan.carry_out(&world.temporary_files())?;
        world.out.line(format!("Disconnected {}: {}", cli.title(), plan.path.display()))?;
    }
    if failures.is_empty() { Ok(!plans.is_empty()) } else { Err(CommandError::Told) }
}
