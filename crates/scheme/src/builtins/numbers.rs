//! Scheme builtins of arithmetic. Whole numbers stay whole as long as the result is a whole number
//! that fits; otherwise it is a float, and nothing overflows.

use crate::builtins::Builtin;
use crate::builtins::arguments::count;
use crate::builtins::arguments::wanted;
use crate::builtins::exactly;
use crate::builtins::plain;
use crate::error::Error;
use crate::meter::Meter;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    plain("+", "(+ number ...)", "the sum", (0, None), add),
    plain("-", "(- number ...)", "the first without the others; alone, its negative", (1, None), subtract),
    plain("*", "(* number ...)", "the product", (0, None), multiply),
    plain("/", "(/ number ...)", "the first divided by the others; alone, its inverse", (1, None), divide),
    plain("quotient", "(quotient a b)", "how often b fits into a", exactly(2), quotient),
    plain("remainder", "(remainder a b)", "what is left, with the sign of a", exactly(2), remainder),
    plain("modulo", "(modulo a b)", "what is left, with the sign of b", exactly(2), modulo),
    plain("abs", "(abs number)", "without its sign", exactly(1), abs),
    plain(
        "round",
        "(round number digits)",
        "the nearest whole number, or with so many digits",
        (1, Some(2)),
        round,
    ),
    plain("floor", "(floor number)", "the whole number below", exactly(1), floor),
    plain("ceiling", "(ceiling number)", "the whole number above", exactly(1), ceiling),
    plain("truncate", "(truncate number)", "the whole number towards zero", exactly(1), truncate),
    plain("sqrt", "(sqrt number)", "the square root", exactly(1), sqrt),
    plain("expt", "(expt base exponent)", "the power", exactly(2), expt),
    plain("exact", "(exact number)", "as a whole number", exactly(1), truncate),
    plain("inexact", "(inexact number)", "as a float", exactly(1), inexact),
    plain("exact->inexact", "(exact->inexact number)", "as a float", exactly(1), inexact),
    plain("zero?", "(zero? number)", "whether it is 0", exactly(1), is_zero),
    plain("positive?", "(positive? number)", "whether it is above 0", exactly(1), is_positive),
    plain("negative?", "(negative? number)", "whether it is below 0", exactly(1), is_negative),
    plain("even?", "(even? number)", "whether 2 divides it", exactly(1), is_even),
    plain("odd?", "(odd? number)", "whether 2 does not divide it", exactly(1), is_odd),
];

type Answer = Result<Value, Error>;

pub(super) fn float(value: &Value) -> Result<f64, Error> {
    match value {
        Value::Int(int) => Ok(*int as f64),
        Value::Float(float) => Ok(*float),
        other => Err(wanted("a number", other)),
    }
}

fn number(value: &Value) -> Answer {
    float(value).map(|_| value.clone())
}

/// Combines two numbers as whole numbers if that succeeds, else as floats.
fn combined(
    one: &Value,
    two: &Value,
    whole: fn(i64, i64) -> Option<i64>,
    other: fn(f64, f64) -> f64,
) -> Answer {
    if let (Value::Int(one), Value::Int(two)) = (one, two)
        && let Some(result) = whole(*one, *two)
    {
        return Ok(Value::Int(result));
    }
    Ok(Value::Float(other(float(one)?, float(two)?)))
}

pub(super) fn added(one: &Value, two: &Value) -> Answer {
    combined(one, two, i64::checked_add, |one, two| one + two)
}

pub(super) fn multiplied(one: &Value, two: &Value) -> Answer {
    combined(one, two, i64::checked_mul, |one, two| one * two)
}

fn subtracted(one: &Value, two: &Value) -> Answer {
    combined(one, two, i64::checked_sub, |one, two| one - two)
}

pub(super) fn divided(one: &Value, two: &Value) -> Answer {
    check_divisor(two)?;
    let whole = |one: i64, two: i64| match one.checked_rem(two) {
        Some(0) => one.checked_div(two),
        _ => None,
    };
    combined(one, two, whole, |one, two| one / two)
}

fn check_divisor(value: &Value) -> Result<(), Error> {
    match value {
        Value::Int(0) => Err(Error::new("division by zero")),
        _ => Ok(()),
    }
}

fn add(arguments: &[Value], _: &mut Meter) -> Answer {
    arguments.iter().try_fold(Value::Int(0), |sum, value| added(&sum, value))
}

fn multiply(arguments: &[Value], _: &mut Meter) -> Answer {
    arguments.iter().try_fold(Value::Int(1), |product, value| multiplied(&product, value))
}

