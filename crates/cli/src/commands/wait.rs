//! The command `consort wait`: blocks until a path is free, or until an agent is idle.

use std::time::Duration;
use std::time::Instant;

use consort_core::host::NewsTopic;
use consort_core::presence::Status;
use consort_core::text;
use consort_host::notify::Listener;

use super::who;
use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::hold_wait::HoldWait;
use crate::output;
use crate::render::agents;
use crate::time;
use crate::world::World;
use crate::world::caller_facts;

/// Interval between two looks, since a session's status changes without a notification.
const TICK: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The path to wait for
    #[arg(required_unless_present = "idle")]
    path: Option<String>,
    /// Wait until this agent is idle or gone instead
    #[arg(long, value_name = "AGENT", conflicts_with = "path")]
    idle: Option<String>,
    /// Most time to wait: `30s`, `5m`; exits 7 when it is over
    #[arg(long, value_name = "TIME", value_parser = time::parse_duration)]
    timeout: Option<Duration>,
}

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    match (&args.idle, &args.path) {
        (Some(agent), _) => idle(world, agent, args.timeout),
        (None, path) => free(world, path.as_deref().unwrap_or_default(), args.timeout),
    }
}

/// Waits until nobody else has reserved a path.
fn free(world: &World, path: &str, timeout: Option<Duration>) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    if std::fs::symlink_metadata(world.cwd.join(path)).is_err()
        && let Ok(agent) = opened.app.find_agent(path)
        && agent.name.as_str().eq_ignore_ascii_case(path)
    {
        let hint = format!("until it is idle: consort wait --idle {}", agent.name);
        return Err(CommandError::user(format!("{} is an agent and no path", agent.name), hint));
    }
    let mut hold_wait = HoldWait::new(world, &opened, timeout)?;
    loop {
        let caller = caller_facts(&opened.app);
        let outcome = opened.app.explain_path(&caller, &world.cwd, path)?;
        if !outcome.reserved {
            hold_wait.stop(&mut opened);
            let what = match outcome.reserved_elsewhere {
                true => "is reserved in another worktree, which does not stop you here",
                false => "is free",
            };
            world.out.line(format!("{} {what}.", text::foreign(&outcome.path, 200)))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !hold_wait.wait(&mut opened, &outcome.holds)? {
            output::note(format_args!("{} is still reserved.", text::foreign(&outcome.path, 200)));
            return Ok(ExitCode::from(exit::TIMED_OUT));
        }
    }
}

/// Waits until an agent is idle or gone.
fn idle(world: &World, agent: &str, timeout: Option<Duration>) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let agent = opened.app.find_agent(agent)?;
    let topic = NewsTopic::Project(agent.project.id.clone());
    let mut listener = Listener::open(&world.paths.listeners(), Some(&topic)).map_err(cannot_wait)?;
    loop {
        let seen = who::agents_here(world, &mut opened, true)?.agents;
        let status = seen.into_iter().find(|seen| seen.agent.session == agent.session);
        let status = status.map_or(Status::Gone, |seen| seen.status);
        if status.is_idle() || status == Status::Gone {
            world.out.line(format!("{} is {}.", agent.name, agents::status(status)))?;
            return Ok(ExitCode::SUCCESS);
        }
        let left = until.map_or(TICK, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            output::note(format_args!("{} is still {}.", agent.name, agents::status(status)));
            return Ok(ExitCode::from(exit::TIMED_OUT));
        }
        listener.wait(None, left.min(TICK)).map_err(cannot_wait)?;
        opened.app.close_if_replaced();
    }
}
