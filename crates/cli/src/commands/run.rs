//! The command `consort run`: starts a run, and shows its progress and result.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use consort_core::dispatch::Cost;
use consort_core::dispatch::REASONING;
use consort_core::dispatch::RunOptions;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Safety;

use super::init::kinds;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::person;
use crate::render::runs as render;
use crate::runs::RunDir;
use crate::runs::follow;
use crate::runs::follow::Interrupts;
use crate::runs::review;
use crate::runs::start;
use crate::runs::start::RunWanted;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The task; `-` reads it from standard input
    #[arg(required_unless_present_any = ["file", "task"])]
    text: Option<String>,
    /// Read the task from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// Take a task of a spec, by its id or `next`: done with the run, or given back
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The spec of that task; without it, the one you took a task from last
    #[arg(long, value_name = "FILE", requires = "task")]
    spec: Option<PathBuf>,
    #[command(flatten)]
    how: HowArgs,
    /// The directory it works in
    #[arg(long, value_name = "DIR", conflicts_with = "worktree")]
    cwd: Option<PathBuf>,
    /// The name of its agent
    #[arg(long)]
    name: Option<String>,
    /// Wait for its end, and print its result (the default)
    #[arg(long, conflicts_with = "detach")]
    wait: bool,
    /// Leave it running, and print its number
    #[arg(long)]
    detach: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

// The options of a run, or of each of several: a doc comment would become the help of `run`.
#[derive(clap::Args, Clone)]
pub(crate) struct HowArgs {
    /// In which role: `consort roles list`
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Which agent CLI does it
    #[arg(long, value_parser = PossibleValuesParser::new(kinds()))]
    cli: Option<String>,
    /// Which model, as that CLI calls it
    #[arg(long)]
    model: Option<String>,
    /// The safety level: what it may do by itself
    #[arg(long, value_parser = PossibleValuesParser::new(Safety::ALL.map(Safety::as_str)))]
    safety: Option<String>,
    /// The model's reasoning effort
    #[arg(long, value_parser = PossibleValuesParser::new(REASONING.iter().copied()))]
    reasoning: Option<String>,
    /// In a git worktree of its own, which is merged back
    #[arg(long)]
    worktree: bool,
    /// Most time it may take: `10m`, `1h`
    #[arg(long, value_name = "TIME", value_parser = time::parse_duration)]
    timeout: Option<Duration>,
    /// Most it may cost, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    budget: Option<Cost>,
    /// Let a reviewer that only reads judge what it did
    #[arg(long)]
    review: bool,
    /// Not yet: presets come with the native worker
    #[arg(long, hide = true, value_parser = no_presets)]
    preset: Option<String>,
}

fn no_presets(_: &str) -> Result<String, String> {
    Err("there are no presets yet: they come with the native worker; `--role` and `--model` say how it works"
        .into())
}

fn dollars(text: &str) -> Result<Cost, String> {
    let amount =
        text.trim_start_matches('$').parse::<f64>().ok().filter(|amount| *amount > 0.0 && *amount <= 1e6);
    amount.map(Cost::from_dollars).ok_or_else(|| "expected an amount in dollars: 2.5".into())
}

impl HowArgs {
    /// Combines these options with a task.
    pub(crate) fn wanted(&self, task: String) -> RunWanted {
        RunWanted {
            task,
            words: RunOptions {
                cli: self.cli.clone(),
                model: self.model.clone(),
                safety: self.safety.as_deref().and_then(Safety::named),
                reasoning: self.reasoning.clone(),
                has_worktree: self.worktree,
                timeout_s: self.timeout.map(|timeout| timeout.as_secs().max(1)),
                budget: self.budget,
            },
            is_reviewed: self.review,
            ..RunWanted::default()
        }
    }
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let caller = person::acting_caller(&mut opened.app)?;
    let text = text(args)?;
    let role = crate::runs::role::named(world, &opened, args.how.role.as_deref())?;
    let wanted = RunWanted { cwd: args.cwd.clone(), name: args.name.clone(), ..args.how.wanted(text) };
    // Listens before the run begins: a Ctrl-C between the two would leave the run to itself.
    let interrupts = (!args.detach).then(Interrupts::listen);
    let run = match &args.task {
        None => start::start(world, &mut opened, &caller, &role, &wanted)?,
        Some(task) => {
            let spec = args.spec.clone();
            start::start_with_task(world, &mut opened, &caller, &role, &wanted, (task, spec))?
        }
    };
    match interrupts {
        None => detached(world, &mut opened, &run, args.json),
        Some(interrupts) => waited_for(world, &mut opened, &run, Some(&interrupts), args.json),
    }
}

