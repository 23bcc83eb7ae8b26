//! `consort override`

use consort_core::text;

use super::shown;
use crate::error::CommandResult;
use crate::world::World;
use crate::world::caller_facts;

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
    let mut room = world.open()?;
    let caller = caller_facts(&room.app);
    let hold = room.app.lift(&caller, &world.cwd, &args.path, args.minutes)?;
    if args.json {
        return world.out.json(&hold);
    }
    let minutes = text::count(args.minutes as usize, "minute");
    world.out.line(format!("Everyone may write {} for {minutes}.", shown(&hold)))
}
