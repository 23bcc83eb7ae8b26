//! The command `consort holds override`: lets everyone write a reserved path for a while.

use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::render::holds::shown;
use crate::time;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Paths that everyone may write, reserved or not
    path: String,
    /// For how long, a day at most: `10m`, `1h`
    #[arg(long = "for", value_name = "TIME", default_value = "10m", value_parser = minutes)]
    minutes: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let what = format!("let everyone write {} for {} minutes", text::foreign(&args.path, 120), args.minutes);
    let caller = person::confirmed_caller(&mut opened.app, &what)?;
    let hold = opened.app.override_hold(&caller, &world.cwd, &args.path, args.minutes)?;
    if args.json {
        return world.out.one(&mut opened.app, "reservation", &hold);
    }
    let minutes = text::counted_noun(args.minutes as usize, "minute");
    world.out.line(format!("Everyone may write {} for {minutes}.", shown(&hold)))
}

/// Parses a time into whole minutes, one at least and a day at most.
fn minutes(text: &str) -> Result<u32, String> {
    let minutes = time::parse_duration(text)?.as_secs().div_ceil(60);
    let within = u32::try_from(minutes).ok().filter(|minutes| (1..=1_440).contains(minutes));
    within.ok_or_else(|| "expected a minute at least and a day at most".into())
}
