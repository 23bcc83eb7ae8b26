//! Which role a run has.

use consort_core::dispatch::DEFAULT_ROLE;
use consort_core::dispatch::Role;

use crate::error::CommandError;
use crate::world::Opened;
use crate::world::World;

/// The role of that name, or the default one.
pub(crate) fn named(_world: &World, _opened: &Opened, name: Option<&str>) -> Result<Role, CommandError> {
    Ok(Role { name: name.unwrap_or(DEFAULT_ROLE).to_owned(), ..Role::default() })
}
