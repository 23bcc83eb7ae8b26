//! The JSON of a record, which programs read.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::Known;
use super::Source;

impl Known {
    /// Returns the record as JSON: its fields beside its kind, name, author and times.
    pub fn item(&self) -> Value {
        let mut item = Map::new();
        item.insert("kind".into(), self.kind.as_str().into());
        // The parts of a relationship's name are separated by a character that nobody types.
        item.insert("name".into(), self.name.replace('\u{1f}', " ").into());
        for (name, value) in &self.fields {
            item.entry(name.as_str()).or_insert_with(|| value.clone());
        }
        item.insert("by".into(), author(&self.by));
        item.insert("recorded_at".into(), self.at.utc().into());
        if let Some(since) = self.stale {
            item.insert("stale_at".into(), since.utc().into());
        }
        item.into()
    }
}

/// Returns the author; the session and the machine are not kept with a record.
fn author(by: &Source) -> Value {
    let mut author = json!({ "name": by.name, "cli": by.kind, "session": null, "machine": null });
    for (name, value) in [("commit", &by.commit), ("via", &by.via)] {
        if let Some(value) = value {
            author[name] = value.as_str().into();
        }
    }
    author
}
