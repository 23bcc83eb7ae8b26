//! Something known in a form that is read field by field: a query over
//! thousands looks at two fields of each and decodes no more.
//!
//! The values of its kind's fields in their order, each with what it is and its
//! length before it, and then when it was said, by whom, and since when it is stale.

use serde_json::Map;
use serde_json::Value;

use super::Kind;
use super::Known;
use crate::Timestamp;

/// The encoded form of a [`Known`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub kind: Kind,
    bytes: &'a [u8],
}

/// What follows the fields.
const AFTER: [&str; 3] = ["at", "by", "stale"];

impl<'a> Row<'a> {
    pub fn new(kind: Kind, bytes: &'a [u8]) -> Self {
        Self { kind, bytes }
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub fn encode(known: &Known) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in known.kind.fields() {
            put(&mut bytes, known.fields.get(field.name).unwrap_or(&Value::Null));
        }
        put(&mut bytes, &known.at.0.into());
        put(&mut bytes, &serde_json::to_value(&known.by).unwrap_or_default());
        put(&mut bytes, &known.stale.map(|since| since.0).into());
        bytes
    }

    /// A field, by any of its names; `None` where it says nothing.
    pub fn get(&self, name: &str) -> Option<Piece<'a>> {
        let fields = self.kind.fields();
        let place = fields
            .iter()
            .position(|field| field.is_called(name))
            .or_else(|| AFTER.iter().position(|field| *field == name).map(|place| place + fields.len()))?;
        let mut rest = self.bytes;
        for _ in 0..place {
            rest = take(rest)?.2;
        }
        let (tag, bytes, _) = take(rest)?;
        match tag {
            TEXT => str::from_utf8(bytes).ok().map(Piece::Text),
            INTEGER => bytes.try_into().ok().map(|bytes| Piece::Integer(i64::from_le_bytes(bytes))),
            NUMBER => bytes.try_into().ok().map(|bytes| Piece::Number(f64::from_le_bytes(bytes))),
            TEXTS => Some(Piece::Texts(Texts(bytes))),
            OTHER => serde_json::from_slice(bytes).ok().map(Piece::Other),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> &'a str {
        match self.get(name) {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    pub fn value(&self, name: &str) -> Option<Value> {
        Some(match self.get(name)? {
            Piece::Text(text) => text.into(),
            Piece::Integer(number) => number.into(),
            Piece::Number(number) => number.into(),
            Piece::Texts(texts) => texts.collect::<Vec<_>>().into(),
            Piece::Other(value) => value,
        })
    }

    /// Since when it is stale.
    pub fn stale(&self) -> Option<Timestamp> {
        match self.get("stale") {
            Some(Piece::Integer(since)) => Some(Timestamp(since)),
            _ => None,
        }
    }

    /// The whole of it.
    pub fn decode(&self) -> Known {
        let mut fields = Map::new();
        for field in self.kind.fields() {
            fields.extend(self.value(field.name).map(|value| (field.name.to_owned(), value)));
        }
        let name = match self.kind {
            Kind::Relationship => {
                let text =
                    |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
                super::actions::link_name(&text("from"), &text("type"), &text("to"))
            }
            kind => fields.get(kind.key_field()).and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        Known {
            kind: self.kind,
            name,
            fields,
            at: Timestamp(self.value("at").and_then(|at| at.as_i64()).unwrap_or(0)),
            by: self.value("by").and_then(|by| serde_json::from_value(by).ok()).unwrap_or_default(),
            stale: self.stale(),
            ids: Vec::new(),
        }
    }
}

const NOTHING: u8 = 0;
const TEXT: u8 = 1;
const INTEGER: u8 = 2;
const NUMBER: u8 = 3;
const TEXTS: u8 = 4;
const OTHER: u8 = 5;

/// What a field says.
#[derive(Debug)]
pub enum Piece<'a> {
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Texts(Texts<'a>),
    Other(Value),
}

/// Texts one after the other.
#[derive(Debug)]
pub struct Texts<'a>(&'a [u8]);

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (text, rest) = measured(self.0)?;
        self.0 = rest;
        str::from_utf8(text).ok()
    }
}

fn put(bytes: &mut Vec<u8>, value: &Value) {
    let texts = |all: &Vec<Value>| {
        let mut texts = Vec::new();
        all.iter().try_for_each(|one| one.as_str().map(|text| measure(&mut texts, text.as_bytes())))?;
        Some(texts)
    };
    let (tag, piece) = match value {
        Value::Null => (NOTHING, Vec::new()),
        Value::String(text) => (TEXT, text.as_bytes().to_vec()),
        Value::Number(number) if number.is_i64() => {
            (INTEGER, number.as_i64().unwrap_or(0).to_le_bytes().to_vec())
        }
        Value::Number(number) if number.is_f64() => {
            (NUMBER, number.as_f64().unwrap_or(0.0).to_le_bytes().to_vec())
        }
        Value::Array(all) if let Some(texts) = texts(all) => (TEXTS, texts),
        other => (OTHER, other.to_string().into_bytes()),
    };
    bytes.push(tag);
    measure(bytes, &piece);
}

/// A piece, what it is, and what follows.
fn take(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (piece, rest) = measured(rest)?;
    Some((*tag, piece, rest))
}

/// Bytes with their number before them, seven bits at a time.
fn measure(bytes: &mut Vec<u8>, piece: &[u8]) {
    let mut length = piece.len();
    while length > 0x7f {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(piece);
}

fn measured(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (mut length, mut shift, mut rest) = (0_usize, 0, bytes);
    loop {
        let (byte, after) = rest.split_first()?;
        length |= (usize::from(byte & 0x7f)).checked_shl(shift)?;
        (shift, rest) = (shift + 7, after);
        if byte & 0x80 == 0 {
            return rest.split_at_checked(length);
        }
    }
}
