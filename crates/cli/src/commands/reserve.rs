//! The command `consort reserve`: keeps others from writing files while you work on
//! them.

use std::time::Duration;

use consort_core::claims;
use consort_core::claims::ClaimError;
use consort_core::claims::Hold;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldOutcome;
use consort_core::claims::HoldRequest;
use consort_core::claims::Strength;
use consort_core::text;

use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::hold_wait::HoldWait;
use crate::output;
use crate::person;
use crate::render::holds::number;
use crate::render::holds::shown;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files, directories (`src/auth/`) or globs (`'src/**/*.rs'`): all or none
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Only tell others that you work on it; also for `topic:auth`, `port:3000`, any words
    #[arg(long, conflicts_with = "wait")]
    advisory: bool,
    /// Share it with others who share it
    #[arg(long)]
    shared: bool,
    /// Why: others read it
    #[arg(long)]
    reason: Option<String>,
    /// Release it by itself after this time: `30m`, `2h` (a bare number: seconds); reserving again renews it
    #[arg(long, value_name = "TIME", value_parser = some_time)]
    ttl: Option<Duration>,
    /// Wait until others have released them
    #[arg(long)]
    wait: bool,
    /// Most time to wait: `30s`, `5m`; exits 7 if they are still reserved
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = time::parse_duration)]
    timeout: Option<Duration>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let is_topic = |what: &&String| what.starts_with("topic:") || what.starts_with("port:");
    if let (false, Some(topic)) = (args.advisory, args.paths.iter().find(is_topic)) {
        return Err(CommandError::user(
            format!("{} is not a path", text::foreign(topic, 100)),
            format!("tell others: consort reserve --advisory {}", text::shell_quoted(topic)),
        ));
    }
    let mut opened = world.open()?;
    let outcome = match args.wait {
        false => hold(world, &mut opened, args)?,
        true => wait(world, &mut opened, args)?,
    };
    if args.json {
        world.out.items(&mut opened.app, &outcome.holds)?;
        return Ok(ExitCode::SUCCESS);
    }
    let advisory = if args.advisory { "advisory, " } else { "" };
    for hold in &outcome.holds {
        let number = number(hold, Some(&opened.project.id));
        world.out.line(format!("Reserved {} ({advisory}{number}).", shown(hold)))?;
    }
    if args.advisory {
        return Ok(ExitCode::SUCCESS);
    }
    for (typed, hold) in args.paths.iter().zip(&outcome.holds) {
        remark(world, &opened, typed, hold);
    }
    let now = opened.app.host().now();
    for hold in &outcome.overrides {
        output::note(format_args!("Note: {}", claims::override_notice(hold, now)));
    }
    match opened.config.get("claims.enforcement") {
        "block" => {}
        policy => {
            output::note(format_args!("Enforcement is `{policy}` here: others are not kept from writing."))
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a note if a reservation may not be what was meant.
fn remark(world: &World, opened: &OpenWorld, typed: &str, hold: &Hold) {
    let shown = text::foreign(typed, 200);
    if hold.project.as_ref() != Some(&opened.project.id) {
        let place = if hold.project.is_none() { "in no git repository" } else { "in another project" };
        return output::note(format_args!(
            "Note: {shown} is {place}. Agents of every project are kept from writing it."
        ));
    }
    let is_plain = !typed.contains(['*', '?', '[', '{']) && !typed.ends_with('/');
    if is_plain && std::fs::symlink_metadata(world.cwd.join(typed)).is_err() {
        output::note(format_args!(
            "Note: {shown} does not exist. It is reserved as a file; a directory ends in `/`."
        ));
    }
}

/// Waits until nobody else holds the paths, and reserves them.
fn wait(world: &World, opened: &mut OpenWorld, args: &Args) -> Result<HoldOutcome, CommandError> {
    let mut hold_wait = HoldWait::new(world, opened, args.timeout)?;
    loop {
        match hold(world, opened, args) {
            Err(CommandError::Explained { error, kind, hints }) => {
                let held = match error.downcast_ref::<ClaimError>() {
                    Some(ClaimError::Held(held)) => held.clone(),
                    _ => return Err(CommandError::Explained { error, kind, hints }),
                };
                if !hold_wait.wait(opened, &held)? {
                    let why = CommandError::Explained { error, kind, hints };
                    return Err(CommandError::TimedOut(Box::new(why)));
                }
            }
            granted => {
                hold_wait.stop(opened);
                return granted;
            }
        }
    }
}

/// Reserves the paths, or fails if others hold them.
fn hold(world: &World, opened: &mut OpenWorld, args: &Args) -> Result<HoldOutcome, CommandError> {
    let caller = person::acting_caller(&mut opened.app)?;
    Ok(opened.app.hold(&HoldRequest {
        caller,
        cwd: world.cwd.clone(),
        what: args.paths.clone(),
        strength: if args.advisory { Strength::Advisory } else { Strength::Blocking },
        mode: if args.shared { HoldMode::Shared } else { HoldMode::Exclusive },
        reason: args.reason.clone(),
        ttl: args.ttl.map(|ttl| i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 4)),
    })?)
}

/// Parses a time to live, a second at least.
fn some_time(text: &str) -> Result<Duration, String> {
    let time = time::parse_duration(text)?;
    if time < Duration::from_secs(1) { Err("expected a second at least".into()) } else { Ok(time) }
}
