//! The command `consort pane attach`: shows the pane of an agent.

use consort_host::Tmux;

use crate::commands::open::attach_here;
use crate::commands::open::attach_in_window;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent in the pane
    agent: String,
    /// In a window of its own
    #[arg(long)]
    window: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let pane = world.open()?.app.find_pane(&args.agent)?;
    match args.window {
        true => attach_in_window(&pane.address),
        false => attach_here(&Tmux::new(&world.paths.data), &pane.address),
    }
}
