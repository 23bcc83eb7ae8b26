//! Scheme builtins about text. Positions count characters; work is charged by bytes.

use std::sync::Arc;

use crate::builtins::Builtin;
use crate::builtins::arguments::count;
use crate::builtins::arguments::list;
use crate::builtins::arguments::optional_text;
use crate::builtins::arguments::text;
use crate::builtins::arguments::wanted;
use crate::builtins::exactly;
use crate::builtins::plain;
use crate::error::Error;
use crate::meter::Meter;
use crate::print;
use crate::read;
use crate::value::Value;

pub(super) static TABLE: &[Builtin] = &[
    plain("string-append", "(string-append string ...)", "one string of all", (0, None), append),
    plain("format", "(format \"~a: ~a\" value ...)", "the text with a value for each ~a", (1, None), format),
    plain("string-length", "(string-length string)", "how many characters", exactly(1), length),
    plain(
        "substring",
        "(substring string start end)",
        "the characters from start to end",
        (2, Some(3)),
        substring,
    ),
    plain(
        "string-contains",
        "(string-contains string part)",
        "whether the part is in it",
        exactly(2),
        contains,
    ),
    plain("string-prefix?", "(string-prefix? start string)", "whether it begins so", exactly(2), has_prefix),
    plain("string-suffix?", "(string-suffix? end string)", "whether it ends so", exactly(2), has_suffix),
    plain("starts-with?", "(starts-with? string start)", "whether it begins so", exactly(2), starts_with),
    plain("ends-with?", "(ends-with? string end)", "whether it ends so", exactly(2), ends_with),
    plain("string-upcase", "(string-upcase string)", "in capitals", exactly(1), upcase),
    plain("string-downcase", "(string-downcase string)", "in small letters", exactly(1), downcase),
    plain(
        "string-join",
        "(string-join strings between)",
        "one string of all, a space between",
        (1, Some(2)),
        join,
    ),
    plain(
        "string-split",
        "(string-split string at)",
        "its parts, at blanks or at the string",
        (1, Some(2)),
        split,
    ),
    plain("number->string", "(number->string number)", "as it is written", exactly(1), from_number),
    plain("string->number", "(string->number string)", "the number it says, or #f", exactly(1), to_number),
    plain("symbol->string", "(symbol->string symbol)", "its name", exactly(1), from_symbol),
    plain("string->symbol", "(string->symbol string)", "the symbol of that name", exactly(1), to_symbol),
];

type Answer = Result<Value, Error>;

/// Most bytes of a value that `format` shows.
const LONGEST_SHOWN: usize = 4_000;

fn append(arguments: &[Value], meter: &mut Meter) -> Answer {
    let mut length = 0_usize;
    for argument in arguments {
        length = length.saturating_add(text(argument)?.len());
    }
    meter.charge_text(length)?;
    let mut all = String::with_capacity(length);
    for argument in arguments {
        all.push_str(text(argument)?);
    }
    Ok(Value::string(all))
}

