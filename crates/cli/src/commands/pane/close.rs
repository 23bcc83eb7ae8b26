//! The command `consort pane close`: ends opened agents, with all that they have started.

use std::time::Duration;

use consort_core::host::Repositories as _;
use consort_core::journal::Actor;
use consort_core::monitor::Ended;
use consort_core::monitor::PaneLook;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::PaneViewer as _;
use consort_core::monitor::end_pane;
use consort_core::presence::AgentName;
use consort_core::secrets::redacted;
use consort_core::text;
use consort_host::Machine;
use consort_host::Tmux;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes;
use crate::person;
use crate::world::OpenWorld;
use crate::world::World;

/// Most of the agent's last lines that are shown, and most characters of each.
const LINES: usize = 5;
const WIDTH: usize = 200;

/// Most characters of a diff in the JSON.
const DIFF: usize = 256 << 10;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agents
    #[arg(required_unless_present = "all")]
    agents: Vec<String>,
    /// All that were opened
    #[arg(long, conflicts_with = "agents")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let panes = match args.all {
        true => {
            let all = opened.app.panes()?.into_iter().filter(|pane| pane.opener().is_some());
            let mut yours = Vec::new();
            for pane in all {
                if opened.app.require_pane_access(&caller, &pane).is_ok() {
                    yours.push(pane);
                }
            }
            yours
        }
        false => args.agents.iter().map(|name| opened.app.find_pane(name)).collect::<Result<_, _>>()?,
    };
    let mut items = Vec::new();
    for pane in &panes {
        let actor = opened.app.require_pane_access(&caller, pane)?;
        items.push(close(world, &mut opened, pane, actor, args.json)?);
    }
    if args.json {
        return world.out.items(&mut opened.app, &items);
    }
    if panes.is_empty() { world.out.line("Nothing is open.") } else { Ok(()) }
}

/// Ends an opened agent, prints how that went unless JSON is wanted, and returns it as JSON. Refuses a pane
/// that we did not open: it has more in it than an agent.
pub(crate) fn close(
    world: &World,
    opened: &mut OpenWorld,
    pane: &PaneSubject,
    actor: Actor,
    is_json: bool,
) -> Result<serde_json::Value, CommandError> {
    if pane.opener().is_none() {
        return Err(CommandError::user(
            format!("{} was not opened by consort, and its terminal is not consort's to close", pane.name()),
            format!("end it there: consort pane focus {}", pane.name()),
        ));
    }
    let tmux = Tmux::new(&world.paths.data);
    let sweep = tmux.sweep(&pane.address.server, &[]).unwrap_or_default();
    let record = pane.record.as_ref().and_then(|record| record.place().cloned());
    let facts = sweep.panes.get(&pane.address.id);
    // Since then another pane may have got this address, in another server of that name.
    let is_it = facts.is_some_and(|facts| record.as_ref().is_none_or(|place| place.process.pid == facts.pid));
    let ended = match facts.filter(|_| is_it) {
        Some(facts) => end_pane(&tmux, &pane.address, facts.pid)?,
        None => Ended::default(),
    };
    let signature = panes::signature_of(world, &opened.app, pane.cli())?;
    let screen = ended.last_lines.clone();
    let facts = consort_core::monitor::PaneFacts { is_dead: true, ..Default::default() };
    let resume = PaneLook::new(facts, screen, &signature, Duration::MAX).reading.resume;
    let name = pane.name();
    if let Some(place) = &record {
        opened.app.note_closed(place, &AgentName::from(name.clone()), actor)?;
    }
    let begun = pane.record.as_ref().and_then(|record| record.opened.as_ref());
    let cwd = begun.map(|opened| opened.cwd.clone());
    let cwd = cwd.or_else(|| pane.agent.as_ref().map(|agent| agent.location.cwd.clone())).unwrap_or_default();
    let base = begun.and_then(|opened| opened.base.as_deref());
    let diff = base.and_then(|base| consort_host::diff_since(&cwd, base)).unwrap_or_default();
    let changes = Machine::new(&world.paths.data).changes(&cwd);
    let last: Vec<String> = redacted(&ended.last_lines)
        .lines()
        .filter(|line| says_something(line))
        .map(|line| text::one_line(line.trim_end(), WIDTH))
        .collect();
    let last = &last[last.len().saturating_sub(LINES)..];
    if !is_json {
        report(world, &name, &ended, last)?;
        if !changes.is_empty() {
            world
                .out
                .line(format!("Not committed there: {}", text::first_few(changes.iter().cloned(), 8)))?;
        }
        if let Some(base) = base.filter(|_| !diff.is_empty()) {
            let (added, removed) = lines_of(&diff);
            let (cwd, base) = (text::shell_quoted(&cwd.to_string_lossy()), base.get(..12).unwrap_or(base));
            world.out.line(format!(
                "Changed there since it was opened, by anyone: +{added} -{removed} lines (git -C {cwd} diff {base})"
            ))?;
        }
        if let Some(resume) = &resume {
            world.out.line(format!("Resume it: {resume}"))?;
        }
    }
    let diff: String = redacted(&diff).chars().take(DIFF).collect();
    let left: Vec<u32> = ended.left.iter().map(|one| one.process.pid).collect();
    Ok(panes::with_agent(
        pane,
        json!({ "lines": last, "changes": changes, "diff": diff,
        "resume": resume, "cwd": cwd, "forced": ended.forced, "left": left }),
    ))
}

/// Tells whether a line is more than a frame, and the program's own: tmux adds a line at the program's end.
fn says_something(line: &str) -> bool {
    line.chars().any(char::is_alphanumeric) && !line.starts_with("Pane is dead (")
}

/// Counts the lines that a diff adds and removes.
fn lines_of(diff: &str) -> (usize, usize) {
    let (mut lines, mut is_header) = ((0, 0), true);
    for line in diff.lines() {
        match line.as_bytes().first() {
            Some(b'd') => is_header = true,
            Some(b'@') => is_header = false,
            Some(b'+') if !is_header => lines.0 += 1,
            Some(b'-') if !is_header => lines.1 += 1,
            _ => {}
        }
    }
    lines
}

fn report(world: &World, name: &str, ended: &Ended, last: &[String]) -> CommandResult {
    let how = match (ended.left.len(), ended.forced) {
        (0, 0) => "Closed".to_owned(),
        (0, forced) => format!("Closed ({} had to be ended by force)", text::counted_noun(forced, "process")),
        (left, _) => {
            format!("{} of it cannot be ended. Closed otherwise", text::counted_noun(left, "process"))
        }
    };
    world.out.line(format!("{how}: {name}"))?;
    last.iter().try_for_each(|line| world.out.line(format!("  {line}")))
}
