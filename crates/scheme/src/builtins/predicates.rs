//! Scheme builtins that test a value: its type, and equality of two.

use std::cmp::Ordering;

use crate::builtins::Builtin;
use crate::builtins::exactly;
use crate::builtins::plain;
use crate::equal::equal;
use crate::error::Error;
use crate::meter::Meter;
use crate::order::is_missing;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    plain("not", "(not value)", "whether it is #f or nil", exactly(1), not),
    plain("eq?", "(eq? a b)", "whether they are the same", exactly(2), same),
    plain("eqv?", "(eqv? a b)", "whether they are the same", exactly(2), same),
    plain("equal?", "(equal? a b)", "whether they are the same", exactly(2), same),
    plain("=", "(= a b ...)", "whether all are the same", (1, None), all_same),
    plain("<", "(< a b ...)", "whether each is less than the next; not with nil", (1, None), less),
    plain(">", "(> a b ...)", "whether each is more than the next; not with nil", (1, None), more),
    plain("<=", "(<= a b ...)", "whether none is more than the next; not with nil", (1, None), at_most),
    plain(">=", "(>= a b ...)", "whether none is less than the next; not with nil", (1, None), at_least),
    plain("string=?", "(string=? a b ...)", "whether all are the same", (1, None), all_same),
    plain("string<?", "(string<? a b ...)", "whether each comes before the next", (1, None), less),
    plain("string>?", "(string>? a b ...)", "whether each comes after the next", (1, None), more),
    plain("nil?", "(nil? value)", "whether it is nil", exactly(1), is_nil),
    plain("null?", "(null? value)", "whether it is an empty list or nil", exactly(1), is_null),
    plain("empty?", "(empty? value)", "whether it is nil or an empty list or string", exactly(1), is_empty),
    plain("pair?", "(pair? value)", "whether it is a list with something in it", exactly(1), is_pair),
    plain("list?", "(list? value)", "whether it is a list", exactly(1), is_list),
    plain("string?", "(string? value)", "whether it is a string", exactly(1), is_string),
    plain("number?", "(number? value)", "whether it is a number", exactly(1), is_number),
    plain("integer?", "(integer? value)", "whether it is a whole number", exactly(1), is_integer),
    plain("symbol?", "(symbol? value)", "whether it is a symbol", exactly(1), is_symbol),
    plain("keyword?", "(keyword? value)", "whether it is a keyword", exactly(1), is_keyword),
    plain("boolean?", "(boolean? value)", "whether it is #t or #f", exactly(1), is_boolean),
    plain("procedure?", "(procedure? value)", "whether it can be called", exactly(1), is_procedure),
    plain("record?", "(record? value)", "whether it has fields", exactly(1), is_record),
];

type Answer = Result<Value, Error>;

fn not(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(!arguments[0].is_true()))
}

fn same(arguments: &[Value], meter: &mut Meter) -> Answer {
    equal(&arguments[0], &arguments[1], meter).map(Value::Bool)
}

fn all_same(arguments: &[Value], meter: &mut Meter) -> Answer {
    for pair in arguments.windows(2) {
        if !equal(&pair[0], &pair[1], meter)? {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn less(arguments: &[Value], meter: &mut Meter) -> Answer {
    ordered(arguments, Ordering::is_lt, meter)
}

fn more(arguments: &[Value], meter: &mut Meter) -> Answer {
    ordered(arguments, Ordering::is_gt, meter)
}

fn at_most(arguments: &[Value], meter: &mut Meter) -> Answer {
    ordered(arguments, Ordering::is_le, meter)
}

fn at_least(arguments: &[Value], meter: &mut Meter) -> Answer {
    ordered(arguments, Ordering::is_ge, meter)
}

fn ordered(arguments: &[Value], holds: fn(Ordering) -> bool, meter: &mut Meter) -> Answer {
    for pair in arguments.windows(2) {
        let order = match (&pair[0], &pair[1]) {
            (Value::Int(one), Value::Int(two)) => Some(one.cmp(two)),
            (Value::Int(one), Value::Float(two)) => (*one as f64).partial_cmp(two),
            (Value::Float(one), Value::Int(two)) => one.partial_cmp(&(*two as f64)),
            (Value::Float(one), Value::Float(two)) => one.partial_cmp(two),
            (Value::String(one), Value::String(two)) => {
                meter.charge_reading(one.len().min(two.len()))?;
                Some(one.cmp(two))
            }
            (Value::Nil, _) | (_, Value::Nil) => None,
            (one, two) => {
                let message = format!("{} and {} have no order", one.what(), two.what());
                return Err(Error::new(message).hint("compare numbers with numbers, or strings with strings"));
            }
        };
        let is_in_order = match order {
            Some(order) => holds(order),
            None if meter.is_sorting => is_sorted_with_missing(&pair[0], &pair[1], holds),
            None => false,
        };
        if !is_in_order {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

/// Orders nil and NaN for a sort: last, by `<` and by `>` alike. Without an order they would equal
/// everything, and the values on both sides of them would never be compared.
fn is_sorted_with_missing(one: &Value, two: &Value, holds: fn(Ordering) -> bool) -> bool {
    match (is_missing(one), is_missing(two)) {
        (true, true) => holds(Ordering::Equal),
        (is_one_missing, _) => !is_one_missing,
    }
}

fn is_nil(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Nil)))
}

fn is_null(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(arguments[0].is_empty() && !matches!(arguments[0], Value::String(_))))
}

fn is_empty(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(arguments[0].is_empty()))
}

fn is_pair(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(&arguments[0], Value::List(list) if !list.is_empty())))
}

fn is_list(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::List(_))))
}

fn is_string(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::String(_))))
}

fn is_number(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Int(_) | Value::Float(_))))
}

fn is_integer(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(match arguments[0] {
        Value::Int(_) => true,
        Value::Float(float) => float.fract() == 0.0,
        _ => false,
    }))
}

fn is_symbol(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Symbol(_))))
}

fn is_keyword(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Keyword(_))))
}

fn is_boolean(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Bool(_))))
}

fn is_procedure(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Function(_))))
}

fn is_record(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(matches!(arguments[0], Value::Record(..))))
}
