//! The command `consort pane`: lists, shows, watches and closes the terminals of agents.

mod attach;
mod close;
mod explain;
mod focus;
mod list;
mod screen;
mod watch;

use std::path::PathBuf;

use crate::error::CommandResult;
use crate::panes::launch;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List the panes that agents run in, and what each shows
    List(list::Args),
    /// Print what the pane of an agent shows, without its secrets
    Screen(screen::Args),
    /// Show the pane of an agent in this terminal, or in a window of its own
    Attach(attach::Args),
    /// Bring the pane of an agent to the front where it is shown already
    Focus(focus::Args),
    /// End an agent that was opened, and all that it has started
    Close(close::Args),
    /// Say what the screen of an agent shows, live or saved, and which rule says so
    Explain(explain::Args),
    /// Print what becomes of panes, as it comes about
    Watch(watch::Args),
    /// Run first in a pane that was opened
    #[command(hide = true)]
    Start {
        /// The command to start
        file: PathBuf,
    },
}

pub(crate) use close::close as close_pane;

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => list::run(world, args),
        Command::Screen(args) => screen::run(world, args),
        Command::Attach(args) => attach::run(world, args),
        Command::Focus(args) => focus::run(world, args),
        Command::Close(args) => close::run(world, args),
        Command::Explain(args) => explain::run(world, args),
        Command::Watch(args) => watch::run(world, args),
        Command::Start { file } => launch::become_program(file),
    }
}
