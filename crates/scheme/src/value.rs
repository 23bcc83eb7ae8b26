//! The values that a Scheme program computes with.

use std::fmt;
use std::sync::Arc;

use crate::dict::Dict;
use crate::error::Error;
use crate::function::Function;
use crate::list::List;
use crate::print;
use crate::print::Format;

/// Immutable, and cheap to clone.
#[derive(Clone, Default)]
pub enum Value {
    /// Nothing, or nothing found. It is false, and an empty list where a list
    /// is wanted.
    #[default]
    Nil,
    Bool(bool),
    Int(i64),
    Float(f64),
    String(Arc<str>),
    Symbol(Arc<str>),
    /// Without its colon.
    Keyword(Arc<str>),
    List(List),
    /// One of many that are kept together, by its number.
    Record(Arc<dyn Records>, u32),
    Function(Function),
}

// There are thousands of them.
const _: () = assert!(size_of::<Value>() <= 24);

/// Things of one kind with named fields, each known by its number. Fields are
/// asked for one by one, so one that nobody looks at need not be decoded.
pub trait Records: Send + Sync {
    /// What they are: `principle`.
    fn kind(&self) -> &str;

    /// [`Value::Nil`] if there is no such field.
    fn get(&self, record: u32, field: &str) -> Value;

    /// All of one, in the order in which they are shown.
    fn fields(&self, record: u32) -> Vec<(Arc<str>, Value)>;

    /// Whether its fields are values that are handed out, rather than made from
    /// something else each time.
    fn has_values(&self) -> bool {
        false
    }

    /// How many records and lists are inside each other here, this one
    /// included. To be told by records that hold what a program gave them,
    /// because values that a program nests without end are stopped by it.
    fn depth(&self) -> usize {
        2
    }

    /// The values that they hold.
    fn held(&self) -> &[(Arc<str>, Value)] {
        &[]
    }

    /// The memory that they take beside those, in bytes.
    fn bytes(&self) -> usize {
        0
    }
}

impl Value {
    /// A string.
    pub fn string(text: impl Into<Arc<str>>) -> Self {
        Self::String(text.into())
    }

    /// A symbol.
    pub fn symbol(name: impl Into<Arc<str>>) -> Self {
        Self::Symbol(name.into())
    }

    /// A keyword.
    pub fn keyword(name: impl Into<Arc<str>>) -> Self {
        Self::Keyword(name.into())
    }

    /// A list.
    pub fn list(values: Vec<Self>) -> Self {
        Self::List(List::from(values))
    }

    /// The only one of its records.
    pub fn record(record: impl Records + 'static) -> Self {
        Self::Record(Arc::new(record), 0)
    }

    /// A dictionary.
    pub fn dict(fields: Vec<(Arc<str>, Self)>) -> Self {
        Self::record(Dict::new(fields))
    }

    /// `#f` and `nil` are false, everything else is true.
    pub fn is_true(&self) -> bool {
        !matches!(self, Self::Nil | Self::Bool(false))
    }

    /// The field of a record; nothing of anything else.
    pub fn field(&self, name: &str) -> Self {
        match self {
            Self::Record(records, record) => records.get(*record, name),
            _ => Self::Nil,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// What names a field: a keyword, a string or a symbol.
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

    /// Nothing to show: nil, an empty text, an empty list.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::String(text) => text.is_empty(),
            Self::List(list) => list.is_empty(),
            _ => false,
        }
    }

    /// What it is, for messages.
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
