//! Scheme builtins that make lists, take them apart and search them.

use crate::builtins::Builtin;
use crate::builtins::arguments::count;
use crate::builtins::arguments::list;
use crate::builtins::arguments::list_and_count;
use crate::builtins::exactly;
use crate::builtins::numbers;
use crate::builtins::plain;
use crate::equal::Index;
use crate::equal::equal;
use crate::error::Error;
use crate::list::List;
use crate::meter::Meter;
use crate::value::Value;

/// Cells that a list costs besides its values.
const HEAD: usize = 3;

pub(super) static TABLE: &[Builtin] = &[
    plain("list", "(list value ...)", "a list of the values", (0, None), make),
    plain("cons", "(cons value list)", "the list with the value before it, or a pair", exactly(2), cons),
    plain("car", "(car list)", "the first; nil if there is none", exactly(1), first),
    plain("first", "(first list)", "the first; nil if there is none", exactly(1), first),
    plain("second", "(second list)", "the second; nil if there is none", exactly(1), second),
    plain("cadr", "(cadr list)", "the second; nil if there is none", exactly(1), second),
    plain("caar", "(caar lists)", "the first of the first", exactly(1), first_of_first),
    plain("cdar", "(cdar lists)", "all but the first of the first", exactly(1), rest_of_first),
    plain("third", "(third list)", "the third; nil if there is none", exactly(1), third),
    plain("caddr", "(caddr list)", "the third; nil if there is none", exactly(1), third),
    plain("last", "(last list)", "the last; nil if there is none", exactly(1), last),
    plain("cdr", "(cdr list)", "all but the first", exactly(1), rest),
    plain("rest", "(rest list)", "all but the first", exactly(1), rest),
    plain("cddr", "(cddr list)", "all but the first two", exactly(1), after_two),
    plain("append", "(append list ...)", "one list of all", (0, None), append),
    plain("reverse", "(reverse list)", "from the end", exactly(1), reverse),
    plain("length", "(length list)", "how many", exactly(1), length),
    plain("list-ref", "(list-ref list index)", "the value at the index, from 0", exactly(2), list_ref),
    plain("list-tail", "(list-tail list count)", "what comes after the first so many", exactly(2), drop),
    plain("take", "(take list count)", "the first so many", exactly(2), take),
    plain("drop", "(drop list count)", "what comes after the first so many", exactly(2), drop),
    plain("member", "(member value list)", "the list from the value on, or #f", exactly(2), member),
    plain("memq", "(memq value list)", "as member", exactly(2), member),
    plain("memv", "(memv value list)", "as member", exactly(2), member),
    plain("assoc", "(assoc key lists)", "the list that begins with the key, or #f", exactly(2), assoc),
    plain("assq", "(assq key lists)", "as assoc", exactly(2), assoc),
    plain("assv", "(assv key lists)", "as assoc", exactly(2), assoc),
    plain("unique", "(unique list)", "each value once", exactly(1), unique),
    plain("delete-duplicates", "(delete-duplicates list)", "each value once", exactly(1), unique),
    plain("flatten", "(flatten list)", "the values of lists in lists, in one", exactly(1), flatten),
    plain("range", "(range end) or (range start end step)", "numbers up to the end", (1, Some(3)), range),
    plain("iota", "(iota count start step)", "so many numbers", (1, Some(3)), iota),
];

fn make(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    meter.charge_cells(HEAD + arguments.len())?;
    meter.list(arguments.to_vec())
}

fn cons(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let first = arguments[0].clone();
    let list = match &arguments[1] {
        Value::List(_) | Value::Nil => {
            meter.charge_cells(HEAD + 1)?;
            List::cons(first, list(&arguments[1])?.clone())
        }
        second => {
            meter.charge_cells(HEAD + 2)?;
            List::pair(first, second.clone())
        }
    };
    meter.check_nesting(Value::List(list))
}

fn nth(arguments: &[Value], index: usize) -> Result<Value, Error> {
    Ok(list(&arguments[0])?.get(index).cloned().unwrap_or_default())
}

fn first(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    nth(arguments, 0)
}

fn first_of_first(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    first(&[first(arguments, meter)?], meter)
}

fn rest_of_first(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    rest(&[first(arguments, meter)?], meter)
}

fn second(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    nth(arguments, 1)
}

fn third(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    nth(arguments, 2)
}

fn last(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let length = list(&arguments[0])?.len();
    meter.charge_steps(length as u64)?;
    nth(arguments, length.saturating_sub(1))
}

fn rest(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    let list = list(&arguments[0])?;
    Ok(list.rest_of_pair().cloned().unwrap_or_else(|| Value::List(list.skip(1))))
}

