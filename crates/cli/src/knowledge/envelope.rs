//! JSON of the `know` commands: every answer is an object with the time it was made.

use consort_core::Timestamp;
use consort_core::knowledge::Known;
use consort_core::knowledge::Source;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::error::CommandResult;
use crate::world::World;

/// Prints a list.
pub(crate) fn list(world: &World, now: Timestamp, items: &[Value]) -> CommandResult {
    world.out.json(&json!({ "at": now.utc(), "items": items }))
}

/// Prints one thing under its noun.
pub(crate) fn one(world: &World, now: Timestamp, noun: &str, thing: &Value) -> CommandResult {
    world.out.json(&json!({ "at": now.utc(), noun: thing }))
}

/// Something that is known, its fields beside its kind and name.
pub(crate) fn item(known: &Known) -> Value {
    let mut item = Map::new();
    item.insert("kind".into(), known.kind.as_str().into());
    // The parts of a relationship's name are kept apart by what nobody types.
    item.insert("name".into(), known.name.replace('\u{1f}', " ").into());
    for (name, value) in &known.fields {
        item.entry(name.as_str()).or_insert_with(|| value.clone());
    }
    item.insert("by".into(), author(&known.by));
    item.insert("recorded_at".into(), known.at.utc().into());
    if let Some(since) = known.stale {
        item.insert("stale_at".into(), since.utc().into());
    }
    item.into()
}

/// Who said it; the session and the machine are not kept with what is known.
fn author(by: &Source) -> Value {
    let mut author = json!({ "name": by.name, "cli": by.kind, "session": null, "machine": null });
    for (name, value) in [("commit", &by.commit), ("via", &by.via)] {
        if let Some(value) = value {
            author[name] = value.as_str().into();
        }
    }
    author
}
