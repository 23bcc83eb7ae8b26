//! Carries out `consort doctor --fix`: the fixes that need no decision, and one question for the agent CLIs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::clis;
use crate::connect;
use crate::connect::Consent;
use crate::connect::OfferedCli;
use crate::connect::Parts;
use crate::connect::State;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::person;
use crate::world::World;

pub(super) fn run(world: &World, yes: bool) -> CommandResult {
    person::refuse_agents(&mut world.app())?;
    let data = &world.paths.data;
    if fs::metadata(data).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0) {
        fs::set_permissions(data, fs::Permissions::from_mode(0o700))
            .map_err(|error| CommandError::file("cannot change", data, error))?;
        world.out.line(format!("Made private: {}", data.display()))?;
    }
    // Opening the store writes the files that hooks read beside it; the checks report a damaged store.
    let _ = world.open();
    let worktree = world.place().worktree;
    let mut targets = Vec::new();
    for standing in connect::connection_states(world, &worktree) {
        let Some(cli) = consort_agents::find(standing.kind) else { continue };
        let is_outdated = [&standing.user, &standing.project].contains(&&State::Outdated);
        let is_lacking = standing.is_connected() && clis::lacks_rules(world, cli, &standing, &worktree);
        if is_outdated || is_lacking {
            targets.push(OfferedCli::new(world, cli, &worktree, standing.user == State::Absent));
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    let parts = Parts { mcp: false, primer: false, allow: true, shield: false };
    let consent = if yes { Consent::Given } else { Consent::Ask };
    connect::offer(world, &targets, parts, consent)?.1
}
