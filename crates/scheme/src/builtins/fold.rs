//! Scheme builtins that reduce a list to one value by a function: the left and right folds, `reduce`.
//!
//! Argument orders are those of SRFI 1 and R6RS: `fold`, `fold-right` and
//! `reduce` call `(f value so-far)`, `fold-left` calls `(f so-far value)`.

use crate::builtins::Builtin;
use crate::builtins::arguments::function;
use crate::builtins::arguments::list;
use crate::builtins::calling;
use crate::builtins::exactly;
use crate::error::Error;
use crate::machine::Machine;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    calling("fold", "(fold f start list)", "(f value so-far) from the left", exactly(3), fold),
    calling("fold-left", "(fold-left f start list)", "(f so-far value) from the left", exactly(3), fold_left),
    calling(
        "fold-right",
        "(fold-right f start list)",
        "(f value so-far) from the right",
        exactly(3),
        fold_right,
    ),
    calling(
        "reduce",
        "(reduce f if-empty list)",
        "(f value so-far), beginning with the first",
        (2, Some(3)),
        reduce,
    ),
];

fn fold(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut so_far = arguments[1].clone();
    for value in list(&arguments[2])? {
        so_far = machine.call(f, &[value.clone(), so_far])?;
    }
    Ok(so_far)
}

fn fold_left(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut so_far = arguments[1].clone();
    for value in list(&arguments[2])? {
        so_far = machine.call(f, &[so_far, value.clone()])?;
    }
    Ok(so_far)
}

fn fold_right(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let values = list(&arguments[2])?;
    machine.meter.charge_cells(values.len())?;
    let values: Vec<&Value> = values.iter().collect();
    let mut so_far = arguments[1].clone();
    for value in values.into_iter().rev() {
        so_far = machine.call(f, &[value.clone(), so_far])?;
    }
    Ok(so_far)
}

fn reduce(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let (empty, values) = match arguments {
        [_, empty, values] => (empty.clone(), list(values)?),
        _ => (Value::Nil, list(&arguments[1])?),
    };
    let mut values = values.iter();
    let Some(first) = values.next() else { return Ok(empty) };
    let mut so_far = first.clone();
    for value in values {
        so_far = machine.call(f, &[value.clone(), so_far])?;
    }
    Ok(so_far)
}
