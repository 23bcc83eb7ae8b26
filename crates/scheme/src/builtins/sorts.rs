//! Scheme builtins that order lists: `sort`, `sort-by`, `max-by`, `min-by`.

use std::cmp::Ordering;

use crate::builtins::Builtin;
use crate::builtins::arguments::is_function;
use crate::builtins::arguments::list;
use crate::builtins::arguments::wanted;
use crate::builtins::calling;
use crate::builtins::exactly;
use crate::error::Error;
use crate::list::List;
use crate::machine::Machine;
use crate::order;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    calling(
        "sort",
        "(sort list less?)",
        "in the order of less?, or of the values; nil last",
        (1, Some(2)),
        sort,
    ),
    calling(
        "sort-by",
        "(sort-by key list :desc)",
        "in the order of the key; :desc turns it; nil last",
        (2, Some(3)),
        sort_by,
    ),
    calling("max-by", "(max-by key list)", "the one with the greatest key, or nil", exactly(2), max_by),
    calling("min-by", "(min-by key list)", "the one with the least key, or nil", exactly(2), min_by),
];

fn sort(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let (less, values) = match arguments {
        [values] => (None, list(values)?),
        [one, two] => {
            let (less, values) = function_and_list(one, two)?;
            (Some(less), values)
        }
        _ => return Err(Error::new("a list is wanted")),
    };
    machine.meter.charge_cells(3 + 2 * values.len())?;
    let values: Vec<Value> = values.iter().cloned().collect();
    let sorted = match less {
        Some(less) => {
            let outer = std::mem::replace(&mut machine.meter.is_sorting, true);
            let sorted = order::sort(values, |one, two| {
                Ok(machine.call(less, &[one.clone(), two.clone()])?.is_true())
            });
            machine.meter.is_sorting = outer;
            sorted?
        }
        None => order::sort(values, |one, two| Ok(order::compare(one, two, machine.meter)?.is_lt()))?,
    };
    machine.meter.list(sorted)
}

fn sort_by(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let (key, values, order) = match arguments {
        // `(sort-by key > list)`, the order of arguments in other Schemes.
        [key, order, values @ Value::List(_)] => (key, values, Some(order)),
        [key, values, order] => (key, values, Some(order)),
        _ => (&arguments[0], &arguments[1], None),
    };
    let (key, values) = function_and_list(key, values)?;
    let is_descending = order.map_or(Ok(false), is_descending)?;
    machine.meter.charge_cells(3 + 3 * values.len())?;
    let mut keyed = Vec::with_capacity(values.len());
    for value in values {
        keyed.push((machine.call(key, std::slice::from_ref(value))?, value));
    }
    let sorted = order::sort(keyed, |(one, _), (two, _)| {
        match (order::is_missing(one), order::is_missing(two)) {
            (false, false) => {}
            (is_one_missing, is_two_missing) => return Ok(!is_one_missing && is_two_missing),
        }
        let order = order::compare(one, two, machine.meter)?;
        Ok(if is_descending { order.is_gt() } else { order.is_lt() })
    })?;
    machine.meter.list(sorted.into_iter().map(|(_, value)| value.clone()).collect())
}

fn max_by(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    extreme_by(arguments, machine, Ordering::is_gt)
}

fn min_by(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    extreme_by(arguments, machine, Ordering::is_lt)
}

/// Returns the first value whose key is beyond all others; values whose key is nil do not count.
fn extreme_by(
    arguments: &[Value],
    machine: &mut Machine<'_>,
    is_beyond: fn(Ordering) -> bool,
) -> Result<Value, Error> {
    let (key, values) = function_and_list(&arguments[0], &arguments[1])?;
    let mut best: Option<(Value, &Value)> = None;
    for value in values {
        let one = machine.call(key, std::slice::from_ref(value))?;
        let is_better = match &best {
            _ if matches!(one, Value::Nil) => false,
            None => true,
            Some((best, _)) => is_beyond(order::compare(&one, best, machine.meter)?),
        };
        if is_better {
            best = Some((one, value));
        }
    }
    Ok(best.map_or(Value::Nil, |(_, value)| value.clone()))
}

fn function_and_list<'a>(one: &'a Value, two: &'a Value) -> Result<(&'a Value, &'a List), Error> {
    match (is_function(one), is_function(two)) {
        (true, _) => Ok((one, list(two)?)),
        (false, true) => Ok((two, list(one)?)),
        (false, false) => Err(wanted("a function", one)),
    }
}

fn is_descending(value: &Value) -> Result<bool, Error> {
    Ok(match value {
        Value::Function(function) => function.name().is_some_and(|name| name.starts_with('>')),
        Value::Bool(value) => *value,
        Value::Nil => false,
        other => match other.as_key().map(|name| &**name) {
            Some("desc" | "descending") => true,
            Some("asc" | "ascending") => false,
            _ => return Err(wanted(":asc or :desc", other)),
        },
    })
}
