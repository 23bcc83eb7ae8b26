//! Worktrees of runs: makes a worktree for a run with the person's uncommitted changes in it, and merges
//! the run's work back.
//!
//! States of files become git trees, and git merges trees: [`make`] commits the person's state as the
//! *baseline* of the run, and [`merge`] merges the run's changes since then into the state that the
//! person's worktree has by then. All of that happens in git's objects. Only if there is no conflict does
//! the person's worktree change, and the changes are recorded first, so that the next merge finishes one
//! that was interrupted. **Work that was not merged is never removed, and a merge that cannot be made
//! changes nothing.**
//!
//! No hook of the repository runs, nothing is signed. Filters run as they do for the person's own `git
//! add` and `git checkout`. Git is never asked in a run's own directory where its repository is: a
//! program that works there could have changed that.

mod bootstrap;
mod diff;
mod error;
mod git;
mod make;
mod merge;
mod plan;
mod record;
mod remove;
mod replay;
mod snapshot;
mod submodules;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use bootstrap::Bootstrap;
pub use bootstrap::SetUpCommand;
pub use bootstrap::SetUpEnd;
pub use bootstrap::SetUpResult;
pub use diff::diff;
pub use error::WorktreeError;
pub use make::Made;
pub use make::make;
pub use merge::Merge;
pub use merge::merge;
pub use remove::Removed;
pub use remove::remove;
pub use snapshot::LeftOut;
pub use snapshot::WhyLeftOut;

/// The worktree of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTree {
    /// The directory of its files.
    pub path: PathBuf,
    /// The git directory of this worktree alone, inside the repository's.
    pub git_dir: PathBuf,
    pub branch: String,
    /// The person's commit that the run started from.
    pub base: String,
    /// The commit with the person's state and the changes of the set-up: differences from it are the
    /// run's work. The same as `base` if nothing was uncommitted.
    pub baseline: String,
}
