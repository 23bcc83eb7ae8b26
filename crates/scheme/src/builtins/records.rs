//! Scheme builtins about records: their fields, and `dict`, which makes one.

use crate::builtins::Builtin;
use crate::builtins::arguments::text;
use crate::builtins::arguments::wanted;
use crate::builtins::exactly;
use crate::builtins::plain;
use crate::equal::equal;
use crate::error::Error;
use crate::meter::Meter;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    plain(
        "@",
        "(@ record :field ...)",
        "the field, or the field of the field; nil if missing",
        (1, None),
        access,
    ),
    plain("@keys", "(@keys record)", "the names of the fields", exactly(1), keys),
    plain("dict", "(dict :key value ...)", "a record of these fields", (0, None), dict),
    plain("kind", "(kind record)", "what the record is one of; nil for others", exactly(1), kind),
    plain("error", "(error message value ...)", "stops with the message", (1, None), error),
];

fn access(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let mut value = arguments[0].clone();
    for key in &arguments[1..] {
        meter.tick()?;
        if let Some(group) = group(&value, key, meter)? {
            value = group;
            continue;
        }
        value = match key.as_key() {
            Some(name) => meter.field(&value, name)?,
            None => Value::Nil,
        };
    }
    Ok(value)
}

/// Returns the members of a group of `group-by` or `count-by`, if its key is used like the name of a field.
fn group(value: &Value, key: &Value, meter: &mut Meter) -> Result<Option<Value>, Error> {
    let Value::List(groups) = value else { return Ok(None) };
    for group in groups.iter() {
        let Value::List(members) = group else { return Ok(None) };
        if let Some(head) = members.first()
            && equal(head, key, meter)?
        {
            let rest = members.rest_of_pair().cloned();
            return Ok(Some(rest.unwrap_or_else(|| Value::List(members.rest()))));
        }
    }
    Ok(None)
}

fn keys(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    if let Value::List(groups) = &arguments[0] {
        // The groups of `group-by`, or the pairs of an association list.
        let head = |group: &Value| match group {
            Value::List(members) => members.iter().next().cloned(),
            _ => None,
        };
        let heads: Option<Vec<Value>> = groups.iter().map(head).collect();
        let heads = heads.ok_or_else(|| wanted("a record, or what group-by answers", &arguments[0]))?;
        return meter.list(heads);
    }
    let Value::Record(records, record) = &arguments[0] else { return Ok(Value::list(Vec::new())) };
    let fields = records.fields(*record);
    meter.charge_cells(3 + fields.len())?;
    meter.list(fields.into_iter().map(|(name, _)| Value::Keyword(name)).collect())
}

fn dict(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    if !arguments.len().is_multiple_of(2) {
        return Err(Error::new("a key has no value"));
    }
    meter.charge_cells(6 + 2 * arguments.len())?;
    let mut fields = Vec::with_capacity(arguments.len() / 2);
    for pair in arguments.chunks_exact(2) {
        let key = pair[0].as_key().ok_or_else(|| wanted("a key like :name", &pair[0]))?;
        fields.push((key.clone(), pair[1].clone()));
    }
    meter.check_nesting(Value::dict(fields))
}

fn kind(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let Value::Record(records, _) = &arguments[0] else { return Ok(Value::Nil) };
    meter.charge_text(records.kind().len())?;
    Ok(Value::symbol(records.kind()))
}

fn error(arguments: &[Value], meter: &mut Meter) -> Result<Value, Error> {
    let message = text(&arguments[0])?;
    meter.charge_text(message.len())?;
    let mut message = message.to_owned();
    for value in &arguments[1..] {
        const LONGEST: usize = 200;
        meter.charge_text(LONGEST)?;
        let shown = crate::print::print(&[Ok(value.clone())], crate::print::Format::Columnar, LONGEST);
        message.push(' ');
        message.push_str(&shown);
    }
    Err(Error::new(message).hint("the program said so"))
}
