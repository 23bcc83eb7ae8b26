//! The command `consort config`: reads and changes settings; its subcommands.

mod accept;
mod get;
mod list;
mod path;
pub(crate) mod set;
mod unset;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Print one setting
    Get(get::Args),
    /// Change a setting for yourself, or for this project
    Set(set::Args),
    /// Take a setting out of your file, or this project's: its default counts again
    Unset(unset::Args),
    /// Accept what your files or this project's say that loosens protection
    Accept(accept::Args),
    /// Print every setting
    List(list::Args),
    /// Print where the settings are kept
    Path(path::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::Get(args) => get::run(world, args),
        Command::Set(args) => set::run(world, args),
        Command::Unset(args) => unset::run(world, args),
        Command::Accept(args) => accept::run(world, args),
        Command::List(args) => list::run(world, args),
        Command::Path(args) => path::run(world, args),
    }
}
