//! Prints the JSON of the `know` commands: every answer is an object with the time it was made.

use consort_core::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::world::World;

/// Prints a list as JSON.
pub(crate) fn list(world: &World, now: Timestamp, items: &[Value]) -> CommandResult {
    world.out.json(&json!({ "at": now.utc(), "items": items }))
}

/// Prints one thing as JSON, under its noun.
pub(crate) fn one(world: &World, now: Timestamp, noun: &str, thing: &Value) -> CommandResult {
    world.out.json(&json!({ "at": now.utc(), noun: thing }))
}
