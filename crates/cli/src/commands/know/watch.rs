//! The command `consort know watch`: marks knowledge as stale when its files change.

use consort_core::host::NewsTopic;
use consort_core::text;
use consort_host::notify::Listener;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::knowledge::watch::FileWatcher;
use crate::person;
use crate::world::World;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,
    /// Print JSON, one object for each file
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    person::refuse_anonymous(&mut opened.app)?;
    let places = [(opened.project.id.clone(), opened.place.worktree.clone())];
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.listeners(), error);
    let topic = NewsTopic::Project(opened.project.id.clone());
    let mut listener = Listener::open(&world.paths.listeners(), Some(&topic)).map_err(cannot_wait)?;
    let mut watcher = if args.once { FileWatcher::once() } else { FileWatcher::begin() };
    loop {
        for path in watcher.look(&mut opened.app, &places)? {
            if args.json {
                envelope::one(world, opened.app.host().now(), "stale", &json!({ "path": path }))?;
                continue;
            }
            let path = text::one_line(&path, 120);
            world.out.line(format!("{path} has changed: what is known of it is stale."))?;
        }
        if args.once {
            return Ok(());
        }
        watcher.wait(&mut listener).map_err(cannot_wait)?;
    }
}
