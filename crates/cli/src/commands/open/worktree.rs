//! Makes a git worktree for an opened agent.

use std::path::PathBuf;

use consort_core::host::PlacedDirectory;
use consort_core::presence::AgentName;

use crate::error::CommandError;

/// Makes a worktree beside the repository's, on that branch; if the branch is empty, on one named after the
/// agent.
pub(super) fn make(place: &PlacedDirectory, branch: &str, name: &AgentName) -> Result<PathBuf, CommandError> {
    let repository = place.worktree.file_name().map(|name| name.to_string_lossy().into_owned());
    let (Some(above), Some(repository), true) = (place.worktree.parent(), repository, place.is_git) else {
        return Err(CommandError::user(
            "this is no git repository",
            "leave `--worktree` out, or run `git init` first",
        ));
    };
    let name = name.as_str().to_lowercase();
    let branch = if branch.is_empty() { format!("consort/{name}") } else { branch.to_owned() };
    let path = above.join(format!("{repository}-{name}"));
    consort_host::add_worktree(&place.worktree, &path, &branch).map_err(|said| {
        CommandError::user(
            format!("git made no worktree: {said}"),
            "another `--worktree=<branch>` or `--name` may be free",
        )
    })?;
    Ok(path)
}
