//! `consort tasks` and `consort task`

pub(crate) mod list;
pub(crate) mod one;

use std::path::Path;
use std::path::PathBuf;

use consort_core::tasks::SpecRef;
use consort_core::tasks::TaskRequest;

use crate::error::CommandError;
use crate::person;
use crate::world::Opened;
use crate::world::World;

fn request(
    world: &World,
    opened: &mut Opened,
    spec: Option<&PathBuf>,
    id: Option<&String>,
    words: Option<&String>,
) -> Result<TaskRequest, CommandError> {
    Ok(TaskRequest {
        caller: person::acting(&mut opened.app)?,
        cwd: world.cwd.clone(),
        spec: spec.cloned(),
        id: id.cloned(),
        words: words.cloned(),
        is_for_new: false,
    })
}

/// A spec as one would type it here: `./feature.md`.
fn shown(spec: &SpecRef, worktree: &Path, cwd: &Path) -> String {
    let whole = worktree.join(&spec.path);
    match whole.strip_prefix(cwd) {
        Ok(short) => format!("./{}", short.display()),
        Err(_) => spec.path.clone(),
    }
}
