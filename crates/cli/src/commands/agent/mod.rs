//! The command `consort agent`: registers, renames and removes agents, and hands work
//! from one to another.

pub(crate) mod handoff;
mod join;
mod leave;
mod rename;
mod suggest;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Register the agent session this is run in
    Join(join::Args),
    /// Leave, and stay away until `agent join`
    Leave(leave::Args),
    /// Change an agent's name
    Rename(rename::Args),
    /// Gather what it takes to take over an agent's work
    Handoff(handoff::Args),
    /// Find who is best placed for a task
    Suggest(suggest::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::Join(args) => join::run(world, args),
        Command::Leave(args) => leave::run(world, args),
        Command::Rename(args) => rename::run(world, args),
        Command::Handoff(args) => handoff::run(world, args),
        Command::Suggest(args) => suggest::run(world, args),
    }
}