pub(super) fn detached(
    world: &World,
    opened: &mut OpenWorld,
    run: &RunRecord,
    json: bool,
) -> Result<ExitCode, CommandError> {
    if json {
        let item = render::item(&opened.app, run);
        world.out.one(&mut opened.app, "run", &item)?;
    } else {
        let (number, name) = (run.number, &run.spec.name);
        world.out.line(format!("Run {number}: {name} ({}, {})", run.spec.role, run.spec.cli))?;
        output::note(format_args!(
            "`consort runs logs -f {number}` follows it, `consort runs stop {number}` ends it"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Follows a run to its end: its progress goes to standard error, its result to standard output.
pub(super) fn waited_for(
    world: &World,
    opened: &mut OpenWorld,
    run: &RunRecord,
    interrupts: Option<&Interrupts>,
    json: bool,
) -> Result<ExitCode, CommandError> {
    if !json {
        let (number, name) = (run.number, &run.spec.name);
        output::note(format_args!("Run {number}: {name} ({}, {})", run.spec.role, run.spec.cli));
    }
    let mut show = |line: &crate::runs::directory::RunLine| {
        if let Some(told) = render::told(&line.what).filter(|_| !json) {
            output::note(told);
        }
    };
    let ended = follow::to_the_end(world, &mut opened.app, run, interrupts, &mut show)?;
    let result = RunDir::of(&world.paths, run.id).read_result();
    if !json {
        if !result.trim().is_empty() {
            world.out.line(result.trim_end())?;
        }
        output::note(render::summary(&ended));
    }
    // Waiting for a run includes its review.
    let review = match review::of(opened, run)? {
        None => None,
        Some(review) => {
            if !json {
                output::note(format_args!("Run {} reviews it.", review.number));
            }
            Some(follow::to_the_end(world, &mut opened.app, &review, interrupts, &mut show)?)
        }
    };
    match (json, review) {
        (true, review) => {
            let mut item = render::item(&opened.app, &ended);
            item["result"] = result.into();
            item["review"] = review.map_or(serde_json::Value::Null, |review| review::found(world, &review));
            world.out.one(&mut opened.app, "run", &item)?;
        }
        (false, Some(review)) => {
            let found = RunDir::of(&world.paths, review.id).read_result();
            world.out.line(format!("\n{}", found.trim()))?;
            output::note(render::summary(&review));
        }
        (false, None) => {}
    }
    Ok(ExitCode::from(exit_code(&ended)))
}

/// Returns the exit code for a run that has ended.
pub(crate) fn exit_code(run: &RunRecord) -> u8 {
    match run.state {
        RunState::Done if run.end.as_ref().is_some_and(|end| end.is_unmerged) => exit::NOT_AS_ASKED,
        RunState::Done => 0,
        RunState::Timeout => exit::TIMED_OUT,
        RunState::BudgetExceeded => exit::REFUSED,
        _ => exit::RUN_FAILED,
    }
}

/// Reads the text for the run: an argument, a file or standard input; empty if it only takes a task of a
/// spec.
fn text(args: &Args) -> Result<String, CommandError> {
    let stdin = || {
        std::io::read_to_string(std::io::stdin())
            .map_err(|error| CommandError::file("cannot read", Path::new("-"), error))
    };
    let text = match (&args.text, &args.file) {
        (Some(text), _) if text == "-" => stdin()?,
        (Some(text), _) => text.clone(),
        (None, Some(file)) if file == Path::new("-") => stdin()?,
        (None, Some(file)) => {
            std::fs::read_to_string(file).map_err(|error| CommandError::file("cannot read", file, error))?
        }
        (None, None) => String::new(),
    };
    Ok(text.trim_end().to_owned())
}
