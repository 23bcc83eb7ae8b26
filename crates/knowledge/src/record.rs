//! Something known as the language sees it: decoded field by field.

use std::sync::Arc;

use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_scheme::Records;
use consort_scheme::Value;
use serde_json::Value as Json;

/// Many of a kind, in one piece.
pub(crate) struct Entries {
    kind: Kind,
    bytes: Vec<u8>,
    /// Where each ends, and the next begins.
    ends: Vec<usize>,
}

impl Entries {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, bytes: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn of(known: &Known) -> Self {
        let mut entries = Self::new(known.kind);
        entries.push(&Row::encode(known));
        entries
    }

    pub(crate) fn push(&mut self, row: &[u8]) {
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        let last = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let all: Arc<dyn Records> = Arc::new(self);
        (0..last).map(|record| Value::Record(Arc::clone(&all), record)).collect()
    }

    fn row(&self, record: u32) -> Row<'_> {
        let record = record as usize;
        let start = record.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(record).copied().unwrap_or(start);
        Row::new(self.kind, self.bytes.get(start..end).unwrap_or_default())
    }
}

impl Records for Entries {
    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn get(&self, record: u32, field: &str) -> Value {
        match field {
            "kind" => Value::string(self.kind.as_str()),
            "name" if self.kind == Kind::File => self.get(record, "path"),
            // Who said so, where it matters: `(@ p :by)`, `(@ p :commit)`.
            "by" | "agent" | "commit" => {
                let by = self.row(record).value("by");
                let part = if field == "commit" { "commit" } else { "name" };
                by.and_then(|by| by.get(part).map(value)).unwrap_or_default()
            }
            "stale" => Value::Bool(self.row(record).json("stale").is_some()),
            field => self.row(record).json(field).map(decode).unwrap_or_default(),
        }
    }

    fn fields(&self, record: u32) -> Vec<(Arc<str>, Value)> {
        let one = |name: &'static str| (name.into(), self.get(record, name));
        let mut fields: Vec<(Arc<str>, Value)> =
            self.kind.fields().iter().map(|field| one(field.name)).collect();
        // Stale knowledge says so wherever it is shown.
        if self.row(record).json("stale").is_some() {
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
        Some(b'[') if !json.contains(&b'\\') => {
            let texts = text().and_then(texts);
            texts.unwrap_or_else(|| parsed(json))
        }
        _ => parsed(json),
    }
}

/// A list of texts, none of which has anything to unescape.
fn texts(json: &str) -> Option<Value> {
    let mut pieces = json.strip_prefix("[\"")?.strip_suffix("\"]")?.split('"');
    let mut texts = Vec::new();
    loop {
        texts.push(Value::string(pieces.next()?));
        match pieces.next() {
            Some(",") => {}
            Some(_) => return None,
            None => return Some(Value::list(texts)),
        }
    }
}

fn parsed(json: &[u8]) -> Value {
    serde_json::from_slice(json).map(|json: Json| value(&json)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(value: Value) -> String {
        consort_scheme::print(&[Ok(value)], consort_scheme::Format::Json, 100_000)
    }

    proptest! {
        #[test]
        fn what_needs_no_parser_is_read_as_if_by_one(texts in prop::collection::vec(r#"[ -~é\n",\[\]]{0,12}"#, 0..5)) {
            let all = Json::from(texts.clone());
            let first = Json::from(texts.first().cloned());
            for json in [all, first] {
                let text = json.to_string();
                prop_assert_eq!(shown(decode(text.as_bytes())), shown(value(&json)));
            }
        }
    }

    #[test]
    fn what_is_no_list_of_texts_is_parsed() {
        for json in ["[1,2]", "[]", "[\"a\", \"b\"]", "[[\"a\"],\"b\"]", "0.5", "-3", "null", "{\"a\":1}"] {
            assert_eq!(
                shown(decode(json.as_bytes())),
                shown(value(&serde_json::from_str(json).unwrap())),
                "{json}"
            );
        }
    }
}
