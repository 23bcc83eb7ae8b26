//! The command `consort thread`: shows a message with its replies.

use consort_core::messages::MessageName;

use super::inbox::mailbox;
use crate::error::CommandResult;
use crate::render::messages::posts;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Any message of the thread: `41`, or `web#41` for one of another project
    #[arg(value_name = "NUMBER")]
    message: MessageName,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let thread = opened.app.thread(&args.message, Some(&opened.project.id))?;
    if args.json {
        return world.out.json(&thread);
    }
    let me = mailbox(&mut opened)?;
    world.out.text(posts(&thread, &me, &opened.project.id, opened.app.host().now()))
}
