//! The command `consort roles`: lists, shows, changes and checks the definitions that runs are started with.

mod list;
mod set;
mod show;
mod validate;

use consort_core::dispatch::Role;
use consort_core::dispatch::Safety;

use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the roles that runs can be started with
    List(list::Args),
    /// Show a role, and where each of its values came from
    Show(show::Args),
    /// Change a value of a role, for yourself
    Set(set::Args),
    /// Check your file of roles and this project's, or another one
    Validate(validate::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    match command {
        Command::List(args) => list::run(world, args)?,
        Command::Show(args) => show::run(world, args)?,
        Command::Set(args) => set::run(world, args)?,
        Command::Validate(args) => return validate::run(world, args),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the word for how much a run in a role may do.
fn may(role: &Role, default: Safety) -> &'static str {
    if role.read_only { "read-only" } else { role.safety_or(default).as_str() }
}
