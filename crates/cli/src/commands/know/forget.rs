//! The command `consort know forget`: removes an entity from the knowledge for good.

use consort_core::knowledge::ForgetRequest;
use consort_core::text;
use serde_json::json;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::knowledge::ScopeArgs;
use crate::knowledge::envelope;
use crate::knowledge::file;
use crate::person;
use crate::world::World;

pub(super) fn run(world: &World, name: &str, args: &ScopeArgs) -> CommandResult {
    let mut opened = world.open()?;
    let scope = args.of(&opened);
    file::take_in(&mut opened, &scope);
    let request = ForgetRequest {
        caller: person::acting_caller(&mut opened.app)?,
        worktree: opened.place.worktree.clone(),
        scope: scope.clone(),
        name: name.to_owned(),
    };
    let outcome = opened.app.forget_knowledge(&request)?;
    if outcome.entities == 0 {
        return Err(CommandError::user(
            format!("nothing was ever called `{name}`"),
            format!("`consort know search {name}` finds what is like it"),
        ));
    }
    // Saved even where the file is not written automatically: the entity must not stay in it.
    if file::stamp(&opened.place.worktree).is_some() && scope.project().is_some() {
        file::save(&mut opened)?;
    }
    if args.json {
        let forgotten = json!({ "name": name, "entities": outcome.entities });
        return envelope::one(world, opened.app.host().now(), "forgotten", &forgotten);
    }
    world.out.line(format!("Forgot {}. Git's history may still have it.", text::one_line(name, 100)))
}
