//! `consort thread`

use consort_core::journal::Seq;

use super::mailbox;
use super::number;
use super::posts;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Any message of the thread
    #[arg(value_parser = number)]
    number: Seq,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let thread = opened.app.thread(args.number)?;
    if args.json {
        return world.out.json(&thread);
    }
    let me = mailbox(&mut opened)?;
    world.out.text(posts(&thread, &me, opened.app.host().now()))
}
