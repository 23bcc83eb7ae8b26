//! Parses Scheme source text into forms.
//!
//! In addition to R7RS, `:name` is a keyword, `[a b]` a list of values, and `nil`, `true` and
//! `false` are constants. Levels are kept on a stack of the reader's own, and **a text that nests
//! deeper than it may is an error, however deep**.

mod atoms;
mod reader;

use std::sync::Arc;

use crate::error::Error;
use crate::error::Position;
use crate::list::List;
use crate::meter::Limits;
use crate::value::Value;

pub(crate) use atoms::is_keyword;
pub(crate) use atoms::is_plain;
pub(crate) use atoms::number;
pub(crate) use reader::Reader;

/// A form with its position in the text.
#[derive(Clone, Debug)]
pub struct Datum {
    pub form: Form,
    pub at: Position,
}

/// A parsed form, before it is compiled.
#[derive(Clone, Debug)]
pub enum Form {
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>),
    Symbol(Arc<str>),
    Keyword(Arc<str>),
    /// The dot before the rest of the parameters.
    Dot,
    /// A list in parentheses: `(a b)`.
    List(Arc<[Datum]>),
    /// A list in brackets: `[a b]`, the list of the items' values.
    Brackets(Arc<[Datum]>),
}

/// Parses all forms of `text`.
pub fn read(text: &str) -> Result<Vec<Datum>, Error> {
    Reader::new(text, Limits::default().nesting).collect()
}

impl Datum {
    pub(crate) fn new(form: Form, at: Position) -> Self {
        Self { form, at }
    }

    /// Returns the value of the form when it is quoted.
    pub fn to_value(&self) -> Result<Value, Error> {
        Ok(match &self.form {
            Form::Nil => Value::Nil,
            Form::Bool(value) => Value::Bool(*value),
            Form::Int(value) => Value::Int(*value),
            Form::Float(value) => Value::Float(*value),
            Form::String(text) => Value::String(text.clone()),
            Form::Dot => {
                return Err(Error::new("a dot stands only in a pair").hint("write (a . b)").at(self.at));
            }
            Form::Symbol(name) => Value::Symbol(name.clone()),
            Form::Keyword(name) => Value::Keyword(name.clone()),
            Form::List(items) | Form::Brackets(items) => match &items[..] {
                [first, Self { form: Form::Dot, .. }, second] => {
                    Value::List(List::pair(first.to_value()?, second.to_value()?))
                }
                items => Value::list(items.iter().map(Self::to_value).collect::<Result<_, _>>()?),
            },
        })
    }

    pub(crate) fn as_symbol(&self) -> Option<&Arc<str>> {
        match &self.form {
            Form::Symbol(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn is_symbol(&self, wanted: &str) -> bool {
        self.as_symbol().is_some_and(|name| **name == *wanted)
    }

    /// Returns the items between parentheses or brackets; where there is only one meaning, both are allowed.
    pub(crate) fn as_items(&self) -> Option<&[Self]> {
        match &self.form {
            Form::List(items) | Form::Brackets(items) => Some(items),
            _ => None,
        }
    }
}