fn after_two(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    Ok(Value::List(list(&arguments[0])?.skip(2)))
}

/// Appends lists: the last one is shared, the others are copied.
fn append(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let Some((last, before)) = arguments.split_last() else { return Ok(Value::List(List::new())) };
    let mut length = 0_usize;
    for argument in before {
        length = length.saturating_add(list(argument)?.len());
    }
    meter.charge_cells(HEAD + length)?;
    let mut values = Vec::with_capacity(length);
    for argument in before {
        values.extend(list(argument)?.iter().cloned());
    }
    meter.check_nesting(Value::List(List::with_rest(values, list(last)?.clone())))
}

fn reverse(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let values = list(&arguments[0])?;
    meter.charge_cells(HEAD + values.len())?;
    let mut values: Vec<Value> = values.iter().cloned().collect();
    values.reverse();
    meter.list(values)
}

fn length(arguments: &[Value], _: &mut Meter) -> Result<Value, Error> {
    if let Value::String(_) = arguments[0] {
        return Err(Error::new("a list is wanted here, not a string").hint("use string-length"));
    }
    Ok(Value::Int(list(&arguments[0])?.len() as i64))
}

fn list_ref(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let (values, index) = (list(&arguments[0])?, count(&arguments[1])?);
    meter.charge_steps(index.min(values.len()) as u64)?;
    values
        .get(index)
        .cloned()
        .ok_or_else(|| Error::new(format!("there is no index {index} in a list of {}", values.len())))
}

fn take(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let (values, count) = list_and_count(arguments)?;
    if count >= values.len() {
        return Ok(Value::List(values.clone()));
    }
    meter.charge_cells(HEAD + count)?;
    meter.list(values.iter().take(count).cloned().collect())
}

fn drop(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let (values, count) = list_and_count(arguments)?;
    meter.charge_steps(count.min(values.len()) as u64)?;
    Ok(Value::List(values.skip(count)))
}

fn member(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let values = list(&arguments[1])?;
    for (index, value) in values.iter().enumerate() {
        if equal(&arguments[0], value, meter)? {
            return Ok(Value::List(values.skip(index)));
        }
    }
    Ok(Value::Bool(false))
}

fn assoc(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    for value in list(&arguments[1])? {
        if let Value::List(entry) = value
            && let Some(key) = entry.first()
            && equal(&arguments[0], key, meter)?
        {
            return Ok(value.clone());
        }
    }
    Ok(Value::Bool(false))
}

fn unique(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let mut index = Index::default();
    meter.charge_cells(HEAD)?;
    for value in list(&arguments[0])? {
        index.number(value, meter)?;
    }
    meter.list(index.into_values())
}

fn flatten(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let mut values = Vec::new();
    meter.charge_cells(HEAD)?;
    // The lists that have been begun, innermost last: at most as many as values may nest.
    let mut open = vec![list(&arguments[0])?.iter()];
    while let Some(last) = open.last_mut() {
        match last.next() {
            None => {
                open.pop();
            }
            Some(Value::List(inner)) => {
                meter.tick()?;
                open.push(inner.iter());
            }
            Some(value) => {
                meter.charge_cells(1)?;
                values.push(value.clone());
            }
        }
    }
    meter.list(values)
}

fn range(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let (start, end) = match arguments {
        [end] => (&Value::Int(0), end),
        [start, end, ..] => (start, end),
        [] => return Err(Error::new("an end is wanted")),
    };
    let step = arguments.get(2).unwrap_or(&Value::Int(1));
    let (from, to, by) = (numbers::float(start)?, numbers::float(end)?, numbers::float(step)?);
    if by == 0.0 {
        return Err(Error::new("a step of 0 never ends"));
    }
    // The meter refuses too many values; a length that is not a number becomes 0.
    let length = ((to - from) / by).ceil().max(0.0) as usize;
    series(start, step, length, meter)
}

fn iota(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let start = arguments.get(1).unwrap_or(&Value::Int(0));
    let step = arguments.get(2).unwrap_or(&Value::Int(1));
    series(start, step, count(&arguments[0])?, meter)
}

fn series(start: &Value, step: &Value, length: usize, meter: &mut Meter) -> Result<Value, Error> {
    meter.charge_cells(length.saturating_add(HEAD))?;
    let mut values = Vec::with_capacity(length);
    for index in 0..length {
        let offset = numbers::multiplied(step, &Value::Int(index as i64))?;
        values.push(numbers::added(start, &offset)?);
    }
    meter.list(values)
}
