//! Finds the role that a run is started with.

use consort_core::dispatch::DEFAULT_ROLE;
use consort_core::dispatch::Role;
use consort_core::dispatch::find_role;

use crate::error::CommandError;
use crate::output;
use crate::roles;
use crate::world::OpenWorld;
use crate::world::World;

/// Returns the role of that name, or the default one, as the files here define it; prints a note about each
/// part that does not count.
pub(crate) fn named(world: &World, opened: &OpenWorld, name: Option<&str>) -> Result<Role, CommandError> {
    let default = roles::default_safety(&opened.config);
    let all = roles::load(&world.paths, &opened.place.worktree, default)?;
    let role = find_role(&all, name.unwrap_or(DEFAULT_ROLE))?;
    roles::notes(std::slice::from_ref(role)).for_each(output::note);
    Ok(role.usable()?.clone())
}
