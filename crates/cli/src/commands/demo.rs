//! The command `consort demo`: plays a demonstration of less than a minute, with scripted agents and nothing
//! of the person's.

use crate::demo;
use crate::demo::Stage;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print what happened, counted, as JSON
    #[arg(long)]
    json: bool,
    /// Be an agent of the demo
    #[arg(long, hide = true)]
    act: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let failed =
        |error| CommandError::user(format!("the demo did not go as it should: {error}"), "consort doctor");
    if args.act {
        return demo::act().map_err(failed);
    }
    let stage = Stage::build(&world.out, args.json).map_err(failed)?;
    let summary = demo::tell(&stage).map_err(failed)?;
    if args.json {
        return world.out.one(&mut stage.app(), "demo", &summary);
    }
    drop(stage);
    world.out.line("")?;
    for line in consort_tui::wrap(&summary.told(), world.out.width.min(80)) {
        world.out.line(line)?;
    }
    world.out.line("Nothing of it is left. Now yours: `consort init`, then start your agents as always;")?;
    world.out.line("`consort` shows them all on one screen.")
}
