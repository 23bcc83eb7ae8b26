//! The command `consort init`: connects the agent CLIs here by adding our hooks, and
//! rules that let agents use us, to their settings.

use std::path::Path;

use clap::builder::PossibleValuesParser;
use consort_agents::AgentCli;
use consort_agents::Level;
use consort_host::env;

use super::git_hook;
use crate::connect;
use crate::connect::Consent;
use crate::connect::OfferedCli;
use crate::connect::Parts;
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
    /// Do not let sessions run harmless `consort` commands and MCP tools without asking
    #[arg(long)]
    no_allow: bool,
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
    /// Returns the CLIs that are named, or else those that `is_meant` accepts.
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
    let mut targets = Vec::new();
    let (_, is_once) = one_by_one(found, |cli| {
        let target = OfferedCli::new(world, cli, &worktree, args.level.project);
        refuse_twice(world, cli, target.level(), &worktree)?;
        if args.mcp && cli.mcp(target.level(), &env::get).is_none() {
            let place = if args.level.project { " for a project" } else { "" };
            output::note(format_args!("{} cannot be told of MCP servers{place}.", cli.title()));
        }
        targets.push(target);
        Ok(false)
    })?;
    let consent = match (args.dry_run, args.yes) {
        (true, _) => Consent::DryRun,
        (_, true) => Consent::Given,
        _ => Consent::Ask,
    };
    let offered = Parts::offered(consent);
    let parts = Parts {
        mcp: args.mcp || offered.mcp,
        primer: args.primer || offered.primer,
        allow: !args.no_allow,
        shield: args.shield,
    };
    connect::offer(world, &targets, parts, consent)?.1.and(is_once)
}

/// Calls `each` for every CLI; returns whether any call changed anything, and an error if one failed. A
/// failure is printed, and the other CLIs still have their turn.
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

/// Refuses to connect a CLI at both levels, which would run every hook twice.
fn refuse_twice(world: &World, cli: &dyn AgentCli, level: Level<'_>, worktree: &Path) -> CommandResult {
    let standings = connect::connection_states(world, worktree);
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