fn subtract(arguments: &[Value], _: &mut Meter) -> Answer {
    match arguments {
        [one] => subtracted(&Value::Int(0), one),
        _ => arguments[1..].iter().try_fold(number(&arguments[0])?, |rest, value| subtracted(&rest, value)),
    }
}

fn divide(arguments: &[Value], _: &mut Meter) -> Answer {
    match arguments {
        [one] => divided(&Value::Int(1), one),
        _ => arguments[1..].iter().try_fold(number(&arguments[0])?, |rest, value| divided(&rest, value)),
    }
}

fn quotient(arguments: &[Value], _: &mut Meter) -> Answer {
    check_divisor(&arguments[1])?;
    let result = combined(&arguments[0], &arguments[1], i64::checked_div, |one, two| (one / two).trunc())?;
    Ok(whole(result))
}

fn remainder(arguments: &[Value], _: &mut Meter) -> Answer {
    check_divisor(&arguments[1])?;
    let whole = |one: i64, two: i64| Some(one.wrapping_rem(two));
    combined(&arguments[0], &arguments[1], whole, |one, two| one % two)
}

fn modulo(arguments: &[Value], _: &mut Meter) -> Answer {
    check_divisor(&arguments[1])?;
    let whole = |one: i64, two: i64| {
        let rest = one.wrapping_rem(two);
        Some(if rest != 0 && (rest < 0) != (two < 0) { rest + two } else { rest })
    };
    combined(&arguments[0], &arguments[1], whole, |one, two| one - two * (one / two).floor())
}

fn abs(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(match &arguments[0] {
        Value::Int(int) => int.checked_abs().map_or(Value::Float((*int as f64).abs()), Value::Int),
        other => Value::Float(float(other)?.abs()),
    })
}

fn round(arguments: &[Value], _: &mut Meter) -> Answer {
    let Some(digits) = arguments.get(1) else { return rounded(&arguments[0], f64::round_ties_even) };
    const MOST: usize = 15;
    let scale = 10_f64.powi(count(digits)?.min(MOST) as i32);
    let scaled = (float(&arguments[0])? * scale).round_ties_even() / scale;
    Ok(if scaled.is_finite() && !matches!(arguments[0], Value::Int(_)) {
        Value::Float(scaled)
    } else {
        arguments[0].clone()
    })
}

fn floor(arguments: &[Value], _: &mut Meter) -> Answer {
    rounded(&arguments[0], f64::floor)
}

fn ceiling(arguments: &[Value], _: &mut Meter) -> Answer {
    rounded(&arguments[0], f64::ceil)
}

fn truncate(arguments: &[Value], _: &mut Meter) -> Answer {
    rounded(&arguments[0], f64::trunc)
}

fn rounded(value: &Value, round: fn(f64) -> f64) -> Answer {
    Ok(match value {
        Value::Int(int) => Value::Int(*int),
        other => whole(Value::Float(round(float(other)?))),
    })
}

/// Converts a float to a whole number, if it is one that is exact.
fn whole(value: Value) -> Value {
    /// Largest exact whole float: above it, some whole numbers are missing.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Float(float) if float.fract() == 0.0 && float.abs() <= EXACT => Value::Int(float as i64),
        other => other,
    }
}

fn sqrt(arguments: &[Value], _: &mut Meter) -> Answer {
    let root = float(&arguments[0])?.sqrt();
    Ok(match arguments[0] {
        Value::Int(_) => whole(Value::Float(root)),
        _ => Value::Float(root),
    })
}

fn expt(arguments: &[Value], _: &mut Meter) -> Answer {
    let whole = |base: i64, exponent: i64| base.checked_pow(u32::try_from(exponent).ok()?);
    combined(&arguments[0], &arguments[1], whole, f64::powf)
}

fn inexact(arguments: &[Value], _: &mut Meter) -> Answer {
    float(&arguments[0]).map(Value::Float)
}

fn is_zero(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(float(&arguments[0])? == 0.0))
}

fn is_positive(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(float(&arguments[0])? > 0.0))
}

fn is_negative(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(float(&arguments[0])? < 0.0))
}

fn is_even(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(match &arguments[0] {
        Value::Int(int) => int % 2 == 0,
        other => float(other)? % 2.0 == 0.0,
    }))
}

fn is_odd(arguments: &[Value], _: &mut Meter) -> Answer {
    Ok(Value::Bool(match &arguments[0] {
        Value::Int(int) => int % 2 != 0,
        other => float(other)?.abs() % 2.0 == 1.0,
    }))
}
