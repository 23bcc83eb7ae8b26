//! The command `consort up`, and `consort` alone: finds and connects agent CLIs, and shows the
//! screen.

use std::io::IsTerminal as _;

use super::who;
use crate::connect;
use crate::connect::Consent;
use crate::connect::OfferedCli;
use crate::connect::Parts;
use crate::connect::State;
use crate::error::CommandResult;
use crate::render::agents;
use crate::screen;
use crate::screen::How;
use crate::screen::Phases;
use crate::screen::session;
use crate::world::World;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Connect without asking
    #[arg(short, long)]
    yes: bool,
    /// Begin with every project
    #[arg(long)]
    all: bool,
    /// Print what changes as plain lines, for screen readers, and take answers
    #[arg(long)]
    plain: bool,
    /// In this terminal, not in a tmux session of its own
    #[arg(long)]
    here: bool,
    /// Connecting was offered already: do not offer it
    #[arg(long, hide = true)]
    asked: bool,
}

/// Runs `consort up`: comes back to a screen that runs in a tmux session of its own, or begins one.
pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let interactive = world.out.is_terminal && std::io::stdin().is_terminal();
    let is_own = interactive && !args.here && !args.plain && !screen::is_dumb() && session::is_possible();
    if is_own && session::is_running() {
        return Err(session::enter(&world.cwd, &[]));
    }
    show(world, args, is_own)
}

/// Runs `consort` alone, on the person's terminal.
pub(crate) fn run_here(world: &World) -> CommandResult {
    show(world, &Args::default(), false)
}

/// Prints the CLIs that were found, asks whether to connect them, and shows the screen.
fn show(world: &World, args: &Args, is_in_session: bool) -> CommandResult {
    let mut phases = Phases::begin();
    let mut opened = world.open()?;
    phases.ended("opening the store");
    let mut connected = false;
    let interactive = world.out.is_terminal && std::io::stdin().is_terminal();
    let (found, missing): (Vec<_>, Vec<_>) = connect::connection_states(world, &opened.place.worktree)
        .into_iter()
        .partition(|standing| !standing.is_missing());
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|standing| standing.title).collect();
        world.out.line(format!("Not installed: {}", names.join(", ")))?;
    }
    let has_any = !found.is_empty();
    let mut targets = Vec::new();
    for standing in found {
        let found =
            standing.program.as_ref().map_or_else(String::new, |path| format!(" ({})", path.display()));
        world.out.line(format!("{}{found}: {}", standing.title, standing.sentence()))?;
        connected |= standing.is_connected();
        let Some(cli) = consort_agents::find(standing.kind) else { continue };
        if standing.is_connected() || standing.program.is_none() || !(interactive || args.yes) {
            continue;
        }
        let is_for_project = standing.project != State::Absent;
        targets.push(OfferedCli::new(world, cli, &opened.place.worktree, is_for_project));
    }
    phases.ended("finding agent CLIs");
    let consent = if args.yes { Consent::Given } else { Consent::Offer };
    let parts = Parts::offered(consent);
    let is_offered = opened.config.get("init.offer") == "true" && !args.asked;
    if !targets.is_empty() && (args.yes || is_offered) {
        // The screen is worth seeing even if connecting failed.
        connected |= connect::offer(world, &targets, parts, consent)?.0;
    }
    if !interactive {
        let outcome = who::agents_here(world, &mut opened, args.all)?;
        world.out.text(agents::table(&outcome, world.out.style, world.out.width, usize::MAX))?;
        return if has_any { Ok(()) } else { world.out.line(format!("Next: {}", connect::NEXT_WITHOUT_ANY)) };
    }
    phases.skip();
    let hint = match (connected, has_any) {
        (true, _) => "Open another terminal and run `claude`; it will appear here.",
        (false, true) => "`consort init` connects your agent CLIs.",
        (false, false) => connect::NEXT_WITHOUT_ANY,
    };
    if is_in_session {
        // The questions were asked here, so the screen's own process asks none.
        let mut words = vec!["up", "--here", "--asked"];
        words.extend(args.all.then_some("--all"));
        return Err(session::enter(&world.cwd, &words));
    }
    screen::show(
        world,
        &opened,
        How { everywhere: args.all, is_plain: args.plain || screen::is_dumb() },
        hint,
        phases,
    )
}
