//! The values that a Scheme program computes with.

use std::fmt;
use std::sync::Arc;

use crate::dict::Dict;
use crate::error::Error;
use crate::function::Function;
use crate::list::List;
use crate::print;
use crate::print::Format;

/// A value of the language; immutable, and cheap to clone.
#[derive(Clone, Default)]
pub enum Value {
    /// The result of a search that found nothing. It is false, and an empty list where a list is wanted.
    #[default]
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>),
    Symbol(Arc<str>),
    /// A keyword, without its colon.
    Keyword(Arc<str>),
    List(List),
    /// One record of a collection, by its number there.
    Record(Arc<dyn Records>, u32),
    Function(Function),
}

// A program may hold thousands of values, so they must be small.
const _: () = assert!(size_of::<Value>() <= 24);

/// A collection of records of one kind with named fields, each record known by its number. Fields
/// are requested one by one, so a field that nobody looks at need not be decoded.
pub trait Records: Send + Sync {
    /// Returns the name of the kind: `principle`.
    fn kind(&self) -> &str;

    /// Returns a field; [`Value::Nil`] if there is no such field.
    fn get(&self, record: u32, field: &str) -> Value;

    /// Returns all fields of a record, in the order in which they are shown.
    fn fields(&self, record: u32) -> Vec<(Arc<str>, Value)>;

    /// Whether fields are stored as values, rather than made from something else on each request.
    fn has_values(&self) -> bool {
        false
    }

    /// Returns how deep records and lists are nested, this record included.
    /// Records that hold values of a program must implement it, because it stops
    /// programs that nest values without end.
    fn depth(&self) -> usize {
        2
    }

    /// Returns the values that the records hold.
    fn held(&self) -> &[(Arc<str>, Value)] {
        &[]
    }

    /// Returns the memory that the records take besides those values, in bytes.
    fn bytes(&self) -> usize {
        0
    }
}

impl Value {
    /// Makes a string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// Makes a symbol.
    pub fn symbol(name: impl Into<Arc<str>>) -> Self {
        Self::Symbol(name.into())
    }

    /// Makes a keyword.
    pub fn keyword(name: impl Into<Arc<str>>) -> Self {
        Self::Keyword(name.into())
    }

    /// Makes a list.
    pub fn list(values: Vec<Self>) -> Self {
        Self::List(List::from(values))
    }

    /// Makes a record that is the only one of its collection.
    pub fn record(record: impl Records + 'static) -> Self {
        Self::Record(Arc::new(record), 0)
    }

    /// Makes a dictionary.
    pub fn dict(fields: Vec<(Arc<str>, Self)>) -> Self {
        Self::record(Dict::new(fields))
    }

    /// Whether the value counts as true: everything but `#f` and `nil` does.
    pub fn is_true(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    /// Returns the field of a record; nil for any other value.
    pub fn field(&self, name: &str) -> Self {
        match self {
            Self::Record(records, record) => records.get(*record, name),
            _ => Self::Nil,
        }
    }

    /// Returns the text of a string; `None` for any other value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the name of a field, if the value can be one: a keyword, a string or a symbol.
    pub fn as_key(&self) -> Option<&Arc<str>> {
        match self {
            Self::Keyword(name) | Self::String(name) | Self::Symbol(name) => Some(name),
            _ => None,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::List(list) => list.depth(),
            Self::Record(records, _) => records.depth(),
            Self::Function(function) => function.depth(),
            _ => 0,
        }
    }

    /// Whether there is nothing to show: nil, an empty text, an empty list.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::String(text) => text.is_empty(),
            Self::List(list) => list.is_empty(),
            _ => false,
        }
    }

    /// Describes the type of the value, for messages.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Nil => "nil".into(),
            Self::Bool(_) => "a boolean".into(),
            Self::Int(_) | Self::Float(_) => "a number".into(),
            Self::String(_) => "a string".into(),
            Self::Symbol(_) => "a symbol".into(),
            Self::Keyword(name) => format!("the keyword `:{}`", print::brief(name)),
            Self::List(_) => "a list".into(),
            Self::Record(records, _) => format!("a {}", print::brief(records.kind())),
            Self::Function(_) => "a function".into(),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 1000;
        let shown: Result<Self, Error> = Ok(self.clone());
        f.write_str(&print::print(&[shown], Format::Columnar, LONGEST))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::string(value)
    }
}

impl From<Vec<Self>> for Value {
    fn from(values: Vec<Self>) -> Self {
        Self::list(values)
    }
}
