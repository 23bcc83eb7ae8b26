//! The command `consort pane`: says what the terminals of agents show.

mod explain;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Say what a saved screen of an agent shows, and which rule says so
    Explain(explain::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::Explain(args) => explain::run(world, args),
    }
}
