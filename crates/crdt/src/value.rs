//! Converts JSON values to Yjs values, and back.
//!
//! Yjs has one kind of number, and writes an integer of more than 31 bits as a
//! float where that is exact. So a float that is whole **is** an integer here:
//! otherwise `2` and `2.0` would differ until the first JavaScript program
//! wrote them back.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Map;
use serde_json::Number;
use serde_json::Value;
use yrs::Any;

/// 2^63, the float that `i64::MAX` becomes: the next smaller float is 1024 less,
/// so 2^63 is read back as `i64::MAX`.
const TOP: f64 = 9_223_372_036_854_775_808.0;

/// Returns a value as it comes back from a document.
pub(crate) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => from_float(number.as_f64().unwrap_or_default()),
        },
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), normal(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

/// Counts the arrays and objects around the innermost value.
pub(crate) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

pub(crate) fn to_any(value: &Value) -> Any {
    match value {
        Value::Null => Any::Null,
        Value::Bool(truth) => Any::Bool(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Any::from(whole),
            None => match from_float(number.as_f64().unwrap_or_default()).as_i64() {
                Some(whole) => Any::from(whole),
                None => Any::from(number.as_f64().unwrap_or_default()),
            },
        },
        Value::String(text) => Any::from(text.as_str()),
        Value::Array(items) => Any::Array(items.iter().map(to_any).collect()),
        Value::Object(fields) => {
            let fields: HashMap<_, _> =
                fields.iter().map(|(name, value)| (name.clone(), to_any(value))).collect();
            Any::Map(Arc::new(fields))
        }
    }
}

/// Converts a Yjs value; one that JSON does not have (`undefined`, `NaN`, bytes) becomes null.
pub(crate) fn from_any(any: &Any) -> Value {
    match any {
        Any::Null | Any::Undefined | Any::Buffer(_) => Value::Null,
        Any::Bool(truth) => Value::Bool(*truth),
        Any::Number(yrs::Number::Int(whole)) => Value::from(*whole),
        Any::Number(yrs::Number::Float(float)) => from_float(*float),
        Any::String(text) => Value::from(text.as_ref()),
        Any::Array(items) => items.iter().map(from_any).collect(),
        Any::Map(fields) => {
            let fields: Map<_, _> =
                fields.iter().map(|(name, value)| (name.clone(), from_any(value))).collect();
            Value::Object(fields)
        }
    }
}

fn from_float(float: f64) -> Value {
    if float.trunc() == float && (-TOP..=TOP).contains(&float) {
        // The float is whole and in range; only 2^63 itself saturates, as it should.
        Value::from(float as i64)
    } else {
        Number::from_f64(float).map_or(Value::Null, Value::Number)
    }
}
