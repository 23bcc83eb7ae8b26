//! Something known in a form that is read field by field: a query over
//! thousands looks at two fields of each and decodes no more.
//!
//! The values of its kind's fields in their order, each as JSON with its length
//! before it, and then who said so, when, and since when it is stale.

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
        let mut push = |json: &[u8]| {
            let length = u32::try_from(json.len()).unwrap_or(0);
            bytes.extend(length.to_le_bytes());
            bytes.extend(&json[..length as usize]);
        };
        for field in known.kind.fields() {
            let value = known.fields.get(field.name).map(|value| value.to_string());
            push(value.unwrap_or_default().as_bytes());
        }
        push(known.at.0.to_string().as_bytes());
        push(&serde_json::to_vec(&known.by).unwrap_or_default());
        push(known.stale.map_or_else(String::new, |since| since.0.to_string()).as_bytes());
        bytes
    }

    /// A field as JSON; `None` where it says nothing.
    pub fn json(&self, name: &str) -> Option<&'a [u8]> {
        let fields = self.kind.fields();
        let place = fields
            .iter()
            .position(|field| field.is_called(name))
            .or_else(|| AFTER.iter().position(|field| *field == name).map(|place| place + fields.len()))?;
        let mut rest = self.bytes;
        for _ in 0..place {
            rest = take(rest)?.1;
        }
        take(rest).map(|(json, _)| json).filter(|json| !json.is_empty())
    }

    pub fn value(&self, name: &str) -> Option<Value> {
        serde_json::from_slice(self.json(name)?).ok()
    }

    /// The whole of it.
    pub fn decode(&self) -> Known {
        let mut fields = Map::new();
        for field in self.kind.fields() {
            fields.extend(self.value(field.name).map(|value| (field.name.to_owned(), value)));
        }
        let time = |name: &str| self.value(name).and_then(|value| value.as_i64()).map(Timestamp);
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
            at: time("at").unwrap_or(Timestamp(0)),
            by: self.json("by").and_then(|json| serde_json::from_slice(json).ok()).unwrap_or_default(),
            stale: time("stale"),
            ids: Vec::new(),
        }
    }
}

/// A piece with its length before it, and what follows.
fn take(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
