//! Checks and converts the arguments of Scheme builtins.

use crate::error::Error;
use crate::list::List;
use crate::value::Value;

static EMPTY: List = List::new();

/// Returns a list; nil counts as an empty one.
pub(super) fn list(value: &Value) -> Result<&List, Error> {
    match value {
        Value::List(list) => Ok(list),
        Value::Nil => Ok(&EMPTY),
        other => Err(wanted("a list", other)),
    }
}

/// Returns the text of a string, or the name of a symbol or keyword.
pub(super) fn text(value: &Value) -> Result<&str, Error> {
    match value {
        Value::String(text) | Value::Symbol(text) | Value::Keyword(text) => Ok(text),
        Value::Int(_) | Value::Float(_) => Err(wanted("a string", value).hint("use (number->string n)")),
        other => Err(wanted("a string", other)),
    }
}

/// Returns the text of an argument; `None` for nil, which contains no text.
pub(super) fn optional_text(value: &Value) -> Result<Option<&str>, Error> {
    match value {
        Value::Nil => Ok(None),
        other => text(other).map(Some),
    }
}

/// Returns a count; a number below zero counts as zero.
pub(super) fn count(value: &Value) -> Result<usize, Error> {
    match value {
        Value::Int(int) => Ok(usize::try_from((*int).max(0)).unwrap_or(usize::MAX)),
        Value::Float(float) if float.fract() == 0.0 => Ok(*float as usize),
        other => Err(wanted("a whole number", other)),
    }
}

/// Returns a list and a count, which may be given in either order.
pub(super) fn list_and_count(arguments: &[Value]) -> Result<(&List, usize), Error> {
    match arguments {
        [count_first @ (Value::Int(_) | Value::Float(_)), values] => Ok((list(values)?, count(count_first)?)),
        [values, count_last] => Ok((list(values)?, count(count_last)?)),
        _ => Err(Error::new("a list and a count are wanted")),
    }
}

pub(super) fn function(value: &Value) -> Result<&Value, Error> {
    match value {
        Value::Function(_) | Value::Keyword(_) => Ok(value),
        other => Err(wanted("a function", other)),
    }
}

pub(super) fn is_function(value: &Value) -> bool {
    matches!(value, Value::Function(_) | Value::Keyword(_))
}

pub(super) fn wanted(what: &str, value: &Value) -> Error {
    Error::new(format!("{what} is wanted here, not {}", value.what()))
}
