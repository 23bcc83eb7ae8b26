//! Verbs of the dispatch room.

mod ask;
mod list;
mod supervise;

pub use ask::RunRequest;
pub(crate) use ask::run_above;
