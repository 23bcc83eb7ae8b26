//! Verbs of the dispatch room.

mod ask;
mod list;
mod supervise;

pub use ask::RunRequest;
