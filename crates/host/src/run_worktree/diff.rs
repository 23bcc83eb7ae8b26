//! Makes the diff of all that a run has changed.

use super::RunTree;
use super::error::WorktreeError;
use super::git::Git;
use super::merge::INDEX;
use super::snapshot;
use crate::git_diff::DIFF;

/// Returns the diff of a run's worktree against the run's baseline: commits, changes and new files.
pub fn diff(tree: &RunTree) -> Result<String, WorktreeError> {
    let (git, index) = (Git::of(tree), tree.git_dir.join(INDEX));
    let taken = snapshot::take(&git, &index, None);
    let _ = std::fs::remove_file(&index);
    let files = taken?.tree;
    let words = [&DIFF[..], &[&tree.baseline, &files, "--"]].concat();
    Ok(super::git::text(&git.ask(&words)?))
}
