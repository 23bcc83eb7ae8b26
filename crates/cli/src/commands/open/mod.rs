//! The command `consort open`: opens agents in panes, connected for that run, and follows
//! their start.

mod attach;
mod follow;
mod worktree;

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::AgentCli;
use consort_core::call_context::AgentOpenRequest;
use consort_core::host::Repositories as _;
use consort_core::journal::Actor;
use consort_core::journal::Number;
use consort_core::monitor::MayOpenRequest;
use consort_core::monitor::NewPane;
use consort_core::monitor::OpenedPane;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneManager as _;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::Permissions;
use consort_core::monitor::TerminalError;
use consort_core::presence::AgentName;
use consort_core::presence::CallerFacts;
use consort_core::text;
use consort_host::Machine;
use consort_host::Tmux;
use consort_host::env;
use serde_json::Value;

use self::follow::Follow;
use super::with;
use crate::connect;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::panes::background;
use crate::panes::launch::Launch;
use crate::person;
use crate::world::OpenWorld;
use crate::world::World;

/// Most agents that are opened at once.
const MOST: usize = 20;

/// Most characters of a prompt that are kept for the reviewer.
const PROMPT: usize = 16_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent CLI, and how many of it: `claude`, `2 codex`
    #[arg(num_args = 1..=2, required = true, value_name = "N> <CLI")]
    what: Vec<String>,
    /// Its task
    #[arg(long, conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// The same, from a file; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// Its name
    #[arg(long)]
    name: Option<String>,
    /// The directory it works in
    #[arg(long, value_name = "DIR", conflicts_with = "worktree")]
    cwd: Option<PathBuf>,
    /// In a git worktree of its own, on this branch or a new one
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    worktree: Option<String>,
    /// Show it: here, or in a window of its own (`--attach=window`)
    #[arg(long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "here", value_parser = ["here", "window"])]
    attach: Option<String>,
    /// Its permissions without asking: `plan`, `ask`, `edit`, `full`
    #[arg(long, value_name = "MODE", value_parser = ["plan", "ask", "edit", "full"])]
    permissions: Option<String>,
    /// Answer for you that its folder and its hooks are trusted, if it asks (Codex: all hooks,
    /// those of the repository too)
    #[arg(long)]
    trust: bool,
    /// Have what it did reviewed when it has finished
    #[arg(long)]
    review: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// More arguments for the CLI
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,
}

/// An agent that was opened, with its pane.
struct Pane {
    name: AgentName,
    number: Number,
    address: PaneAddress,
    cwd: PathBuf,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let (count, cli) = meant(&args.what)?;
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let prompt = prompt(args)?;
    let permissions = args.permissions.as_deref().and_then(Permissions::named);
    let arguments = arguments(cli, permissions, prompt.as_deref(), &args.arguments)?;
    let tmux = Tmux::new(&world.paths.data);
    let place =
        WorkPlace { cwd: args.cwd.clone(), worktree: args.worktree.clone(), is_reviewed: args.review };
    let mut panes = Vec::new();
    for at in 0..count {
        let request = MayOpenRequest {
            caller: caller.clone(),
            name: args.name.clone().map(|name| if at > 0 { format!("{name}{}", at + 1) } else { name }),
            permissions,
            has_arguments: !args.arguments.is_empty() || args.trust,
        };
        let (by, name) = opened.app.may_open(&request)?;
        let wanted = OpenWanted { cli, by, name, prompt: &prompt, arguments: &arguments };
        panes.push(open_one(world, &mut opened, &tmux, &place, &wanted)?);
    }
    // While this command waits, it watches the other panes too.
    let watching = background::watch(world);
    let follow = Follow { world, tmux: &tmux, cli, prompt: prompt.as_deref(), trusts: args.trust };
    let mut is_all_well = true;
    let mut items = Vec::new();
    for pane in &panes {
        let started = follow.follow(&mut opened, pane)?;
        is_all_well &= started.is_well();
        if args.json {
            items.push(started.item(pane));
        } else {
            world.out.line(started.line(pane))?;
        }
    }
    drop(watching);
    match (args.json, items.as_slice()) {
        (false, _) => {}
        (true, [one]) if count == 1 => world.out.one(&mut opened.app, "pane", one)?,
        (true, all) => world.out.items(&mut opened.app, &all)?,
    }
    match (args.attach.as_deref(), panes.first()) {
        (Some("window"), _) => panes.iter().try_for_each(|pane| attach::in_window(&pane.address))?,
        (Some(_), Some(pane)) => attach::here(&tmux, &pane.address)?,
        _ => {}
    }
    Ok(if is_all_well { ExitCode::SUCCESS } else { ExitCode::from(exit::FOUND_SOMETHING) })
}

/// Opens an agent for another agent; returns how that went, as a sentence and as JSON.
pub(crate) fn open_for_agent(
    world: &World,
    caller: CallerFacts,
    wish: &AgentOpenRequest,
) -> Result<(String, Value), CommandError> {
    let (_, cli) = meant(std::slice::from_ref(&wish.cli))?;
    let mut opened = world.open()?;
    let AgentOpenRequest { name, permissions, prompt, in_worktree, .. } = wish;
    let request =
        MayOpenRequest { caller, name: name.clone(), permissions: *permissions, has_arguments: false };
    let (by, name) = opened.app.may_open(&request)?;
    let arguments = arguments(cli, *permissions, Some(prompt), &[])?;
    let place = WorkPlace { cwd: None, worktree: in_worktree.then(String::new), is_reviewed: false };
    let prompt = Some(prompt.clone());
    let tmux = Tmux::new(&world.paths.data);
    let wanted = OpenWanted { cli, by, name, prompt: &prompt, arguments: &arguments };
    let pane = open_one(world, &mut opened, &tmux, &place, &wanted)?;
    let follow = Follow { world, tmux: &tmux, cli, prompt: prompt.as_deref(), trusts: false };
    let started = follow.follow(&mut opened, &pane)?;
    Ok((started.line(&pane), started.item(&pane)))
}

