//! Scheme builtins that call a function for each value of a list: map, filter, find.

use crate::builtins::Builtin;
use crate::builtins::arguments::function;
use crate::builtins::arguments::list;
use crate::builtins::calling;
use crate::builtins::exactly;
use crate::equal::Index;
use crate::error::Error;
use crate::list::List;
use crate::machine::Machine;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    calling("map", "(map f list ...)", "what f makes of each", (2, None), map),
    calling("for-each", "(for-each f list ...)", "calls f with each; nil", (2, None), for_each),
    calling(
        "append-map",
        "(append-map f list)",
        "the lists that f makes of each, in one",
        exactly(2),
        append_map,
    ),
    calling(
        "filter-map",
        "(filter-map f list)",
        "what f makes of each, if it is true",
        exactly(2),
        filter_map,
    ),
    calling("filter", "(filter f list)", "those for which f is true", exactly(2), filter),
    calling("remove", "(remove f list)", "those for which f is false", exactly(2), remove),
    calling("find", "(find f list)", "the first for which f is true, or #f", exactly(2), find),
    calling("any", "(any f list)", "the first true answer of f, or #f", exactly(2), any),
    calling("every", "(every f list)", "#f as soon as f is false, or its last answer", exactly(2), every),
    calling(
        "count",
        "(count f list) or (count list)",
        "how many there are for which f is true",
        (1, Some(2)),
        count,
    ),
    calling(
        "group-by",
        "(group-by f list)",
        "lists of (key value ...), by what f makes of each",
        exactly(2),
        group_by,
    ),
    calling(
        "count-by",
        "(count-by f list)",
        "lists of (key count), by what f makes of each",
        exactly(2),
        count_by,
    ),
    calling("apply", "(apply f value ... list)", "calls f with the values of the list", (2, None), apply),
];

fn map(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    if let [_, values] = arguments {
        let values = list(values)?;
        machine.meter.charge_cells(3 + values.len())?;
        let mut mapped = Vec::with_capacity(values.len());
        for value in values {
            mapped.push(machine.call(f, std::slice::from_ref(value))?);
        }
        return machine.meter.list(mapped);
    }
    let mut lists =
        arguments[1..].iter().map(|values| list(values).map(List::iter)).collect::<Result<Vec<_>, _>>()?;
    let mut mapped = Vec::new();
    loop {
        machine.meter.charge_cells(1 + lists.len())?;
        let Some(row) = lists.iter_mut().map(|values| values.next().cloned()).collect::<Option<Vec<_>>>()
        else {
            return machine.meter.list(mapped);
        };
        mapped.push(machine.call(f, &row)?);
    }
}

fn for_each(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    map(arguments, machine)?;
    Ok(Value::Nil)
}

fn append_map(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut values = Vec::new();
    for value in list(&arguments[1])? {
        let made = machine.call(f, std::slice::from_ref(value))?;
        let made = list(&made)?;
        machine.meter.charge_cells(made.len())?;
        values.extend(made.iter().cloned());
    }
    machine.meter.list(values)
}

fn filter_map(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut values = Vec::new();
    for value in list(&arguments[1])? {
        let made = machine.call(f, std::slice::from_ref(value))?;
        if made.is_true() {
            machine.meter.charge_cells(1)?;
            values.push(made);
        }
    }
    machine.meter.list(values)
}

fn filter(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    keep(arguments, machine, true)
}

fn remove(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    keep(arguments, machine, false)
}

fn keep(arguments: &[Value], machine: &mut Machine<'_>, wanted: bool) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut kept = Vec::new();
    for value in list(&arguments[1])? {
        if machine.call(f, std::slice::from_ref(value))?.is_true() == wanted {
            machine.meter.charge_cells(1)?;
            kept.push(value.clone());
        }
    }
    machine.meter.list(kept)
}

fn find(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    for value in list(&arguments[1])? {
        if machine.call(f, std::slice::from_ref(value))?.is_true() {
            return Ok(value.clone());
        }
    }
    Ok(Value::Bool(false))
}

fn any(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    for value in list(&arguments[1])? {
        let answer = machine.call(f, std::slice::from_ref(value))?;
        if answer.is_true() {
            return Ok(answer);
        }
    }
    Ok(Value::Bool(false))
}

fn every(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut answer = Value::Bool(true);
    for value in list(&arguments[1])? {
        answer = machine.call(f, std::slice::from_ref(value))?;
        if !answer.is_true() {
            return Ok(Value::Bool(false));
        }
    }
    Ok(answer)
}

fn count(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let [f, values] = arguments else { return Ok(Value::Int(list(&arguments[0])?.len() as i64)) };
    let f = function(f)?;
    let mut count = 0;
    for value in list(values)? {
        count += i64::from(machine.call(f, std::slice::from_ref(value))?.is_true());
    }
    Ok(Value::Int(count))
}

fn group_by(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut keys = Index::default();
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for value in list(&arguments[1])? {
        let key = machine.call(f, std::slice::from_ref(value))?;
        let (number, is_new) = keys.number(&key, machine.meter)?;
        if is_new {
            machine.meter.charge_cells(4)?;
            groups.push(vec![key]);
        }
        machine.meter.charge_cells(1)?;
        groups[number].push(value.clone());
    }
    let groups = groups.into_iter().map(|group| machine.meter.list(group)).collect::<Result<Vec<_>, _>>()?;
    machine.meter.list(groups)
}

fn count_by(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let mut keys = Index::default();
    let mut counts: Vec<(Value, i64)> = Vec::new();
    for value in list(&arguments[1])? {
        let key = machine.call(f, std::slice::from_ref(value))?;
        let (number, is_new) = keys.number(&key, machine.meter)?;
        if is_new {
            machine.meter.charge_cells(5)?;
            counts.push((key, 0));
        }
        counts[number].1 += 1;
    }
    let pairs = counts.into_iter().map(|(key, count)| Value::List(List::pair(key, Value::Int(count))));
    machine.meter.list(pairs.collect())
}

fn apply(arguments: &[Value], machine: &mut Machine<'_>) -> Result<Value, Error> {
    let f = function(&arguments[0])?;
    let Some((last, before)) = arguments[1..].split_last() else { return machine.call(f, &[]) };
    let last = list(last)?;
    machine.meter.charge_cells(last.len() + before.len())?;
    let all: Vec<Value> = before.iter().chain(last).cloned().collect();
    machine.call(f, &all)
}
