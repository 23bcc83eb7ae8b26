//! The command `consort runs`: lists, shows, stops, repeats and sums up runs; its subcommands.

mod audit;
mod batch;
mod chain;
mod cost;
mod list;
mod logs;
mod reset;
mod resume_retry;
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
    Resume(resume_retry::ResumeArgs),
    /// Do a run once more from the start
    Retry(resume_retry::RetryArgs),
    /// Run several tasks side by side
    Batch(batch::Args),
    /// Run steps one after the other, each with what the one before has said
    Chain(chain::Args),
    /// Follow a run that was left running, and print its result
    Attach(resume_retry::AttachArgs),
    /// Check that the receipts of all runs are as they were
    Audit(audit::Args),
    /// Stop listing the runs that have ended
    Reset(reset::Args),
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
        Command::Resume(args) => resume_retry::resume(world, args),
        Command::Retry(args) => resume_retry::retry(world, args),
        Command::Batch(args) => batch::run(world, args),
        Command::Chain(args) => chain::run(world, args),
        Command::Attach(args) => resume_retry::attach(world, args),
        Command::Audit(args) => audit::run(world, args),
        Command::Reset(args) => done(reset::run(world, args)),
        Command::Cost(args) => done(cost::run(world, args)),
        Command::Supervise { id } => done(supervise::run(world, id)),
    }
}
