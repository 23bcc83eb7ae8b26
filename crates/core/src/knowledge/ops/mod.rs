//! The verbs of the knowledge room, one file each.

mod act;
mod digest;
mod history;
mod index;
mod mark_stale;
