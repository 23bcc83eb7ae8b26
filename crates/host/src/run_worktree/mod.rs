//! Worktrees of runs: a directory of its own for a run, with what the person has not
//! committed yet, and the way back for what was done in it.
//!
//! States of files become git trees, and git merges trees: [`make`] commits the person's
//! state as the *baseline* of the run, and [`merge`] merges what the run has made of it
//! into the state that the person's worktree has by then. All of that happens in git's
//! objects. Only if it is without conflict does the person's worktree change, and what is
//! to change is written down first, so that a merge that was interrupted is finished by the
//! next one. **Nothing that was not merged is removed, and a merge that cannot be made
//! changes nothing.**
//!
//! No hook of the repository runs, nothing is signed. Filters run as they do for `git add`
//! and `git checkout` of the person's. A run's own directory is never asked where its
//! repository is: what works in it could have changed that.

mod apart;
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
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use bootstrap::Bootstrap;
pub use bootstrap::SetUp;
pub use bootstrap::SetUpCommand;
pub use bootstrap::SetUpEnd;
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
    /// Where its files are.
    pub path: PathBuf,
    /// Where the repository keeps what belongs to this worktree alone.
    pub git_dir: PathBuf,
    pub branch: String,
    /// The person's commit that it started from.
    pub base: String,
    /// The commit with the person's state and what the set-up has changed: what differs
    /// from it is the run's work. The same as `base` if nothing was uncommitted.
    pub baseline: String,
}
