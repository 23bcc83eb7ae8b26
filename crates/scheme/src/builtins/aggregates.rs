//! Scheme builtins that compute one number from a list: sum, average, minimum, maximum. They skip
//! nil, so that a field which some records lack can still be averaged.

use crate::builtins::Builtin;
use crate::builtins::arguments::list;
use crate::builtins::exactly;
use crate::builtins::numbers;
use crate::builtins::plain;
use crate::error::Error;
use crate::list::List;
use crate::meter::Meter;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    plain("min", "(min number ...) or (min list)", "the least; nil of none", (1, None), min),
    plain("max", "(max number ...) or (max list)", "the greatest; nil of none", (1, None), max),
    plain("sum", "(sum list)", "all added", exactly(1), sum),
    plain("average", "(average list)", "the mean; nil of none", exactly(1), average),
];

fn min(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    extreme(arguments, |one, two| one < two, meter)
}

fn max(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    extreme(arguments, |one, two| one > two, meter)
}

fn extreme(arguments: &[Value], is_beyond: fn(f64, f64) -> bool, meter: &mut Meter) -> Result<Value, Error> {
    if let [Value::List(list)] = arguments {
        meter.charge_steps(list.len() as u64)?;
        return beyond(list.iter(), is_beyond);
    }
    beyond(arguments.iter(), is_beyond)
}

fn beyond<'a>(
    values: impl Iterator<Item = &'a Value>,
    is_beyond: fn(f64, f64) -> bool,
) -> Result<Value, Error> {
    let mut best: Option<(f64, &Value)> = None;
    for value in values.filter(|value| !matches!(value, Value::Nil)) {
        let number = numbers::float(value)?;
        if best.is_none_or(|(best, _)| is_beyond(number, best)) {
            best = Some((number, value));
        }
    }
    Ok(best.map_or(Value::Nil, |(_, value)| value.clone()))
}

fn sum(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let values = list(&arguments[0])?;
    meter.charge_steps(values.len() as u64)?;
    total(values)
}

fn average(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let values = list(&arguments[0])?;
    meter.charge_steps(2 * values.len() as u64)?;
    let count = values.iter().filter(|value| !matches!(value, Value::Nil)).count();
    if count == 0 {
        return Ok(Value::Nil);
    }
    numbers::divided(&total(values)?, &Value::Int(count as i64))
}

fn total(values: &List) -> Result<Value, Error> {
    let mut values = values.iter().filter(|value| !matches!(value, Value::Nil));
    values.try_fold(Value::Int(0), |sum, value| numbers::added(&sum, value))
}
