//! The command `consort who`: lists the agents of this project, or shows one of them.

use std::path::Path;

use consort_core::App;
use consort_core::presence::Caller;
use consort_core::presence::WhoOutcome;
use consort_core::presence::WhoScope;
use consort_core::text;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::observe;
use crate::render::agents;
use crate::world::OpenWorld;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(crate) struct Args {
    /// Only this one, in detail
    agent: Option<String>,
    /// Every project, and the last hundred that left within a day
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let mut outcome = agents_here(world, &mut opened, args.all || args.agent.is_some())?;
    if let Some(name) = &args.agent {
        let agent = opened.app.find_agent(name)?;
        outcome.agents.retain(|seen| seen.agent.session == agent.session);
    }
    if args.json {
        let mut items = Vec::new();
        for seen in &outcome.agents {
            items.push(opened.app.who_item(seen)?);
        }
        return match (&args.agent, items.pop()) {
            (Some(_), Some(agent)) => world.out.one(&mut opened.app, "agent", &agent),
            (_, last) => world.out.items(&mut opened.app, &items.into_iter().chain(last).collect::<Vec<_>>()),
        };
    }
    if let (Some(_), Some(seen)) = (&args.agent, outcome.agents.first()) {
        let mut lines = agents::detail(seen, outcome.at);
        lines.extend(outdated_shields(&mut opened.app, &seen.agent.location.worktree)?);
        return lines.iter().try_for_each(|line| world.out.line(line));
    }
    if let Some(project) = &outcome.project
        && outcome.agents.is_empty()
    {
        return world.out.line(format!("No agents are in {}.", text::one_line(&project.name, 60)));
    }
    world.out.text(agents::table(&outcome, world.out.style, world.out.width, usize::MAX))
}

/// Lists processes that began behind the shield and stayed, for which paths are still read-only that nobody
/// holds any more.
fn outdated_shields(app: &mut App, worktree: &Path) -> Result<Vec<String>, CommandError> {
    let caller = caller_facts(app);
    let mut lines = Vec::new();
    for process in consort_host::shield::shielded_processes(worktree) {
        let mut free = Vec::new();
        for path in &process.paths {
            if app.explain_path(&caller, worktree, &path.to_string_lossy())?.holds.is_empty() {
                free.push(text::foreign(&path.strip_prefix(worktree).unwrap_or(path).to_string_lossy(), 120));
            }
        }
        if !free.is_empty() {
            lines.push(format!(
                "Process {} still runs behind the shield ({}). For it stays read-only what nobody has reserved any \
                 more: {}.",
                process.pid,
                text::foreign(&process.command, 60),
                text::first_few(free, 4),
            ));
        }
    }
    Ok(lines)
}

/// Lists the agents that are here, with everything that can be observed of them.
pub(crate) fn agents_here(
    world: &World,
    opened: &mut OpenWorld,
    everywhere: bool,
) -> Result<WhoOutcome, CommandError> {
    let scope = if everywhere { WhoScope::Everywhere } else { WhoScope::Project(opened.project.clone()) };
    let you = match opened.caller()? {
        Caller::Agent(agent) => Some(agent.session),
        Caller::Person | Caller::Anonymous(_) => None,
    };
    Ok(opened.app.who(&scope, you.as_ref(), |agents| observe::look(&world.paths.home, agents))?)
}
