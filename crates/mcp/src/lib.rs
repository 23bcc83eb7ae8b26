//! The door for agents that speak MCP: the same rooms as hooks and commands.
//!
//! Few tools with small schemas, because every agent carries them in its context. A
//! result is a short text, with the same content as data beside it. **An error is
//! an answer**: it says what went wrong, of which kind that is, and what to do.
//!
//! A caller is identified by its processes, as everywhere; an agent that has no
//! hooks joins with its first call.

mod answer;
mod resources;
mod server;
mod tools;
mod transport;
mod watch;

use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

pub use server::Server;
pub use tools::catalogue;
pub use transport::serve;
pub use transport::service;

/// Locks a mutex, even if another call has panicked while it held the lock.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
