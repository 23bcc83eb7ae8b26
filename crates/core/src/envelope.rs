//! The JSON in which doors show outcomes: `{"at", "items"}` for lists, `{"at", "<noun>"}`
//! for one thing.
//!
//! What is stored keeps its own form: milliseconds, and sessions for agents. Readers get
//! RFC 3339 in fields that end in `_at`, seconds in those that end in `_s`, and **an agent is always `{"name", "cli",
//! "session", "machine"}`**.

use serde::Serialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::App;
use crate::Timestamp;
use crate::presence::Agent;
use crate::presence::SessionId;

/// Fields that are a moment, besides those that say so by their end.
const MOMENTS: &[&str] = &["since", "until", "overridden_until", "ended", "stale", "last_active"];

/// Fields that are a duration.
const DURATIONS: &[&str] = &["ttl"];

/// Fields that say who: the stored form is `agent:<session>`.
const ACTORS: &[&str] = &["actor", "by", "holder", "to", "who", "worker"];

impl App {
    /// A list.
    pub fn items(&mut self, items: &impl Serialize) -> Value {
        self.one("items", items)
    }

    /// One thing, under its noun.
    pub fn one(&mut self, noun: &str, thing: &impl Serialize) -> Value {
        let at = self.host.now();
        let thing = serde_json::to_value(thing).unwrap_or_default();
        json!({ "at": at.rfc3339(), noun: self.for_readers(thing) })
    }

    /// An outcome in the form that readers get.
    pub fn for_readers(&mut self, value: Value) -> Value {
        match value {
            Value::Array(values) => values.into_iter().map(|value| self.for_readers(value)).collect(),
            Value::Object(fields) => {
                let mut fields = agent_first(fields);
                // Who is named by session and name is an agent, and its fields are its own.
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

    /// An agent by its session, present or gone.
    fn agent_named(&mut self, session: &str) -> Option<Value> {
        let session = SessionId::new(session.to_owned()).ok()?;
        let (agent, _) = self.engine.read().ok()?.agent(&session).ok()??;
        Some(agent_json(&agent))
    }
}

/// The session of an agent that these fields only name.
fn named(fields: &Map<String, Value>) -> Option<String> {
    let of = |field: &str| fields.get(field).and_then(Value::as_str);
    of("name")?;
    let is_whole = fields.contains_key("machine");
    let session = of("who").and_then(|who| who.strip_prefix("agent:")).or_else(|| of("session"))?;
    (!is_whole).then(|| session.to_owned())
}

/// An agent as it is named everywhere.
pub fn agent_json(agent: &Agent) -> Value {
    json!({
        "name": agent.name.as_str(),
        "cli": agent.kind,
        "session": agent.session,
        "machine": agent.location.machine,
    })
}

/// A whole agent begins as every mention of one does; what only its own machine can use
/// of its location is left out.
fn agent_first(mut fields: Map<String, Value>) -> Map<String, Value> {
    let is_agent = ["session", "name", "kind", "location"].iter().all(|field| fields.contains_key(*field));
    if !is_agent {
        // A sender or a worker, with the CLI it is of.
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
