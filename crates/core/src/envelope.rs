//! The JSON in which doors show outcomes: `{"at", "items"}` for lists, `{"at", "<noun>"}`
//! for one thing.
//!
//! The store keeps milliseconds, and sessions for agents. Readers get RFC 3339 in fields that end
//! in `_at`, seconds in those that end in `_s`, and **an agent is always
//! `{"name", "cli", "session", "machine"}`**.

use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::App;
use crate::Timestamp;
use crate::presence::Agent;
use crate::presence::SessionId;

/// Fields that hold a moment, besides those whose names end in `_at`.
const MOMENTS: &[&str] = &["since", "until", "overridden_until", "ended", "stale", "last_active"];

/// Fields that hold a duration.
const DURATIONS: &[&str] = &["ttl"];

/// Fields that name an actor; an agent is stored as `agent:<session>`.
const ACTORS: &[&str] = &["actor", "by", "holder", "to", "who", "worker"];

impl App {
    /// Wraps a list, in the form for readers.
    pub fn items(&mut self, items: &impl Serialize) -> Value {
        self.wrap_one("items", items)
    }

    /// Wraps one thing under its noun, in the form for readers.
    pub fn wrap_one(&mut self, noun: &str, thing: &impl Serialize) -> Value {
        let at = self.host.now();
        let thing = serde_json::to_value(thing).unwrap_or_default();
        json!({ "at": at.rfc3339(), noun: self.for_readers(thing) })
    }

    /// Turns an outcome into the form for readers.
    pub fn for_readers(&mut self, value: Value) -> Value {
        match value {
            Value::Array(values) => values.into_iter().map(|value| self.for_readers(value)).collect(),
            Value::Object(fields) => {
                let mut fields = agent_first(fields);
                // An object with a session and a name refers to an agent, and gets the agent's
                // four fields.
                let agent = named(&fields).and_then(|session| self.agent_named(&session));
                let mut shown = Map::new();
                if let Some(Value::Object(agent)) = agent {
                    fields.retain(|field, _| field != "who" && field != "session" && field != "kind");
                    shown.extend(agent);
                    shown.extend(fields.remove("name").map(|name| ("name".to_owned(), name)));
                }
                for (name, value) in fields {
                    let (name, value) = self.field(name, value);
                    shown.insert(name, value);
                }
                Value::Object(shown)
            }
            other => other,
        }
    }

    fn field(&mut self, name: String, value: Value) -> (String, Value) {
        let is_moment = name == "at" || name.ends_with("_at");
        match &value {
            Value::Number(at) if is_moment || MOMENTS.contains(&name.as_str()) => {
                let at = Timestamp(at.as_i64().unwrap_or_default()).rfc3339();
                (if is_moment { name } else { name + "_at" }, at.into())
            }
            Value::Number(millis) if DURATIONS.contains(&name.as_str()) => {
                (name + "_s", (millis.as_i64().unwrap_or_default() / 1_000).into())
            }
            Value::Null if DURATIONS.contains(&name.as_str()) => (name + "_s", value),
            Value::Null if MOMENTS.contains(&name.as_str()) => (name + "_at", value),
            Value::String(who) if ACTORS.contains(&name.as_str()) => {
                let agent = who.strip_prefix("agent:").and_then(|session| self.agent_named(session));
                (name, agent.unwrap_or(value))
            }
            _ => (name, self.for_readers(value)),
        }
    }

    /// Renders an agent by its session, present or gone.
    fn agent_named(&mut self, session: &str) -> Option<Value> {
        let session = SessionId::new(session.to_owned()).ok()?;
        let (agent, _) = self.engine.read().ok()?.agent(&session).ok()??;
        Some(agent_json(&agent))
    }
}

/// Returns the session of an agent, if these fields refer to one and are not the whole agent.
fn named(fields: &Map<String, Value>) -> Option<String> {
    let of = |field: &str| fields.get(field).and_then(Value::as_str);
    of("name")?;
    let is_whole = fields.contains_key("machine");
    let session = of("who").and_then(|who| who.strip_prefix("agent:")).or_else(|| of("session"))?;
    (!is_whole).then(|| session.to_owned())
}

/// Renders an agent in its four fields, as every outcome refers to it.
pub fn agent_json(agent: &Agent) -> Value {
    json!({
        "name": agent.name.as_str(),
        "cli": agent.kind,
        "session": agent.session,
        "machine": agent.location.machine,
    })
}

/// Puts the four fields of a whole agent first, and leaves out the parts of its location that
/// only its own machine can use.
fn agent_first(mut fields: Map<String, Value>) -> Map<String, Value> {
    let is_agent = ["session", "name", "kind", "location"].iter().all(|field| fields.contains_key(*field));
    if !is_agent {
        // A sender or a worker: its `kind` is shown as `cli`.
        let is_sender = ["who", "name"].iter().all(|field| fields.contains_key(*field));
        if let Some(kind) = is_sender.then(|| fields.remove("kind")).flatten() {
            fields.insert("cli".into(), kind);
        }
        return fields;
    }
    let mut shown = Map::new();
    for (from, to) in [("name", "name"), ("kind", "cli"), ("session", "session")] {
        shown.extend(fields.remove(from).map(|value| (to.to_owned(), value)));
    }
    let location = fields.remove("location").unwrap_or_default();
    shown.insert("machine".into(), location["machine"].clone());
    shown.insert("worktree".into(), location["worktree"].clone());
    shown.insert("pane".into(), location["terminal"]["pane"].clone());
    shown.insert("tty".into(), location["process"]["tty"].clone());
    shown.insert("pid".into(), location["process"]["pid"].clone());
    shown.extend(fields);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_begins_with_its_four_fields() {
        let stored = json!({
            "session": "s1", "name": "Falcon", "kind": "claude", "branch": "main",
            "location": { "machine": "m", "worktree": "/w", "process": { "pid": 7, "tty": "/dev/pts/3" },
                          "terminal": { "pane": "%2" } },
        });
        let Value::Object(stored) = stored else { panic!() };
        let shown = agent_first(stored);
        let expected = json!({ "name": "Falcon", "cli": "claude", "session": "s1", "machine": "m",
            "worktree": "/w", "pane": "%2", "tty": "/dev/pts/3", "pid": 7, "branch": "main" });
        assert_eq!(Value::Object(shown), expected);
    }
}
