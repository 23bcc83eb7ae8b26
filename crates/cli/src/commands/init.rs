//! The command `consort init`: connects the agent CLIs here by adding our hooks to
//! their settings.

use std::io::BufRead as _;
use std::io::IsTerminal as _;
use std::io::Write as _;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use consort_agents::AgentCli;
use consort_agents::Level;
use consort_agents::Purpose;
use consort_host::env;

use super::git_hook;
use crate::connect;
use crate::connect::Plan;
use crate::connect::State;
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
    /// Also let sessions call the MCP server
    #[arg(long)]
    mcp: bool,
    /// Also tell sessions how to work with others, in the files that they read
    #[arg(long)]
    primer: bool,
    /// Also run commands behind the shield, for CLIs that can: what others have reserved is read-only for those whose
    /// text does not tell what they write
    #[arg(long, conflicts_with = "project")]
    shield: bool,
    /// Instead: check commits in this repository, by a pre-commit hook
    #[arg(long, conflicts_with_all = ["user", "project"])]
    git_hook: bool,
    /// Instead: have git merge what is known of this project
    #[arg(long, conflicts_with_all = ["user", "project", "git_hook"])]
    git_merge: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

#[derive(clap::Args)]
pub(crate) struct LevelArgs {
    /// For all your sessions (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// For everyone's sessions in this project
    #[arg(long)]
    project: bool,
}

#[derive(clap::Args)]
pub(crate) struct AgentArgs {
    /// Which agent CLI [default: all that are found]
    #[arg(long, value_name = "AGENT", value_parser = PossibleValuesParser::new(kinds()))]
    agent: Vec<String>,
}

pub(crate) fn kinds() -> Vec<&'static str> {
    consort_agents::ALL.iter().map(|cli| cli.kind()).collect()
}

impl AgentArgs {
    /// Those that are named, or else that `is_meant`.
    pub(crate) fn choose(&self, is_meant: impl Fn(&dyn AgentCli) -> bool) -> Vec<&'static dyn AgentCli> {
        let is_wanted = |cli: &&dyn AgentCli| match self.agent.as_slice() {
            [] => is_meant(*cli),
            named => named.iter().any(|kind| kind == cli.kind()),
        };
        consort_agents::ALL.iter().copied().filter(is_wanted).collect()
    }
}

impl LevelArgs {
    pub(crate) fn choose<'a>(&self, config_dir: &'a Path, worktree: &'a Path) -> Level<'a> {
        if self.project { Level::Project(worktree) } else { Level::User(config_dir) }
    }
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    if !args.dry_run {
        person::refuse_agents(&mut world.app())?;
    }
    let worktree = world.place().worktree;
    if args.git_merge {
        return git_merge::install(world, &worktree, args.dry_run, args.yes);
    }
    if args.git_hook {
        return git_hook::install(world, &worktree, args.dry_run, args.yes);
    }
    let found = args.which.choose(|cli| connect::find_program(cli.program()).is_some());
    if found.is_empty() {
        return Err(CommandError::user(
            "no agent CLI is on PATH",
            format!("`consort init --agent <{}>` connects one for when it is", kinds().join("|")),
        ));
    }
    let (is_any_connected, all_went_well) = one_by_one(found, |cli| connect(world, args, cli, &worktree))?;
    if is_any_connected {
        close_predictions(args.level.project);
    }
    all_went_well
}

/// Does something with each: whether it changed anything, and whether all went
/// well. What is wrong with one is said, and no reason to leave out the others.
pub(crate) fn one_by_one(
    clis: Vec<&'static dyn AgentCli>,
    mut each: impl FnMut(&'static dyn AgentCli) -> Result<bool, CommandError>,
) -> Result<(bool, CommandResult), CommandError> {
    let (mut has_changed, mut all_went_well) = (false, Ok(()));
    for cli in clis {
        match each(cli) {
            Ok(is_changed) => has_changed |= is_changed,
            Err(CommandError::Pipe) => return Err(CommandError::Pipe),
            Err(error) => {
                if !matches!(error, CommandError::Told) {
                    output::note(error.render().trim_end());
                }
                all_went_well = Err(CommandError::Told);
            }
        }
    }
    Ok((has_changed, all_went_well))
}

/// Connects one, if the person agrees; whether that changed anything.
fn connect(
    world: &World,
    args: &Args,
    cli: &'static dyn AgentCli,
    worktree: &Path,
) -> Result<bool, CommandError> {
    let config_dir = world.config_dir(cli);
    let level = args.level.choose(&config_dir, worktree);
    refuse_twice(world, cli, level, worktree)?;
    if args.mcp && cli.mcp(level, &env::get).is_none() {
        let place = if args.level.project { " for a project" } else { "" };
        output::note(format_args!("{} cannot be told of MCP servers{place}.", cli.title()));
    }
    let wanted = [
        (true, Purpose::Hooks),
        (args.mcp || cli.has_sandbox(), Purpose::Mcp),
        (args.primer, Purpose::Primer),
        (wants_shield(args, cli, level)?, Purpose::Shield),
    ];
    let wanted: Vec<Purpose> =
        wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, part)| part).collect();
    let make = || changes(world, cli, level, &wanted);
    let plans = make()?;
    if plans.is_empty() {
        let file = cli.hooks(level).file;
        world.out.line(format!("{} is connected already: {}", cli.title(), file.display()))?;
        return Ok(false);
    }
    plans.iter().try_for_each(|plan| world.out.text(plan.diff()))?;
    if args.dry_run {
        output::note("Nothing was changed: this was a dry run.");
    } else if agree(args.yes, &format!("Connect {}?", cli.title()))? {
        carry_out(world, cli, plans, make)?;
        return Ok(true);
    } else {
        output::note("Nothing was changed.");
    }
    Ok(false)
}

