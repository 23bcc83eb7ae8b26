//! The command `consort runs reset`: hides the runs that have ended from the list.

use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(world: &World, _args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let what = format!("hide the ended runs of {} (the journal keeps them)", opened.project.name);
    let caller = person::confirmed_caller(&mut opened.app, &what)?;
    opened.app.hide_ended_runs(&caller, &opened.project.id.clone())?;
    world.out.line("Done: `consort runs list` begins anew. What they cost still counts.")
}
