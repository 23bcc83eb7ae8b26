//! The command `consort journal rebuild`: empties the tables, and replays the journal
//! into them.

use consort_core::text;

use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(world: &World, _args: &Args) -> CommandResult {
    let mut app = world.app();
    person::confirmed_caller(&mut app, "make all tables again from the journal")?;
    let entries = app.journal_rebuild()?;
    world.out.line(format!("Rebuilt the tables from {}.", text::counted_noun(entries, "entry")))
}
