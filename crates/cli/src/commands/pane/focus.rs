//! The command `consort pane focus`: brings the pane of an agent to the front, no matter who
//! started it.

use consort_core::monitor::PaneManager as _;
use consort_host::Tmux;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent in the pane
    agent: String,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let agent = match opened.app.find_pane(&args.agent) {
        Ok(pane) => {
            Tmux::new(&world.paths.data).select(&pane.address)?;
            return world.out.line(format!("{} is in front.", pane.name()));
        }
        Err(error) => opened.app.find_agent(&args.agent).map_err(|_| CommandError::from(error))?,
    };
    match consort_host::focus_window(&agent) {
        true => world.out.line(format!("{} is in front.", agent.name)),
        false => Err(CommandError::user(
            format!("the terminal of {} cannot be brought to the front from here", agent.name),
            "tmux can, and kitty, wezterm and iTerm2 where their own command is there",
        )),
    }
}
