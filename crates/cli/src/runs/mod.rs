//! Runs at work: each has a directory and a supervisor, which is this program once more.

pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod flags;
pub(crate) mod follow;
pub(crate) mod orphans;
pub(crate) mod role;
pub(crate) mod start;
pub(crate) mod supervise;
mod work;
mod worktree;

pub(crate) use directory::RunDir;
pub(crate) use directory::Work;
