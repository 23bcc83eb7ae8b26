//! The command `consort runs`: the agents that were put to work, and what came of it.

mod again;
mod cost;
mod list;
mod logs;
mod show;
mod stop;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::exit::ExitCode;
use crate::runs::supervise;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List runs, the newest first
    List(list::Args),
    /// Show a run and its result
    Show(show::Args),
    /// Print what happens in a run
    Logs(logs::Args),
    /// Stop a run, or all of them
    Stop(stop::Args),
    /// Go on with a run that has ended, in its own session
    Resume(again::ResumeArgs),
    /// Do a run once more from the start
    Retry(again::RetryArgs),
    /// Say what runs have cost
    Cost(cost::Args),
    /// Supervise a run: what a run starts for itself
    #[command(hide = true)]
    Supervise {
        /// The run's id
        id: String,
    },
}

pub(crate) fn run(world: &World, command: &Command) -> Result<ExitCode, CommandError> {
    let done = |result: CommandResult| result.map(|()| ExitCode::SUCCESS);
    match command {
        Command::List(args) => done(list::run(world, args)),
        Command::Show(args) => done(show::run(world, args)),
        Command::Logs(args) => done(logs::run(world, args)),
        Command::Stop(args) => stop::run(world, args),
        Command::Resume(args) => again::resume(world, args),
        Command::Retry(args) => again::retry(world, args),
        Command::Cost(args) => done(cost::run(world, args)),
        Command::Supervise { id } => done(supervise::run(world, id)),
    }
}
