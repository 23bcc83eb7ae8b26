//! The command `consort override`: lets everyone write a reserved path for a while.

use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::render::holds::shown;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What everyone may write, whoever has reserved it
    path: String,
    /// For how long
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_440))]
    minutes: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let what = format!("let everyone write {} for {} minutes", text::foreign(&args.path, 120), args.minutes);
    let caller = person::confirmed(&mut opened.app, &what)?;
    let hold = opened.app.override_hold(&caller, &world.cwd, &args.path, args.minutes)?;
    if args.json {
        return world.out.json(&hold);
    }
    let minutes = text::count(args.minutes as usize, "minute");
    world.out.line(format!("Everyone may write {} for {minutes}.", shown(&hold)))
}
