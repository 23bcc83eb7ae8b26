//! The command `consort know save`: writes this project's knowledge file, for git.

use serde_json::json;

use crate::error::CommandResult;
use crate::knowledge::envelope;
use crate::knowledge::file;
use crate::person;
use crate::world::World;

pub(super) fn run(world: &World, is_json: bool) -> CommandResult {
    let mut opened = world.open()?;
    person::refuse_anonymous(&mut opened.app)?;
    let scope = consort_core::knowledge::Scope::Project(opened.project.id.clone());
    // Anything that only the file says would be lost.
    file::take_in(&mut opened, &scope);
    let (path, length) = file::save(&mut opened)?;
    file::warn_without_driver(&opened.place.worktree);
    if is_json {
        let saved = json!({ "path": path, "bytes": length });
        return envelope::one(world, opened.app.host().now(), "saved", &saved);
    }
    world.out.line(format!("Saved {} ({length} bytes).", path.display()))
}
