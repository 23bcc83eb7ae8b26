//! The hidden command `consort know take-in`: records the content of this worktree's knowledge file, in a
//! process that may die of it.

use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::knowledge::file;
use crate::world::World;

pub(super) fn run(world: &World) -> Result<ExitCode, CommandError> {
    file::take_in_here(&mut world.open()?)?;
    Ok(ExitCode::SUCCESS)
}
