//! Knowledge records as values of the query language, decoded field by field.

use std::sync::Arc;

use consort_core::Timestamp;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_core::knowledge::RowField;
use consort_scheme::Records;
use consort_scheme::Value;
use serde_json::Value as Json;

use crate::arena::Arena;

/// The field with a file's hash: it is long and tells a reader nothing, so it is shown only if asked for.
const HASH: &str = "hash";

/// Encoded records of one kind, one after the other in an arena.
pub(crate) struct EncodedRecords {
    kind: Kind,
    rows: Arena,
    /// The offsets at which each row ends, and the next begins.
    ends: Vec<usize>,
    /// The time of the query.
    now: Timestamp,
}

impl EncodedRecords {
    fn new(kind: Kind, now: Timestamp) -> Self {
        Self { kind, rows: Arena::new(), ends: Vec::new(), now }
    }

    pub(crate) fn of(known: &Known, now: Timestamp) -> Self {
        let mut entries = Self::new(known.kind, now);
        entries.push(&Row::encode(known));
        entries
    }

    fn push(&mut self, row: &[u8]) {
        self.rows.push(row);
        self.ends.push(self.rows.bytes().len());
    }

    fn add_to(self, values: &mut Vec<Value>) {
        let count = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let entries: Arc<dyn Records> = Arc::new(self);
        values.extend((0..count).map(|record| Value::Record(Arc::clone(&entries), record)));
    }

    fn row(&self, record: u32) -> Row<'_> {
        let record = record as usize;
        let start = record.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(record).copied().unwrap_or(start);
        Row::new(self.kind, self.rows.bytes().get(start..end).unwrap_or_default())
    }
}

/// A list of records that is being filled; further [`EncodedRecords`] are made when one is full.
pub(crate) struct EncodedRecordsBuilder {
    values: Vec<Value>,
    last: EncodedRecords,
}

impl EncodedRecordsBuilder {
    pub(crate) fn new(kind: Kind, now: Timestamp) -> Self {
        Self { values: Vec::new(), last: EncodedRecords::new(kind, now) }
    }

    pub(crate) fn push(&mut self, row: &[u8]) {
        if !self.last.rows.has_room(row.len()) {
            let rows = Arena::large(row.len());
            let next = EncodedRecords { kind: self.last.kind, rows, ends: Vec::new(), now: self.last.now };
            std::mem::replace(&mut self.last, next).add_to(&mut self.values);
        }
        self.last.push(row);
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        let Self { mut values, last } = self;
        last.add_to(&mut values);
        values
    }
}

impl Records for EncodedRecords {
    fn kind(&self) -> &str {
        self.kind.as_str()
    }

    fn get(&self, record: u32, field: &str) -> Value {
        match field {
            "kind" => Value::string(self.kind.as_str()),
            "name" if self.kind == Kind::File => self.get(record, "path"),
            // In a list of search results, a relationship is named by its content.
            "name" if self.kind == Kind::Relationship => {
                let row = self.row(record);
                let part = |field: &str| match row.get(field) {
                    Some(RowField::Text(text)) => text.to_owned(),
                    _ => String::new(),
                };
                Value::string(["from", "type", "to"].map(part).join(" "))
            }
            // A file that somebody described or confirmed has been looked at.
            "lastAnalyzed" | "last-analyzed" if self.kind == Kind::File => self.get(record, "at"),
            // The author, for queries that ask for it: `(@ p :by)`, `(@ p :commit)`.
            "by" | "agent" | "commit" | "via" => {
                let by = self.row(record).value("by");
                let part = if field == "commit" || field == "via" { field } else { "name" };
                by.and_then(|by| by.get(part).map(value)).unwrap_or_default()
            }
            "at" | "time" => match self.row(record).get("at") {
                Some(RowField::Integer(at)) if field == "at" => Value::string(Timestamp(at).utc()),
                Some(RowField::Integer(time)) => Value::Int(time),
                _ => Value::Nil,
            },
            "stale" => Value::Bool(self.row(record).stale_since().is_some()),
            // `:confidence` is as it was recorded; `:weight` is the confidence after ageing and staleness.
            "weight" => Value::Float((self.row(record).weight(self.now) * 1_000.0).round() / 1_000.0),
            field => self.row(record).get(field).map(shown).unwrap_or_default(),
        }
    }

    fn bytes(&self) -> usize {
        self.rows.size() + self.ends.len() * size_of::<usize>()
    }

    fn fields(&self, record: u32) -> Vec<(Arc<str>, Value)> {
        let one = |name: &'static str| (name.into(), self.get(record, name));
        let mut fields: Vec<(Arc<str>, Value)> = self
            .kind
            .fields()
            .iter()
            .filter(|field| field.name != HASH)
            .map(|field| one(field.name))
            .collect();
        // Stale records are marked wherever they are shown.
        if self.row(record).stale_since().is_some() {
            fields.push(("stale".into(), Value::Bool(true)));
        }
        fields
    }
}

fn shown(piece: RowField<'_>) -> Value {
    match piece {
        RowField::Text(text) => Value::string(text),
        RowField::Integer(number) => Value::Int(number),
        RowField::Number(number) => Value::Float(number),
        RowField::Texts(texts) => Value::list(texts.map(Value::string).collect()),
        RowField::Other(json) => value(&json),
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
