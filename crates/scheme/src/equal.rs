//! Equality of Scheme values, and an index of distinct values by hash.
//!
//! Values may share parts, so a small value can be exponentially large when it is walked: every
//! comparison is charged.

use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::sync::Arc;

use crate::error::Error;
use crate::meter;
use crate::meter::Meter;
use crate::value::Value;

pub(crate) fn equal(one: &Value, two: &Value, meter: &mut Meter) -> Result<bool, Error> {
    let room = meter.nesting() + 2;
    compare(one, two, room, meter)
}

fn compare(one: &Value, two: &Value, room: usize, meter: &mut Meter) -> Result<bool, Error> {
    meter.tick()?;
    Ok(match (one, two) {
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(one), Value::Bool(two)) => one == two,
        (Value::Int(one), Value::Int(two)) => one == two,
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
            *int as f64 == *float
        }
        (Value::Float(one), Value::Float(two)) => one == two,
        // Tables print strings without quotes, so a program that copies one contains a symbol.
        (Value::String(one) | Value::Symbol(one), Value::String(two) | Value::Symbol(two))
        | (Value::Keyword(one), Value::Keyword(two)) => {
            if one.len() == two.len() && !Arc::ptr_eq(one, two) {
                meter.charge_reading(one.len())?;
            }
            one == two
        }
        (Value::List(one), Value::List(two)) => {
            if one.is_same(two) {
                return Ok(true);
            }
            let room = inside(room, meter)?;
            one.len() == two.len() && all(one.iter().zip(two), room, meter)?
        }
        (Value::Record(these, one), Value::Record(those, two)) => {
            if one == two && Arc::ptr_eq(these, those) {
                return Ok(true);
            }
            if these.kind() != those.kind() {
                return Ok(false);
            }
            let room = inside(room, meter)?;
            let (one, two) = (these.fields(*one), those.fields(*two));
            one.len() == two.len()
                && one.iter().zip(&two).all(|((one, _), (two, _))| one == two)
                && all(one.iter().zip(&two).map(|((_, one), (_, two))| (one, two)), room, meter)?
        }
        (Value::Function(one), Value::Function(two)) => one.is_same(two),
        _ => false,
    })
}

fn all<'a>(
    mut pairs: impl Iterator<Item = (&'a Value, &'a Value)>,
    room: usize,
    meter: &mut Meter,
) -> Result<bool, Error> {
    pairs.try_fold(true, |same, (one, two)| Ok(same && compare(one, two, room, meter)?))
}

fn inside(room: usize, meter: &Meter) -> Result<usize, Error> {
    room.checked_sub(1).ok_or_else(|| meter::too_nested(meter.nesting()))
}

/// Distinct values, numbered in the order in which they came.
#[derive(Default)]
pub(crate) struct Index {
    /// The numbers of the values with a hash.
    known: HashMap<u64, Vec<usize>>,
    values: Vec<Value>,
}

impl Index {
    /// Returns the number of `value`, and whether it is new.
    pub(crate) fn number(&mut self, value: &Value, meter: &mut Meter) -> Result<(usize, bool), Error> {
        let mut hasher = DefaultHasher::new();
        hash(value, meter.nesting() + 2, &mut hasher, meter)?;
        let alike = self.known.entry(hasher.finish()).or_default();
        for &number in alike.iter() {
            if equal(&self.values[number], value, meter)? {
                return Ok((number, false));
            }
        }
        meter.charge_cells(2)?;
        alike.push(self.values.len());
        self.values.push(value.clone());
        Ok((self.values.len() - 1, true))
    }

    pub(crate) fn into_values(self) -> Vec<Value> {
        self.values
    }
}

fn hash(value: &Value, room: usize, hasher: &mut DefaultHasher, meter: &mut Meter) -> Result<(), Error> {
    meter.tick()?;
    match value {
        Value::Nil => 0.hash(hasher),
        Value::Bool(value) => value.hash(hasher),
        // Equal numbers have equal hashes; adding 0.0 removes the sign of a zero.
        Value::Int(value) => (*value as f64 + 0.0).to_bits().hash(hasher),
        Value::Float(value) => (*value + 0.0).to_bits().hash(hasher),
        Value::String(text) | Value::Symbol(text) | Value::Keyword(text) => {
            meter.charge_reading(text.len())?;
            text.hash(hasher);
        }
        Value::List(list) => {
            let room = inside(room, meter)?;
            for value in list {
                hash(value, room, hasher, meter)?;
            }
        }
        // Hash only the kind: comparing tells records of one kind apart.
        Value::Record(records, _) => records.kind().hash(hasher),
        Value::Function(_) => 1.hash(hasher),
    }
    Ok(())
}
