//! The command `consort know save`: writes this project's knowledge file, for git.

use crate::error::CommandError;
use crate::exit::ExitCode;
use crate::knowledge::file;
use crate::person;
use crate::world::World;

pub(super) fn run(world: &World) -> Result<ExitCode, CommandError> {
    let mut opened = world.open()?;
    person::known(&mut opened.app)?;
    let scope = consort_core::knowledge::Scope::Project(opened.project.id.clone());
    // What is in the file and not known would be lost.
    file::take_in(&mut opened, &scope);
    let (path, length) = file::save(&mut opened)?;
    file::warn_without_driver(&opened.place.worktree);
    world.out.line(format!("Saved {} ({length} bytes).", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
