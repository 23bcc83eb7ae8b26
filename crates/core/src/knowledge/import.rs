//! Turns knowledge from elsewhere (another project, a memory server's JSON) into the
//! action that records it here.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::Kind;
use super::Known;
use super::Scope;

/// Returns the name of the action that records something of a kind.
pub fn recording_action(kind: Kind) -> String {
    match kind {
        Kind::File => "record-file-understanding".to_owned(),
        Kind::Relationship => "link-entities".to_owned(),
        kind => format!("record-{}", kind.as_str()),
    }
}

/// Returns the action for a line that was exported here, or that the official memory server keeps.
pub fn import_action(line: &Value) -> Option<Value> {
    let text = |field: &str| line.get(field).and_then(Value::as_str);
    match text("type") {
        Some("entity") => {
            let seen: Vec<&Value> = line.get("observations")?.as_array()?.iter().collect();
            let description = seen.first().and_then(|seen| seen.as_str()).unwrap_or("imported");
            let (evidence, tags) = (seen.get(1..).unwrap_or_default(), text("entityType"));
            let tags: Vec<&str> = tags.into_iter().collect();
            let props = json!({ "name": text("name")?, "description": description, "evidence": evidence, "tags": tags });
            Some(json!(["record-principle", props]))
        }
        Some("relation") => {
            let props = json!({ "from": text("from")?, "to": text("to")?, "type": text("relationType")? });
            Some(json!(["link-entities", props]))
        }
        _ => Some(json!([recording_action(Kind::named(text("kind")?)?), line.get("fields")?])),
    }
}

/// Returns the action for a record of another scope, with a note of where it is from.
pub(super) fn adopted(known: &Known, there: &Scope) -> Value {
    // Its locations do not exist here.
    let mut props: Map<String, Value> = known.fields.clone();
    props.retain(|field, _| !matches!(field.as_str(), "locations" | "location" | "related"));
    let origin = format!("adopted from {}", there.project().map_or("your own", |project| project.as_str()));
    if known.kind == Kind::Decision {
        let rationale = format!("{} ({origin})", known.text("rationale"));
        props.insert("rationale".into(), rationale.trim_start().into());
    } else {
        let field = if known.kind == Kind::Principle { "evidence" } else { "tags" };
        let list = props.entry(field).or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(origin.as_str().into()));
    }
    json!([recording_action(known.kind), props])
}
