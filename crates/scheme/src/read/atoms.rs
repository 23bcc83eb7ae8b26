//! Parses single words of Scheme source: numbers, names, constants.

use crate::read::Form;

/// Whether a character ends a word.
pub(super) fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '\'' | '`' | ',' | '|')
}

/// Parses a word without bars in it.
pub(super) fn word(word: &str) -> Form {
    match word {
        "." => Form::Dot,
        "nil" => Form::Nil,
        "true" => Form::Bool(true),
        "false" => Form::Bool(false),
        "+inf.0" => Form::Float(f64::INFINITY),
        "-inf.0" => Form::Float(f64::NEG_INFINITY),
        "+nan.0" | "-nan.0" => Form::Float(f64::NAN),
        _ => number(word).unwrap_or_else(|| match word.strip_prefix(':') {
            Some(name) if !name.is_empty() => Form::Keyword(name.into()),
            _ => Form::Symbol(word.into()),
        }),
    }
}

/// Whether a symbol of that name can be written without bars.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('#')
        && !name.contains(|c: char| is_delimiter(c) || c.is_control())
        && matches!(word(name), Form::Symbol(_))
}

/// Parses a number. A whole number that does not fit becomes a float, and so does
/// a fraction that is not whole.
pub(crate) fn number(word: &str) -> Option<Form> {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = digits.strip_prefix('.').unwrap_or(digits);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(int) = word.parse() {
        return Some(Form::Int(int));
    }
    if let Ok(float) = word.parse() {
        return Some(Form::Float(float));
    }
    let (above, below) = word.split_once('/')?;
    let (above, below): (i64, i64) = (above.parse().ok()?, below.parse().ok()?);
    if below == 0 {
        return None;
    }
    Some(match above.checked_rem(below) {
        Some(0) => Form::Int(above.checked_div(below)?),
        _ => Form::Float(above as f64 / below as f64),
    })
}

/// Whether a keyword of that name can be written without bars.
pub(crate) fn is_keyword(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| is_delimiter(c) || c.is_control())
}
