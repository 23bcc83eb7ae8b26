//! The command `consort sent`: shows the messages that you sent, and who has read them.

use super::inbox::mailbox;
use crate::error::CommandResult;
use crate::output;
use crate::render::messages::posts;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many of the latest to show
    #[arg(short = 'n', long, default_value_t = 10)]
    lines: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let me = mailbox(&mut opened)?;
    let sent = opened.app.sent(&me, args.lines)?;
    if args.json {
        return world.out.json(&sent);
    }
    if sent.is_empty() {
        output::note("You have sent nothing.");
    }
    world.out.text(posts(&sent, &me, &opened.project.id, opened.app.host().now()))
}
