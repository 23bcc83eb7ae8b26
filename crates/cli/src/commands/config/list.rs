//! The command `consort config list`: prints every setting, and its source.

use consort_core::config::KEYS;
use consort_core::text;

use crate::error::CommandResult;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Say where each value came from
    #[arg(long)]
    sources: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let config = world.open()?.config;
    if args.json {
        return world.out.items(&mut world.app(), &config.settings);
    }
    let mut text = String::new();
    for setting in &config.settings {
        // `config get` prints the whole value.
        let line = format!("{} = {}", setting.key, text::one_line(&setting.value, 40));
        let comment = if args.sources {
            text::one_line(&setting.source.to_string(), 200)
        } else {
            KEYS.iter().find(|key| key.name == setting.key).map_or("", |key| key.about).to_owned()
        };
        text.push_str(&format!("{line:34} {}\n", world.out.style.dim(&format!("# {comment}"))));
    }
    world.out.text(text)
}