/// Whether the person wants the shield, by the flag or asked, and it can be had.
fn wants_shield(args: &Args, cli: &dyn AgentCli, level: Level<'_>) -> Result<bool, CommandError> {
    if cli.shield(level).is_empty() {
        if args.shield {
            output::note(format_args!("{} cannot run commands behind the shield.", cli.title()));
        }
        return Ok(false);
    }
    let can_ask = !args.yes && !args.dry_run && std::io::stdin().is_terminal();
    let is_there = connect::is_shielded(cli, level);
    if is_there || !(args.shield || can_ask) {
        return Ok(is_there);
    }
    if let Err(why) = consort_host::shield::is_available() {
        if args.shield {
            output::note(format_args!("There is no shield here: {why}."));
        }
        return Ok(false);
    }
    if let Some(theirs) = env::get(env::CLAUDE_SHELL_PREFIX) {
        output::note(format_args!(
            "Without the shield: your environment sets {} to {theirs}, which it would replace. Put it into {}'s \
             settings, and it is kept.",
            env::CLAUDE_SHELL_PREFIX,
            cli.title()
        ));
        return Ok(false);
    }
    if args.shield {
        return Ok(true);
    }
    let question = "Run commands behind the shield? What others have reserved is then read-only for those whose \
                    text does not tell what they write.";
    agree(false, &format!("{}: {question}", cli.title()))
}

/// What connecting would change.
pub(crate) fn changes(
    world: &World,
    cli: &dyn AgentCli,
    level: Level<'_>,
    wanted: &[Purpose],
) -> Result<Vec<Plan>, CommandError> {
    let mut plans = connect::plan_connect(world, cli, level, wanted)?;
    plans.retain(|plan| !plan.changes_nothing());
    Ok(plans)
}

/// Carries out what the person has agreed to. Consent takes its time, and some
/// CLIs write their files all the while: the same is planned again for what is
/// there now. Nothing is written before every plan was found to hold.
pub(crate) fn carry_out(
    world: &World,
    cli: &dyn AgentCli,
    plans: Vec<Plan>,
    again: impl FnOnce() -> Result<Vec<Plan>, CommandError>,
) -> CommandResult {
    let plans = if plans.iter().all(Plan::is_current) { plans } else { again()? };
    plans.iter().try_for_each(Plan::check)?;
    for plan in &plans {
        plan.carry_out(&world.pending())?;
        world.out.line(format!("Connected {}: {}", cli.title(), plan.path.display()))?;
        if plan.backup().exists() {
            output::note(format_args!("What was there before is kept in {}", plan.backup().display()));
        }
    }
    if connect::find_program(cli.program()).is_none() {
        output::note(format_args!("{} itself is not on PATH; it is connected for when it is.", cli.title()));
    }
    if let Some(advice) = cli.advice() {
        output::note(advice);
    }
    Ok(())
}

/// What holds for all that were connected.
pub(crate) fn close_predictions(is_for_project: bool) {
    if connect::find_program("consort").is_none() {
        output::note(
            "`consort` is not on PATH: put it there, so that sessions can call it, and run this again.",
        );
    }
    let flag = if is_for_project { " --project" } else { "" };
    output::note(format_args!(
        "Sessions started from now on join by themselves; `consort uninit{flag}` takes it back."
    ));
}

/// Asks the person at the terminal, also where the output goes elsewhere;
/// without one the command itself was the answer.
pub(crate) fn agree(yes: bool, question: &str) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(CommandError::user(
            "there is no terminal to ask on, and nothing was changed",
            "`--yes` says that you want this",
        ));
    }
    let mut stderr = std::io::stderr();
    let _ = write!(stderr, "{question} [Y/n] ");
    let _ = stderr.flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    // The end of input is not consent.
    Ok(matches!(read, Ok(n) if n > 0) && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

/// Both levels at once would run every hook twice.
fn refuse_twice(world: &World, cli: &dyn AgentCli, level: Level<'_>, worktree: &Path) -> CommandResult {
    let standings = connect::standings(world, worktree);
    let Some(standing) = standings.iter().find(|standing| standing.kind == cli.kind()) else { return Ok(()) };
    let (other, flag) = match level {
        Level::User(_) => (&standing.project, "--project"),
        Level::Project(_) => (&standing.user, "--user"),
    };
    if matches!(other, State::Current | State::Outdated | State::SwitchedOff) {
        return Err(CommandError::user(
            format!("{} is connected with `{flag}` already; both would run every hook twice", cli.title()),
            format!("keep that, or `consort uninit {flag}` first"),
        ));
    }
    Ok(())
}
