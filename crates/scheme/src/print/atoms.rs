//! Prints single Scheme values: symbols, numbers, strings.

use crate::print::printer::Full;
use crate::print::printer::Printer;
use crate::print::printer::Style;
use crate::print::printer::Written;
use crate::read;
use crate::value::Value;

/// Prints a value that is not a string, list or record.
pub(super) fn atom(value: &Value, style: Style) -> String {
    let is_json = style == Style::Json;
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if is_json && !value.is_finite() => "null".into(),
        Value::Float(value) => float(*value),
        Value::Symbol(name) => symbol(name),
        Value::Keyword(name) => keyword(name),
        Value::Function(function) => {
            let name = format!("function {}", brief(function.name().unwrap_or("lambda")));
            if is_json { json(&name) } else { format!("|{}|", escaped(&name, '|')) }
        }
        _ if is_json => "null".into(),
        _ => "nil".into(),
    }
}

/// Returns the shortest text that is read back as that number.
pub(crate) fn float(value: f64) -> String {
    if value.is_nan() {
        "+nan.0".into()
    } else if value.is_infinite() {
        if value > 0.0 { "+inf.0".into() } else { "-inf.0".into() }
    } else {
        format!("{value:?}")
    }
}

/// Returns the beginning of a name, for messages.
pub(crate) fn brief(name: &str) -> String {
    const LONGEST: usize = 60;
    let mut brief: String = name.chars().take(LONGEST).collect();
    if brief.len() < name.len() {
        brief.push('…');
    }
    brief
}

pub(super) fn symbol(name: &str) -> String {
    if read::is_plain(name) { name.into() } else { format!("|{}|", escaped(name, '|')) }
}

pub(super) fn keyword(name: &str) -> String {
    let is_plain = read::is_keyword(name);
    if is_plain { format!(":{name}") } else { format!(":|{}|", escaped(name, '|')) }
}

/// Whether a string can be printed without quotes where nothing else is expected.
pub(super) fn is_bare(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '/'))
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | ':' | '@' | '-'))
        && read::is_plain(text)
}

pub(super) fn json(text: &str) -> String {
    let mut all = String::from("\"");
    text.chars().for_each(|c| push_json(c, &mut all));
    all.push('"');
    all
}

fn escaped(text: &str, end: char) -> String {
    let mut all = String::new();
    text.chars().for_each(|c| push_escaped(c, end, &mut all));
    all
}

pub(super) fn quoted(text: &str, style: Style, paper: &mut Printer) -> Written {
    // Escaping never makes a text shorter.
    if text.len() + 2 > paper.left() {
        return Err(Full);
    }
    let all = if style == Style::Json { json(text) } else { format!("\"{}\"", escaped(text, '"')) };
    paper.put(&all)
}

/// Prints as much of the text as there is room for.
pub(super) fn shortened(text: &str, style: Style, paper: &mut Printer) -> Written {
    const ENDS: usize = "\"…\"".len();
    let room = paper.left().checked_sub(ENDS + 1).ok_or(Full)?;
    let mut all = String::from("\"");
    for c in text.chars() {
        let before = all.len();
        match style {
            Style::Json => push_json(c, &mut all),
            _ => push_escaped(c, '"', &mut all),
        }
        if all.len() > room {
            all.truncate(before);
            break;
        }
    }
    all.push_str("…\"");
    paper.put(&all)
}

fn push_escaped(c: char, end: char, all: &mut String) {
    match c {
        '\n' => all.push_str("\\n"),
        '\t' => all.push_str("\\t"),
        '\r' => all.push_str("\\r"),
        '\\' => all.push_str("\\\\"),
        c if c == end => {
            all.push('\\');
            all.push(c);
        }
        c if c.is_control() => all.push_str(&format!("\\x{:x};", u32::from(c))),
        c => all.push(c),
    }
}

fn push_json(c: char, all: &mut String) {
    match c {
        '\n' => all.push_str("\\n"),
        '\t' => all.push_str("\\t"),
        '\r' => all.push_str("\\r"),
        '\\' => all.push_str("\\\\"),
        '"' => all.push_str("\\\""),
        c if (c as u32) < 0x20 => all.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => all.push(c),
    }
}
