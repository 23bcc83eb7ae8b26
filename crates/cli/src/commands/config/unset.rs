//! The command `consort config unset`: takes a setting out of your file, or out of this
//! project's, so that its default or another file counts again.

use consort_core::config;

use super::set;
use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The setting: `context.mode`
    key: String,
    /// Take it out of this project's `.consort/config.toml`
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    config::key(&args.key)?;
    let told = set::change(world, &args.key, None, args.project)?;
    world.out.line(told)
}
