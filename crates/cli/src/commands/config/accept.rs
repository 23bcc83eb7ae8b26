//! The command `consort config accept`: accepts values in configuration files that loosen protection.

use consort_core::config::Acceptance;
use consort_core::config::ConfigError;
use consort_core::text;

use crate::config;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {}

/// Shows the values in the files that loosen protection, and accepts them if the person confirms.
pub(crate) fn run(world: &World, _: &Args) -> CommandResult {
    let mut app = world.app();
    let worktree = world.place().worktree;
    let known = app.acceptances()?;
    let loaded = config::load(&world.paths, &worktree, &world.overrides, &known)?;
    let mut all: Vec<Acceptance> = Vec::new();
    for (source, warning) in &loaded.resolved.warnings {
        if let ConfigError::Loosens { key, value, .. } = warning
            && let Some(acceptance) = Acceptance::new(source, key.name, value)
        {
            let now = text::one_line(loaded.resolved.get(key.name), 60);
            let source = text::one_line(&source.to_string(), 300);
            world.out.line(format!("{}: {now} -> {} ({source})", key.name, text::one_line(value, 60)))?;
            all.push(acceptance);
        }
    }
    if all.is_empty() {
        return world.out.line("Nothing here waits to be accepted.");
    }
    let facts = person::confirmed_caller(&mut app, "loosen protection as shown above")?;
    app.accept(&facts, &all)?;
    // Opening the store publishes the settings that hooks need.
    world.open()?;
    world.out.line("Accepted.")
}