pub(crate) use attach::here as attach_here;
pub(crate) use attach::in_window as attach_in_window;

/// Parses how many agents of which CLI are wanted.
fn meant(words: &[String]) -> Result<(usize, &'static dyn AgentCli), CommandError> {
    let (count, kind) = match words {
        [kind] => ("1", kind),
        [count, kind, ..] => (count.as_str(), kind),
        [] => ("1", &words[0]),
    };
    let cli = consort_agents::find(kind).ok_or_else(|| {
        let (what, hint) = connect::no_such_cli(kind);
        CommandError::usage(what, vec![hint])
    })?;
    let count = count.parse::<usize>().ok().filter(|count| (1..=MOST).contains(count));
    let wrong = || {
        CommandError::usage("how many is a number", vec![format!("from 1 to {MOST}: consort open 2 claude")])
    };
    Ok((count.ok_or_else(wrong)?, cli))
}

fn prompt(args: &Args) -> Result<Option<String>, CommandError> {
    let text = match (&args.prompt, &args.prompt_file) {
        (Some(prompt), _) => Some(prompt.clone()),
        (None, Some(file)) if file == Path::new("-") => Some(
            std::io::read_to_string(std::io::stdin())
                .map_err(|error| CommandError::file("cannot read", file, error))?,
        ),
        (None, Some(file)) => {
            Some(fs::read_to_string(file).map_err(|error| CommandError::file("cannot read", file, error))?)
        }
        (None, None) => None,
    };
    Ok(text.map(|text| text.trim_end().to_owned()).filter(|text| !text.is_empty()))
}

/// Returns the CLI's arguments, besides those that connect it.
fn arguments(
    cli: &dyn AgentCli,
    permissions: Option<Permissions>,
    prompt: Option<&str>,
    own: &[String],
) -> Result<Vec<String>, CommandError> {
    let mut arguments = Vec::new();
    if let Some(permissions) = permissions {
        let words = cli.permission_arguments(permissions).ok_or_else(|| {
            CommandError::user(
                format!(
                    "{} cannot be told to be so with its permissions: {}",
                    cli.title(),
                    permissions.as_str()
                ),
                "leave `--permissions` out, or say it in its own words after `--`",
            )
        })?;
        arguments.extend(words.iter().map(|word| (*word).to_owned()));
    }
    arguments.extend(own.iter().cloned());
    arguments.extend(prompt.map(|prompt| cli.prompt_arguments(prompt)).unwrap_or_default());
    Ok(arguments)
}

/// The directory or worktree an agent is to work in, and whether its work is reviewed.
struct WorkPlace {
    cwd: Option<PathBuf>,
    /// The branch of a worktree of the agent's own; if empty, a new one.
    worktree: Option<String>,
    is_reviewed: bool,
}

/// An agent to be opened.
struct OpenWanted<'a> {
    cli: &'static dyn AgentCli,
    by: Actor,
    name: AgentName,
    prompt: &'a Option<String>,
    arguments: &'a [String],
}

fn open_one(
    world: &World,
    opened: &mut OpenWorld,
    tmux: &Tmux,
    place: &WorkPlace,
    wanted: &OpenWanted<'_>,
) -> Result<Pane, CommandError> {
    let OpenWanted { cli, by, name, prompt, arguments } = wanted;
    let cwd = match (&place.cwd, &place.worktree) {
        (Some(dir), _) => fs::canonicalize(world.cwd.join(dir))
            .map_err(|error| CommandError::file("cannot use", dir, error))?,
        (None, Some(branch)) => worktree::make(&opened.place, branch, name)?,
        (None, None) => world.cwd.clone(),
    };
    let run = with::connected_run(world, *cli, &cwd, arguments, &env::get)?;
    let mut launch = Launch::new(run.program, run.arguments);
    launch.environment.extend(run.variables);
    launch.environment.insert("CONSORT_NAME".into(), name.to_string());
    let id: String = opened.app.host().random().iter().map(|byte| format!("{byte:02x}")).collect();
    let new = NewPane {
        server: Tmux::server_socket(),
        name: name.to_string(),
        cwd: cwd.clone(),
        command: launch.command(world, &id)?,
    };
    let address = tmux.open(&new).map_err(|error| match error {
        TerminalError::Gone { .. } => CommandError::user(
            format!("{} ended at once", cli.title()),
            format!("`consort with {}` shows what it says", cli.kind()),
        ),
        error => error.into(),
    })?;
    let pid = tmux.sweep(&address.server, &[])?.panes.get(&address.id).map_or(0, |facts| facts.pid);
    let (project, _) = opened.app.project(&cwd)?;
    let keeps_prompts = opened.config.get("privacy.store_prompts") == "true";
    let record = OpenedPane {
        place: opened.app.pane_identity(&address, pid),
        name: name.clone(),
        cli: cli.kind().to_owned(),
        project: Some(project.id),
        cwd: cwd.clone(),
        by: by.clone(),
        prompt: prompt.as_ref().filter(|_| keeps_prompts).map(|prompt| prompt.chars().take(PROMPT).collect()),
        base: Machine::new(&world.paths.data).commit(&cwd),
        is_reviewed: place.is_reviewed || opened.config.get("monitor.review") == "always",
    };
    let number = opened.app.note_opened(record)?;
    Ok(Pane { name: name.clone(), number, address, cwd })
}

/// Formats a path for people.
fn shown(path: &Path) -> String {
    text::one_line(&path.to_string_lossy(), 200)
}
