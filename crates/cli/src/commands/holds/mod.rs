//! The command `consort holds`: lists, contests, overrides and restores what is
//! reserved.

mod contest;
mod list;
mod r#override;
mod restore;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List what is reserved, and by whom
    List(list::Args),
    /// Ask for what another agent has reserved
    Contest(contest::Args),
    /// Let everyone write a path for a while, whoever has reserved it
    Override(r#override::Args),
    /// Give a file back as its holder wrote it last; shows the difference first
    Restore(restore::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => list::run(world, args),
        Command::Contest(args) => contest::run(world, args),
        Command::Override(args) => r#override::run(world, args),
        Command::Restore(args) => restore::run(world, args),
    }
}
