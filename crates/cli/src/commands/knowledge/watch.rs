//! `consort watch-files`

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use std::time::SystemTime;

use consort_core::host::Topic;
use consort_core::journal::Actor;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeIndex as _;
use consort_core::knowledge::Scope;
use consort_core::text;
use consort_host::bell::Bell;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;

/// How often the files that something is known of are looked at. Nothing else is:
/// so there is nothing to ignore, and no limit on watches.
const TICK: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut room = world.open()?;
    let scope = Scope::Project(room.project.id.clone());
    let cannot_wait = |error| CommandError::file("cannot wait in", &world.paths.bells(), error);
    let topic = Topic::Project(room.project.id.clone());
    let mut bell = Bell::hang(&world.paths.bells(), Some(&topic)).map_err(cannot_wait)?;
    let mut index = room.app.knowledge()?;
    let mut seen: HashMap<String, Option<(SystemTime, u64)>> = HashMap::new();
    loop {
        room.app.let_go_if_replaced();
        room.app.catch_up(&mut index)?;
        let known = index.names(&scope, Kind::File)?;
        let mut changed = Vec::new();
        for path in known {
            let now = stand(&room.place.worktree.join(&path));
            // Looked at first, or another than before; one that still changes is
            // looked at again when it has come to rest.
            let before = seen.insert(path.clone(), now);
            if before != Some(now) {
                changed.push(path);
            }
        }
        let (project, worktree) = (room.project.id.clone(), room.place.worktree.clone());
        for path in room.app.outdate(&project, &worktree, &changed, Actor::Consort)? {
            world
                .out
                .line(format!("{} has changed: what is known of it is stale.", text::one_line(&path, 120)))?;
        }
        if args.once {
            return Ok(());
        }
        bell.wait(None, TICK).map_err(cannot_wait)?;
    }
}

fn stand(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}
