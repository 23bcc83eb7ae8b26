//! One written value inside a CRDT entity: `[at, value, by]`.

use serde_json::Value;
use yrs::Any;

use crate::value::from_any;
use crate::value::to_any;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) at: i64,
    pub(crate) value: Value,
    pub(crate) by: Value,
}

impl Entry {
    pub(crate) fn read(any: &Any) -> Option<Self> {
        let Any::Array(parts) = any else { return None };
        let [at, value, by] = parts.as_ref() else { return None };
        Some(Self { at: from_any(at).as_i64()?, value: from_any(value), by: from_any(by) })
    }

    /// Reads only the time of an entry, which is all that an overwrite needs.
    pub(crate) fn read_at(any: &Any) -> Option<i64> {
        let Any::Array(parts) = any else { return None };
        let [at, _, _] = parts.as_ref() else { return None };
        from_any(at).as_i64()
    }
}

/// Encodes an entry; `by` is converted already, as all entries of a batch share it.
pub(crate) fn write(at: i64, value: &Value, by: &Any) -> Any {
    Any::Array([Any::from(at), to_any(value), by.clone()].into())
}
