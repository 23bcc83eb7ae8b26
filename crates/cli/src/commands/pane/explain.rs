//! The command `consort pane explain`: explains what a screen shows, live or saved.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::monitor::Capture;
use consort_core::monitor::PaneReading;
use consort_core::monitor::PaneSubject;
use consort_core::monitor::classify;
use consort_host::Machine;
use consort_host::Tmux;
use serde_json::Value;
use serde_json::json;

use super::super::init::kinds;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::panes;
use crate::panes::limits;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent in the pane, as it is now
    #[arg(required_unless_present = "capture", conflicts_with = "capture")]
    agent: Option<String>,
    /// A saved screen, as `tmux capture-pane -p` or `-pe` prints it
    #[arg(long, value_name = "FILE", requires = "cli")]
    capture: Option<PathBuf>,
    /// The CLI whose screen it is
    #[arg(long, value_parser = PossibleValuesParser::new(kinds()), requires = "capture")]
    cli: Option<String>,
    /// The title of the pane
    #[arg(long, default_value = "")]
    title: String,
    /// The program in its foreground
    #[arg(long)]
    command: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Longest file that can be a screen, in bytes: a screen is a few kilobytes.
const LONGEST: u64 = 1 << 20;

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    match (&args.agent, &args.capture, &args.cli) {
        (Some(agent), ..) => explain_live(world, agent, args.json),
        (None, Some(capture), Some(cli)) => explain_saved(world, args, capture, cli),
        // The parser accepts no other combination.
        (None, ..) => Ok(()),
    }
}

/// Explains what the pane of an agent shows now, since when, and what it showed before.
fn explain_live(world: &World, name: &str, is_json: bool) -> CommandResult {
    let mut opened = world.open()?;
    let subject = opened.app.find_pane(name)?;
    let look = panes::look(world, &opened.app, &Tmux::new(&world.paths.data), &subject)?;
    let glances = opened.app.published_glances();
    let glance =
        glances.iter().flat_map(|glances| &glances.panes).find(|glance| glance.address == subject.address);
    let heard = subject.heard.as_ref().map(|heard| format!("{:?}", heard.status).to_lowercase());
    let Some(reading) = look.map(|look| look.reading) else {
        return Err(CommandError::user(
            format!("the pane of {} is gone", subject.name()),
            "`consort pane list` shows which there are",
        ));
    };
    if is_json {
        let reset = reset_at(world, &subject, Some(&reading));
        let mut pane = panes::with_agent(&subject, item(world, subject.cli(), &reading));
        pane["reset_at"] = reset.map(Timestamp::rfc3339).into();
        pane["heard"] = heard.into();
        pane["since_at"] = glance.map(|glance| glance.since.rfc3339()).into();
        let before = |(at, state): &(Timestamp, String)| json!({ "at": at.rfc3339(), "state": state });
        pane["history"] = glance.map(|glance| glance.history.iter().map(before).collect::<Vec<_>>()).into();
        return world.out.one(&mut opened.app, "pane", &pane);
    }
    show(world, &reading)?;
    if let Some(heard) = heard {
        world.out.line(format!("Its hooks say: {heard}"))?;
    }
    let Some(glance) = glance else {
        return world.out.line("Nobody watches: `consort pane watch` would know since when.");
    };
    world.out.line(format!("Watched: {} since {}", glance.state, time::local(glance.since)))?;
    let before = glance.history.iter().rev().skip(1).take(5);
    before
        .into_iter()
        .try_for_each(|(at, state)| world.out.line(format!("  before: {state} since {}", time::local(*at))))
}

/// Returns the end of the limit that an agent's screen shows: the recorded time, else the one on the screen.
pub(super) fn reset_at(
    world: &World,
    subject: &PaneSubject,
    reading: Option<&PaneReading>,
) -> Option<Timestamp> {
    let now = Machine::new(&world.paths.data).now();
    let shown = || time::parse_reset(reading?.resets.as_deref()?, now);
    limits::reset_at(subject).or_else(shown)
}

fn explain_saved(world: &World, args: &Args, file: &Path, kind: &str) -> CommandResult {
    let cannot = |error| CommandError::file("cannot read", file, error);
    if fs::metadata(file).map_err(cannot)?.len() > LONGEST {
        return Err(CommandError::user(
            "the file is too long to be a screen",
            "save one with `tmux capture-pane -pe -t <pane>`",
        ));
    }
    let text = fs::read(file).map_err(cannot)?;
    let mut capture = Capture::new(&String::from_utf8_lossy(&text)).with_title(&args.title);
    if let Some(command) = &args.command {
        capture = capture.with_command(command);
    }
    let Some(cli) = consort_agents::find(kind) else { return Ok(()) };
    let reading = classify(&capture, &panes::signature(world, cli)?);
    if !args.json {
        return show(world, &reading);
    }
    let now = Machine::new(&world.paths.data).now();
    world.out.json(&json!({ "at": now.rfc3339(), "pane": item(world, kind, &reading) }))
}

/// Formats a reading as JSON.
fn item(world: &World, cli: &str, reading: &PaneReading) -> Value {
    let now = Machine::new(&world.paths.data).now();
    let options: Vec<&str> = reading.options.iter().map(|option| option.label.as_str()).collect();
    let selected = reading.options.iter().find(|option| option.is_selected);
    let reset = reading.resets.as_deref().and_then(|told| time::parse_reset(told, now));
    json!({
        "cli": cli,
        "state": reading.state.as_str(),
        "rule": reading.rule,
        "lines": reading.lines,
        "question": reading.question,
        "options": options,
        "selected": selected.map(|option| &option.label),
        "attempt": reading.attempt,
        "reset_at": reset.map(Timestamp::rfc3339),
        "resume": reading.resume,
    })
}

fn show(world: &World, reading: &PaneReading) -> CommandResult {
    let PaneReading { state, rule, lines, question, options, attempt, resets, resume } = reading;
    world.out.heading(state.as_str(), &format!(", by the rule \"{rule}\""))?;
    for line in lines {
        world.out.line(format!("  seen: {line}"))?;
    }
    if let Some(question) = question {
        world.out.line(format!("It asks: {question}"))?;
    }
    for option in options {
        let cursor = if option.is_selected { '>' } else { '-' };
        world.out.line(format!("  {cursor} {}", option.label))?;
    }
    let details = [("Attempt", attempt), ("Resets", resets), ("Resume", resume)];
    for (what, told) in details.into_iter().filter_map(|(what, told)| Some((what, told.as_ref()?))) {
        world.out.line(format!("{what}: {told}"))?;
    }
    Ok(())
}
