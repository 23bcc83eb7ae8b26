//! The command `consort policy`: manages your rules for what agents may do without asking you.

mod add;
mod list;
mod remove;
mod rule;
mod test;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// List your rules, and what each has decided lately
    List(list::Args),
    /// Allow something without a question, refuse it, or be asked about it
    Add(add::Args),
    /// Remove a rule
    Remove(remove::Args),
    /// Say what a rule, or all of them, would have decided lately
    Test(test::Args),
}

pub(crate) fn run(world: &World, command: &Command) -> CommandResult {
    match command {
        Command::List(args) => list::run(world, args),
        Command::Add(args) => add::run(world, args),
        Command::Remove(args) => remove::run(world, args),
        Command::Test(args) => test::run(world, args),
    }
}
