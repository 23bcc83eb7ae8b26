//! Prints Scheme values as text that is short, can be read back, and is never longer than asked for.
//!
//! A list of records of one kind is printed as a table: the names of its fields once, then a row
//! for each record. A single record is printed with its name and description first and the rest by
//! keyword. An answer that does not fit is shortened where it is longest: texts end in `…`, lists
//! in `#| +3 more of 10 |#`, and a comment at the end says how to ask for less.
//!
//! **The answer never exceeds its budget, and neither does the work for it**: no value is looked at
//! that could not be shown.

mod atoms;
mod columns;
mod printer;
mod shape;

use std::sync::Arc;

use crate::error::Error;
use crate::value::Records;
use crate::value::Value;
use printer::Printer;
use printer::Style;

pub(crate) use atoms::brief;
pub(crate) use atoms::float;

/// The form in which values are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lists of records as tables.
    Columnar,
    /// Lists of records with one record to a line, fields by keyword.
    Record,
    /// Compact JSON, one line for each value.
    Json,
}

/// Least room for a value, in bytes; less would show nothing useful.
const LEAST: usize = 64;
const NOTE: &str = "#| cut: ask for less with (map :name …), (take … 20) or filter |#";
const JSON_NOTE: &str = r#"{"cut":"ask for less with (map :name …), (take … 20) or filter"}"#;

/// Prints the values, one below the other, in at most `longest` bytes.
pub fn print(values: &[Result<Value, Error>], format: Format, longest: usize) -> String {
    let style = match format {
        Format::Json => Style::Json,
        _ => Style::Plain,
    };
    let mut paper = Printer::new(format, longest);
    let values: Vec<Value> = values.iter().map(shown).collect();
    let fits = values.iter().enumerate().try_for_each(|(index, value)| {
        if index > 0 {
            paper.put("\n")?;
        }
        paper.whole(value, style)
    });
    if fits.is_ok() {
        return paper.text;
    }
    paper.text.clear();
    shortened(&values, style, paper)
}

fn shortened(values: &[Value], style: Style, paper: Printer) -> String {
    let mut paper = paper;
    let longest = paper.limit;
    let note = if style == Style::Json { JSON_NOTE } else { NOTE };
    let note = if longest >= note.len() + 2 * LEAST { note } else { "" };
    let budget = longest - note.len() - usize::from(!note.is_empty());
    // With more answers than there is room for, the first ones and the very last are shown: if
    // something failed, the last one is the error.
    let most = (budget / LEAST).max(1);
    let total = values.len();
    let (head, tail) = if total <= most { (total, 0) } else { (most.saturating_sub(2), 1) };
    let shown: Vec<&Value> = values[..head].iter().chain(&values[total - tail..]).collect();
    let marks = if tail > 0 { LEAST } else { 0 };
    let room = budget.saturating_sub(marks).saturating_sub(shown.len());
    let share = paper.big_share(&shown, room, style);
    for (index, value) in shown.iter().enumerate() {
        if index > 0 {
            paper.text.push('\n');
        }
        if index == head && tail > 0 {
            paper.text.push_str(&more(total - head - tail, total, style));
            paper.text.push('\n');
        }
        let left = budget.saturating_sub(paper.text.len());
        paper.fit(value, share.min(left), style);
    }
    if !note.is_empty() {
        paper.text.push('\n');
        paper.text.push_str(note);
    }
    // If there is no room at all, nothing is printed.
    if paper.text.len() > longest { String::new() } else { paper.text }
}

/// Makes the mark for the omitted rest of a list.
fn more(count: usize, total: usize, style: Style) -> String {
    match style {
        Style::Json => format!("\"+{count} more of {total}\""),
        _ => format!("#| +{count} more of {total} |#"),
    }
}

fn shown(result: &Result<Value, Error>) -> Value {
    match result {
        Ok(value) => value.clone(),
        Err(error) => Value::record(Failure(error.clone())),
    }
}

/// An error as a record: `(error "message" :at "1:2" :hint "…")`.
struct Failure(Error);

impl Records for Failure {
    fn kind(&self) -> &str {
        "error"
    }

    fn get(&self, record: u32, field: &str) -> Value {
        self.fields(record)
            .into_iter()
            .find(|(name, _)| **name == *field)
            .map_or(Value::Nil, |(_, value)| value)
    }

    fn fields(&self, _: u32) -> Vec<(Arc<str>, Value)> {
        vec![
            ("error".into(), Value::from(self.0.message.as_str())),
            ("at".into(), self.0.at.map_or(Value::Nil, |at| Value::string(at.to_string()))),
            ("hint".into(), self.0.hint.as_deref().map_or(Value::Nil, Value::from)),
        ]
    }
}
