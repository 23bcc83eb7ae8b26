//! Formats something that is known for people: on one line, or as a page.

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::text;
use serde_json::Value;

/// Formats it on one line: `principle one-writer: One process writes at a time (0.9; store)`.
pub(crate) fn line(known: &Known) -> String {
    let stale = if known.stale.is_some() { ", stale" } else { "" };
    if known.kind == Kind::Relationship {
        let [from, to, kind] = ["from", "to", "type"].map(|field| text::foreign(known.text(field), 60));
        return format!("relationship {from} {kind} {to}{stale}{}", about(known.text("description")));
    }
    let name = text::foreign(known.text(known.kind.key_field()), 80);
    let name = if name.is_empty() { text::foreign(&known.name, 80) } else { name };
    let confidence = known.fields.get("confidence").and_then(Value::as_f64).map(|number| number.to_string());
    let tags = known.texts("tags").map(|tag| text::foreign(tag, 30)).collect::<Vec<_>>().join(", ");
    let more: Vec<String> =
        confidence.into_iter().chain(Some(tags).filter(|tags| !tags.is_empty())).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    format!("{} {name}{stale}{}{more}", known.kind.as_str(), about(known.text(known.kind.fields()[1].name)))
}

fn about(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {}", text::one_line(text, 160)) }
}

/// Formats all of it, with a field on each line.
pub(crate) fn page(known: &Known) -> Vec<String> {
    let (key, body) = (known.kind.key_field(), known.kind.fields()[1].name);
    let mut lines =
        vec![format!("{} {}", known.kind.as_str(), text::foreign(&known.name.replace('\u{1f}', " "), 120))];
    lines.extend(known.text(body).lines().map(text::printable));
    for field in known.kind.fields().iter().filter(|field| field.name != key && field.name != body) {
        let Some(value) = known.fields.get(field.name) else { continue };
        let shown = match value {
            Value::Array(members) => members.iter().map(plain).collect::<Vec<_>>().join(", "),
            one => plain(one),
        };
        if !shown.is_empty() {
            lines.push(format!("{}: {shown}", field.name));
        }
    }
    lines.push(format!("by {}, {}", text::foreign(&known.by.name, 60), known.at.utc()));
    lines.extend(known.stale.map(|since| format!("stale since {}: its file has changed", since.utc())));
    lines
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text::one_line(text, 400))
}
