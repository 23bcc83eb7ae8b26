//! The ordering of Scheme values, and sorting by it.
//!
//! The order is total, so that no value can break a sort: booleans, numbers (NaN
//! last), strings, symbols, keywords, lists, records, functions, nil. **Missing
//! values come last, in both directions.**

use std::cmp::Ordering;

use crate::error::Error;
use crate::meter;
use crate::meter::Meter;
use crate::value::Value;

pub(crate) fn compare(one: &Value, two: &Value, meter: &mut Meter) -> Result<Ordering, Error> {
    within(one, two, meter.nesting() + 2, meter)
}

fn within(one: &Value, two: &Value, room: usize, meter: &mut Meter) -> Result<Ordering, Error> {
    meter.tick()?;
    let room = room.checked_sub(1).ok_or_else(|| meter::too_nested(meter.nesting()))?;
    Ok(match (one, two) {
        (Value::Bool(one), Value::Bool(two)) => one.cmp(two),
        (Value::Int(one), Value::Int(two)) => one.cmp(two),
        (Value::Int(one), Value::Float(two)) => numbers(*one as f64, *two),
        (Value::Float(one), Value::Int(two)) => numbers(*one, *two as f64),
        (Value::Float(one), Value::Float(two)) => numbers(*one, *two),
        (Value::String(one), Value::String(two))
        | (Value::Symbol(one), Value::Symbol(two))
        | (Value::Keyword(one), Value::Keyword(two)) => {
            meter.charge_reading(one.len().min(two.len()))?;
            one.cmp(two)
        }
        (Value::List(one), Value::List(two)) => {
            if one.is_same(two) {
                return Ok(Ordering::Equal);
            }
            for (one, two) in one.iter().zip(two) {
                let order = within(one, two, room, meter)?;
                if order.is_ne() {
                    return Ok(order);
                }
            }
            one.len().cmp(&two.len())
        }
        _ => rank(one).cmp(&rank(two)),
    })
}

/// Whether a value has no place in an order: nil and NaN.
pub(crate) fn is_missing(value: &Value) -> bool {
    match value {
        Value::Nil => true,
        Value::Float(float) => float.is_nan(),
        _ => false,
    }
}

/// Sorts stably and in bounded time, whatever `is_less` answers: an inconsistent
/// answer only means an odd order.
pub(crate) fn sort<T: Clone>(
    values: Vec<T>,
    mut is_less: impl FnMut(&T, &T) -> Result<bool, Error>,
) -> Result<Vec<T>, Error> {
    let mut sorted = values;
    let mut width = 1;
    while width < sorted.len() {
        let mut merged = Vec::with_capacity(sorted.len());
        for pair in sorted.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some(one), Some(two)) = (left.first(), right.first()) {
                if is_less(two, one)? {
                    merged.push(two.clone());
                    right = &right[1..];
                } else {
                    merged.push(one.clone());
                    left = &left[1..];
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        sorted = merged;
        width *= 2;
    }
    Ok(sorted)
}

fn numbers(one: f64, two: f64) -> Ordering {
    one.partial_cmp(&two).unwrap_or_else(|| one.is_nan().cmp(&two.is_nan()))
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::String(_) => 3,
        Value::Symbol(_) => 4,
        Value::Keyword(_) => 5,
        Value::List(_) => 6,
        Value::Record(..) => 7,
        Value::Function(_) => 8,
        Value::Nil => 9,
    }
}
