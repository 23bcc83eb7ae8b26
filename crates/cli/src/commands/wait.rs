//! The command `consort wait`: blocks until nobody else has reserved a path.

use std::time::Duration;

use consort_core::text;

use crate::error::CommandError;
use crate::exit;
use crate::exit::ExitCode;
use crate::hold_wait::HoldWait;
use crate::output;
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

pub(crate) fn run(world: &World, args: &Args) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    let mut hold_wait = HoldWait::new(world, &opened, args.timeout)?;
    loop {
        let caller = caller_facts(&opened.app);
        let outcome = opened.app.explain_path(&caller, &world.cwd, &args.path)?;
        if !outcome.reserved {
            hold_wait.stop(&mut opened);
            world.out.line(format!("{} is free.", text::foreign(&outcome.path, 200)))?;
            return Ok(ExitCode::SUCCESS);
        }
        if !hold_wait.wait(&mut opened, &outcome.holds)? {
            output::note(format_args!("{} is still held.", text::foreign(&outcome.path, 200)));
            return Ok(ExitCode::from(exit::FOUND_SOMETHING));
        }
    }
}
