//! The command `consort wait`: blocks until nobody else has reserved a path.

use std::time::Duration;
use std::time::Instant;

use consort_core::text;
use consort_host::notify;
use consort_host::notify::Listener;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::output;
use crate::render::holds::shown;
use crate::time;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The path to wait for
    path: String,
    /// How long: `30s`, `5m`; exits 1 when it is still held
    #[arg(long, value_name = "TIME", value_parser = time::parse_duration)]
    timeout: Option<Duration>,
}

/// How often the holder is looked after: its process may end without a word.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let until = args.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    // Hung before the first look, so that nothing falls between the two.
    let mut listener = Listener::open(&world.paths.listeners(), None).map_err(cannot_wait)?;
    let mut has_said = false;
    loop {
        let caller = caller_facts(&opened.app);
        let outcome = opened.app.explain_path(&caller, &world.cwd, &args.path)?;
        if !outcome.reserved {
            world.out.line(format!("{} is free.", text::foreign(&outcome.path, 200)))?;
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(seen) = outcome.holds.iter().find(|seen| !seen.yours)
            && !has_said
        {
            output::note(format_args!("Waiting for {} to let go of {}.", seen.hold.label, shown(&seen.hold)));
            has_said = true;
        }
        let left =
            until.map_or(notify::POLL_INTERVAL, |until| until.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            output::note(format_args!("{} is still held.", text::foreign(&outcome.path, 200)));
            return Ok(ExitCode::from(exit::FOUND_SOMETHING));
        }
        listener.wait(None, left.min(LOOK)).map_err(cannot_wait)?;
        opened.app.close_if_replaced();
    }
}
