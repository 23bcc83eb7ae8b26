//! The binary encoding of one knowledge record that is read field by field: a query over thousands
//! looks at two fields of each and decodes no more.
//!
//! The first byte is the width of a word. A word for each value follows, with the end and the type
//! of the value, so that any is found at once. Then come the values: the fields of the record's
//! kind in their order, when it was said, by whom, and since when it is stale.

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

/// The values that follow the fields.
const AFTER: [&str; 3] = ["at", "by", "stale"];

impl<'a> Row<'a> {
    /// Reads a row of a kind from its bytes.
    pub fn new(kind: Kind, bytes: &'a [u8]) -> Self {
        Self { kind, bytes }
    }

    /// Returns the encoded bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Encodes a record.
    pub fn encode(known: &Known) -> Vec<u8> {
        let (mut words, mut values) = (Vec::new(), Vec::new());
        let mut put = |value: &Value| {
            let what = append(&mut values, value);
            words.push((values.len() as u32) << TAG | what);
        };
        for field in known.kind.fields() {
            put(known.fields.get(field.name).unwrap_or(&Value::Null));
        }
        put(&known.at.0.into());
        put(&serde_json::to_value(&known.by).unwrap_or_default());
        put(&known.stale.map(|since| since.0).into());
        // Most records are short, and there may be very many.
        let width = if values.len() >> (u16::BITS - TAG) == 0 { SHORT } else { LONG };
        let mut bytes = vec![width as u8];
        words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()[..width]));
        bytes.append(&mut values);
        bytes
    }

    /// Returns a field, by any of its names; `None` if it has no value.
    #[inline]
    pub fn get(&self, name: &str) -> Option<RowField<'a>> {
        let fields = self.kind.fields();
        let place = fields
            .iter()
            .position(|field| field.is_called(name))
            .or_else(|| AFTER.iter().position(|field| *field == name).map(|place| place + fields.len()))?;
        let (width, rest) = self.bytes.split_first()?;
        let is_short = usize::from(*width) == SHORT;
        let width = if is_short { SHORT } else { LONG };
        let (words, values) = rest.split_at_checked((fields.len() + AFTER.len()) * width)?;
        let word = |place: usize| {
            let word = words.get(place * width..)?;
            if is_short {
                word.first_chunk().map(|word| u32::from(u16::from_le_bytes(*word)))
            } else {
                word.first_chunk().map(|word| u32::from_le_bytes(*word))
            }
        };
        let start = place.checked_sub(1).and_then(word).unwrap_or(0) >> TAG;
        let word = word(place)?;
        let bytes = values.get(start as usize..(word >> TAG) as usize)?;
        match word & WHAT {
            TEXT => str::from_utf8(bytes).ok().map(RowField::Text),
            INTEGER => bytes.try_into().ok().map(|bytes| RowField::Integer(i64::from_le_bytes(bytes))),
            NUMBER => bytes.try_into().ok().map(|bytes| RowField::Number(f64::from_le_bytes(bytes))),
            TEXTS => Some(RowField::Texts(Texts(bytes))),
            OTHER => serde_json::from_slice(bytes).ok().map(RowField::Other),
            _ => None,
        }
    }

    /// Returns a field's text; empty if it has none.
    pub fn text(&self, name: &str) -> &'a str {
        match self.get(name) {
            Some(RowField::Text(text)) => text,
            _ => "",
        }
    }

    /// Returns a field's value.
    pub fn value(&self, name: &str) -> Option<Value> {
        Some(match self.get(name)? {
            RowField::Text(text) => text.into(),
            RowField::Integer(number) => number.into(),
            RowField::Number(number) => number.into(),
            RowField::Texts(texts) => texts.collect::<Vec<_>>().into(),
            RowField::Other(value) => value,
        })
    }

    /// Returns the time of the newest statement.
    pub fn at(&self) -> Timestamp {
        match self.get("at") {
            Some(RowField::Integer(at)) => Timestamp(at),
            _ => Timestamp(0),
        }
    }

    /// Returns the time since when the record is stale.
    pub fn stale_since(&self) -> Option<Timestamp> {
        match self.get("stale") {
            Some(RowField::Integer(since)) => Some(Timestamp(since)),
            _ => None,
        }
    }

    /// Decodes the whole record; only its `ids` are empty.
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
            at: self.at(),
            by: self.value("by").and_then(|by| serde_json::from_value(by).ok()).unwrap_or_default(),
            stale: self.stale_since(),
            ids: Vec::new(),
        }
    }
}

const SHORT: usize = size_of::<u16>();
const LONG: usize = size_of::<u32>();
/// Number of bits of a word that say what type the value has; the others say where it ends.
const TAG: u32 = 3;
const WHAT: u32 = (1 << TAG) - 1;

const NOTHING: u32 = 0;
const TEXT: u32 = 1;
const INTEGER: u32 = 2;
const NUMBER: u32 = 3;
const TEXTS: u32 = 4;
const OTHER: u32 = 5;

/// The value of a field.
#[derive(Debug)]
pub enum RowField<'a> {
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Texts(Texts<'a>),
    Other(Value),
}

/// The texts of a list in an encoded record, one after the other.
#[derive(Debug)]
pub struct Texts<'a>(&'a [u8]);

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let (text, rest) = measured(self.0)?;
        self.0 = rest;
        str::from_utf8(text).ok()
    }
}

/// Appends a value, and returns its type.
fn append(bytes: &mut Vec<u8>, value: &Value) -> u32 {
    match value {
        Value::Null => NOTHING,
        Value::String(text) => {
            bytes.extend_from_slice(text.as_bytes());
            TEXT
        }
        Value::Number(number) if let Some(number) = number.as_i64() => {
            bytes.extend_from_slice(&number.to_le_bytes());
            INTEGER
        }
        Value::Number(number) if number.is_f64() => {
            bytes.extend_from_slice(&number.as_f64().unwrap_or(0.0).to_le_bytes());
            NUMBER
        }
        Value::Array(all) if all.iter().all(Value::is_string) => {
            all.iter().filter_map(Value::as_str).for_each(|text| measure(bytes, text.as_bytes()));
            TEXTS
        }
        other => {
            bytes.extend_from_slice(other.to_string().as_bytes());
            OTHER
        }
    }
}

/// Appends bytes with their length before them, seven bits at a time.
fn measure(bytes: &mut Vec<u8>, piece: &[u8]) {
    let mut length = piece.len();
    while length > 0x7f {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(piece);
}

#[inline]
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
