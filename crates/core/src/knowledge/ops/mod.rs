//! The verbs of the knowledge room, one file each.

mod act;
mod digest;
mod forget;
mod git_file;
mod history;
mod index;
mod mark_stale;
mod renew;
mod similar;
mod suggest;
