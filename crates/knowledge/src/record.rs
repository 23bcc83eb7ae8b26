//! Something known as the language sees it: decoded field by field.

use std::ops::Range;
use std::sync::Arc;

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_scheme::Record;
use consort_scheme::Value;
use serde_json::Value as Json;

/// One of many that share their bytes.
pub(crate) struct Entry {
    kind: Kind,
    bytes: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Entry {
    pub(crate) fn new(kind: Kind, bytes: Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { kind, bytes, range }
    }

    pub(crate) fn of(known: &Known) -> Self {
        let bytes = Row::encode(known);
        let range = 0..bytes.len();
        Self { kind: known.kind, bytes: Arc::new(bytes), range }
    }

    fn row(&self) -> Row<'_> {
        Row::new(self.kind, self.bytes.get(self.range.clone()).unwrap_or_default())
    }
}

impl Record for Entry {
    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn get(&self, field: &str) -> Value {
        match field {
            "kind" => Value::string(self.kind.as_str()),
            "name" if self.kind == Kind::File => self.get("path"),
            // Who said so, where it matters: `(@ p :by)`, `(@ p :commit)`.
            "by" | "agent" | "commit" => {
                let by = self.row().value("by");
                let part = if field == "commit" { "commit" } else { "name" };
                by.and_then(|by| by.get(part).map(value)).unwrap_or_default()
            }
            "stale" => Value::Bool(self.row().json("stale").is_some()),
            field => {
                let field = self.kind.field(field).map_or(field, |field| field.name);
                self.row().json(field).map(decode).unwrap_or_default()
            }
        }
    }

    fn fields(&self) -> Vec<(Arc<str>, Value)> {
        let mut fields: Vec<(Arc<str>, Value)> =
            self.kind.fields().iter().map(|field| (field.name.into(), self.get(field.name))).collect();
        // Stale knowledge says so wherever it is shown.
        if self.row().json("stale").is_some() {
            fields.push(("stale".into(), Value::Bool(true)));
        }
        fields
    }
}

/// JSON as the language has it. Numbers and short texts are most of what queries
/// look at, and need no parser.
fn decode(json: &[u8]) -> Value {
    let text = || std::str::from_utf8(json).ok();
    match json.first() {
        Some(b'0'..=b'9' | b'-') => {
            if let Some(number) = text().and_then(|text| text.parse::<i64>().ok()) {
                return Value::Int(number);
            }
            text().and_then(|text| text.parse().ok()).map_or(Value::Nil, Value::Float)
        }
        Some(b'"') if !json.contains(&b'\\') => {
            text().and_then(|text| text.get(1..text.len() - 1)).map_or(Value::Nil, Value::string)
        }
        _ => serde_json::from_slice(json).map(|json: Json| value(&json)).unwrap_or_default(),
    }
}

pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Nil,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => number.as_f64().map_or(Value::Nil, Value::Float),
        },
        Json::String(text) => Value::string(text.as_str()),
        Json::Array(all) => Value::list(all.iter().map(value).collect()),
        Json::Object(all) => {
            Value::dict(all.iter().map(|(key, one)| (key.as_str().into(), value(one))).collect())
        }
    }
}
