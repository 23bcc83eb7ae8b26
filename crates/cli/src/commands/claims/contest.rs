//! `consort contest`

use crate::error::CommandResult;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What another holds and you need
    resource: String,
    /// Why: the holder reads it
    #[arg(long)]
    reason: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut room = world.open()?;
    let caller = caller_facts(room.app.host());
    let hold = room.app.contest(&caller, &world.cwd, &args.resource, args.reason.as_deref())?;
    if args.json {
        return world.out.json(&hold);
    }
    let (resource, seconds) = (hold.resource.shown(), room.config.contest_seconds());
    world.out.line(format!(
        "Contested `{resource}`; {} was told. Without an answer, after {seconds} s: consort release --force '{resource}'",
        hold.label
    ))
}
