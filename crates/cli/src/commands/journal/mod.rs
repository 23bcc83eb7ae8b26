//! The command `consort journal`: reads, checks and rebuilds the journal; its
//! subcommands.

mod rebuild;
pub(crate) mod sentence;
mod tail;
mod verify;

use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print the latest entries; with --follow, go on as they come
    Tail(tail::Args),
    /// Replay the journal beside the tables and compare; exits 6 if they differ
    Verify(verify::Args),
    /// Empty the tables and replay the journal into them
    Rebuild(rebuild::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::Tail(args) => tail::run(world, args).map(|()| ExitCode::SUCCESS),
        Command::Verify(args) => verify::run(world, args),
        Command::Rebuild(args) => rebuild::run(world, args).map(|()| ExitCode::SUCCESS),
    }
}
