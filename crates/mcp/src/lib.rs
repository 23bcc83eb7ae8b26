//! The door for agents that speak MCP: the same rooms as hooks and commands.
//!
//! Few tools with small schemas, because every agent carries them along. A
//! result is a short text, and what it says as data beside it. **An error is
//! an answer**: it says what, of which kind, and what to do.
//!
//! A caller is known by its processes, as everywhere; an agent that has no
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

/// Locks, also after another call has panicked.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