/// Fills a template: `~a` is a value as people read it, `~s` as it is written,
/// `~%` a new line. In Schemes that can print, the first argument is the
/// destination: `#f` there means a string, as always here.
fn format(arguments: &[Value], meter: &mut Meter) -> Answer {
    let arguments = match arguments {
        [Value::Bool(false), rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let (template, mut values) = (text(&arguments[0])?, arguments[1..].iter());
    meter.charge_text(template.len())?;
    let mut all = String::with_capacity(template.len());
    let mut characters = template.chars();
    while let Some(character) = characters.next() {
        if character != '~' {
            all.push(character);
            continue;
        }
        let directive = characters.next();
        match directive {
            Some('%' | 'n') => all.push('\n'),
            Some('~') => all.push('~'),
            Some('a' | 'A' | 's' | 'S' | 'd' | 'D') => {
                let value = values.next().ok_or_else(|| {
                    Error::new("the template has more ~ than there are values")
                        .hint("(format \"~a: ~a\" name count)")
                })?;
                let shown = match value {
                    Value::String(text) if !matches!(directive, Some('s' | 'S')) => text.to_string(),
                    value => print::print(&[Ok(value.clone())], print::Format::Record, LONGEST_SHOWN),
                };
                meter.charge_text(shown.len())?;
                all.push_str(&shown);
            }
            _ => return Err(Error::new("a ~ in a template is ~a, ~s, ~% or ~~")),
        }
    }
    match values.next() {
        Some(_) => Err(Error::new("there are more values than ~ in the template")),
        None => Ok(Value::string(all)),
    }
}

fn length(arguments: &[Value], meter: &mut Meter) -> Answer {
    let text = text(&arguments[0])?;
    meter.charge_reading(text.len())?;
    Ok(Value::Int(text.chars().count() as i64))
}

/// Returns the characters from start to end; positions outside the text are ignored.
fn substring(arguments: &[Value], meter: &mut Meter) -> Answer {
    let text = text(&arguments[0])?;
    meter.charge_text(text.len())?;
    let start = count(&arguments[1])?;
    let end = arguments.get(2).map_or(Ok(usize::MAX), count)?;
    let part: String = text.chars().skip(start).take(end.saturating_sub(start)).collect();
    Ok(Value::string(part))
}

fn contains(arguments: &[Value], meter: &mut Meter) -> Answer {
    if let Value::List(_) = arguments[0] {
        return Err(wanted("a string", &arguments[0]).hint("use (member value list)"));
    }
    let (Some(whole), part) = (optional_text(&arguments[0])?, text(&arguments[1])?) else {
        return Ok(Value::Bool(false));
    };
    meter.charge_reading(whole.len().saturating_add(part.len()))?;
    Ok(Value::Bool(whole.contains(part)))
}

fn has_prefix(arguments: &[Value], meter: &mut Meter) -> Answer {
    let (start, Some(whole)) = (text(&arguments[0])?, optional_text(&arguments[1])?) else {
        return Ok(Value::Bool(false));
    };
    meter.charge_reading(start.len())?;
    Ok(Value::Bool(whole.starts_with(start)))
}

fn starts_with(arguments: &[Value], meter: &mut Meter) -> Answer {
    has_prefix(&[arguments[1].clone(), arguments[0].clone()], meter)
}

fn ends_with(arguments: &[Value], meter: &mut Meter) -> Answer {
    has_suffix(&[arguments[1].clone(), arguments[0].clone()], meter)
}

fn has_suffix(arguments: &[Value], meter: &mut Meter) -> Answer {
    let (end, Some(whole)) = (text(&arguments[0])?, optional_text(&arguments[1])?) else {
        return Ok(Value::Bool(false));
    };
    meter.charge_reading(end.len())?;
    Ok(Value::Bool(whole.ends_with(end)))
}

fn upcase(arguments: &[Value], meter: &mut Meter) -> Answer {
    let text = text(&arguments[0])?;
    // Some letters become three in capitals.
    meter.charge_text(text.len().saturating_mul(3))?;
    Ok(Value::string(text.to_uppercase()))
}

fn downcase(arguments: &[Value], meter: &mut Meter) -> Answer {
    let text = text(&arguments[0])?;
    meter.charge_text(text.len().saturating_mul(3))?;
    Ok(Value::string(text.to_lowercase()))
}

fn join(arguments: &[Value], meter: &mut Meter) -> Answer {
    let parts = list(&arguments[0])?;
    let between = arguments.get(1).map_or(Ok(" "), text)?;
    meter.charge_steps(parts.len() as u64)?;
    let mut length = between.len().saturating_mul(parts.len());
    for part in parts {
        length = length.saturating_add(text(part)?.len());
    }
    meter.charge_text(length)?;
    let mut all = String::with_capacity(length);
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            all.push_str(between);
        }
        all.push_str(text(part)?);
    }
    Ok(Value::string(all))
}

fn split(arguments: &[Value], meter: &mut Meter) -> Answer {
    let whole = text(&arguments[0])?;
    match arguments.get(1) {
        None => parts(whole, |whole| whole.split_whitespace(), meter),
        Some(at) => match text(at)? {
            "" => parts(whole, |whole| whole.split("").filter(|part| !part.is_empty()), meter),
            at => parts(whole, |whole| whole.split(at), meter),
        },
    }
}

/// Splits a text; the parts are counted and charged before they are made.
fn parts<'a, I: Iterator<Item = &'a str>>(
    whole: &'a str,
    split: impl Fn(&'a str) -> I,
    meter: &mut Meter,
) -> Answer {
    meter.charge_reading(whole.len())?;
    let count = split(whole).count();
    meter.charge_cells(3 + 3 * count)?;
    meter.charge_text(whole.len())?;
    meter.list(split(whole).map(Value::from).collect())
}

fn from_number(arguments: &[Value], meter: &mut Meter) -> Answer {
    meter.charge_text(32)?;
    match &arguments[0] {
        Value::Int(int) => Ok(Value::string(int.to_string())),
        Value::Float(float) => Ok(Value::string(print::float(*float))),
        other => Err(wanted("a number", other)),
    }
}

fn to_number(arguments: &[Value], meter: &mut Meter) -> Answer {
    let text = text(&arguments[0])?;
    meter.charge_reading(text.len())?;
    Ok(match read::number(text.trim()) {
        Some(read::Form::Int(int)) => Value::Int(int),
        Some(read::Form::Float(float)) => Value::Float(float),
        _ => Value::Bool(false),
    })
}

fn from_symbol(arguments: &[Value], _: &mut Meter) -> Answer {
    match arguments[0].as_key() {
        Some(name) => Ok(Value::String(Arc::clone(name))),
        None => Err(wanted("a symbol", &arguments[0])),
    }
}

fn to_symbol(arguments: &[Value], _: &mut Meter) -> Answer {
    match arguments[0].as_key() {
        Some(name) => Ok(Value::Symbol(Arc::clone(name))),
        None => Err(wanted("a string", &arguments[0])),
    }
}
