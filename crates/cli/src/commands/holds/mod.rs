//! The command `consort holds`: lists, contests, overrides and restores what is
//! reserved.

mod contest;
mod list;
mod r#override;
mod restore;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[group(skip)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Args,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List what is reserved, and by whom (also without `list`)
    List(list::Args),
    /// Ask for what another agent has reserved
    Contest(contest::Args),
    /// Let everyone write a path for a while, reserved or not
    Override(r#override::Args),
    /// Give a file back as its holder wrote it last; shows the difference first
    Restore(restore::Args),
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    match &args.command {
        None => list::run(world, &args.list),
        Some(Command::List(args)) => list::run(world, args),
        Some(Command::Contest(args)) => contest::run(world, args),
        Some(Command::Override(args)) => r#override::run(world, args),
        Some(Command::Restore(args)) => restore::run(world, args),
    }
}
