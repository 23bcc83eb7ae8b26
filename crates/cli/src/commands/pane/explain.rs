//! The command `consort pane explain`: says what a saved screen shows.

use std::fs;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use consort_agents::AgentCli;
use consort_agents::screen;
use consort_core::Timestamp;
use consort_core::host::Clock as _;
use consort_core::monitor::Capture;
use consort_core::monitor::PaneReading;
use consort_core::monitor::Signature;
use consort_core::monitor::classify;
use consort_host::Machine;
use serde_json::json;

use super::super::init::kinds;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A saved screen, as `tmux capture-pane -p` or `-pe` prints it
    #[arg(long, value_name = "FILE")]
    capture: PathBuf,
    /// Whose screen it is
    #[arg(long, value_parser = PossibleValuesParser::new(kinds()))]
    cli: String,
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

/// A screen is a few kilobytes; what is longer is none.
const LONGEST: u64 = 1 << 20;

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let cannot = |error| CommandError::file("cannot read", &args.capture, error);
    if fs::metadata(&args.capture).map_err(cannot)?.len() > LONGEST {
        return Err(CommandError::user(
            "the file is too long to be a screen",
            "save one with `tmux capture-pane -pe -t <pane>`",
        ));
    }
    let text = fs::read(&args.capture).map_err(cannot)?;
    let mut capture = Capture::new(&String::from_utf8_lossy(&text)).with_title(&args.title);
    if let Some(command) = &args.command {
        capture = capture.with_command(command);
    }
    let Some(cli) = consort_agents::find(&args.cli) else { return Ok(()) };
    let reading = classify(&capture, &signature(world, cli)?);
    if !args.json {
        return show(world, &reading);
    }
    let now = Machine::new(&world.paths.data).now();
    let options: Vec<&str> = reading.options.iter().map(|option| option.label.as_str()).collect();
    let selected = reading.options.iter().find(|option| option.is_selected);
    let reset = reading.resets.as_deref().and_then(|told| time::parse_reset(told, now));
    world.out.json(&json!({ "at": now.rfc3339(), "pane": {
        "cli": args.cli,
        "state": reading.state.as_str(),
        "rule": reading.rule,
        "lines": reading.lines,
        "question": reading.question,
        "options": options,
        "selected": selected.map(|option| &option.label),
        "attempt": reading.attempt,
        "reset_at": reset.map(Timestamp::rfc3339),
        "resume": reading.resume,
    }}))
}

/// The rules for a CLI: the user's own, in `screens/<cli>.toml` beside `config.toml`, or
/// those that come with us.
fn signature(world: &World, cli: &dyn AgentCli) -> Result<Signature, CommandError> {
    let own = world.paths.config.join("screens").join(format!("{}.toml", cli.kind()));
    match fs::read_to_string(&own) {
        Ok(text) => screen::signature(&text).map_err(|error| {
            CommandError::user(
                format!("{} has no rules for screens: {error}", own.display()),
                "fix it, or move it away: then the rules that come with consort are used",
            )
        }),
        Err(_) => screen::signature(cli.screen()).map_err(|error| CommandError::user(error.to_string(), "")),
    }
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
