//! The command `consort config get`: prints one setting.

use consort_core::config;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The setting: `context.mode`
    key: String,
    /// Print JSON, with where the value came from
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let key = config::key(&args.key)?;
    let config = world.open()?.config;
    if args.json {
        let setting = config.settings.iter().find(|setting| setting.key == key.name);
        return world.out.one(&mut world.app(), "setting", &setting);
    }
    world.out.line(config.get(key.name))
}
