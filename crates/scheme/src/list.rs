//! The immutable list of Scheme values: runs of values that share their tails.
//!
//! A list that a builtin makes is one run, so it is as compact as an array; a list that `cons`
//! makes shares its tail, so building it from the front takes linear time. The rest of a list is
//! the same run at a greater offset. **Nothing changes once it is made, and a list of any length is
//! dropped without recursion.**

use std::slice;
use std::sync::Arc;

use crate::value::Value;

/// An immutable list that shares memory with other lists where it can.
#[derive(Clone, Default)]
pub struct List {
    run: Option<Arc<Run>>,
    /// Number of values of the run that come before this list.
    offset: usize,
}

struct Run {
    values: Values,
    rest: List,
    /// Number of values in the run and the rest.
    length: usize,
    depth: usize,
}

enum Values {
    One(Value),
    Many(Vec<Value>),
    /// A list of two, whose `cdr` is the second value itself.
    Pair([Value; 2]),
}

impl List {
    /// Makes an empty list.
    pub const fn new() -> Self {
        Self { run: None, offset: 0 }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.run.as_ref().map_or(0, |run| run.length - self.offset)
    }

    /// Whether the list has no values.
    pub fn is_empty(&self) -> bool {
        self.run.is_none()
    }

    /// Returns the first value.
    pub fn first(&self) -> Option<&Value> {
        self.split().map(|(first, _)| &first[0])
    }

    /// Returns all values but the first; an empty list has an empty rest.
    #[must_use]
    pub fn rest(&self) -> Self {
        self.skip(1)
    }

    /// Returns the value at an index.
    pub fn get(&self, index: usize) -> Option<&Value> {
        let mut list = self;
        let mut index = index;
        loop {
            let (values, rest) = list.split()?;
            if let Some(value) = values.get(index) {
                return Some(value);
            }
            index -= values.len();
            list = rest;
        }
    }

    /// Returns the values after the first `count`.
    #[must_use]
    pub fn skip(&self, count: usize) -> Self {
        let mut list = self;
        let mut count = count;
        while let Some((values, rest)) = list.split() {
            if count < values.len() {
                return Self { run: list.run.clone(), offset: list.offset + count };
            }
            count -= values.len();
            list = rest;
        }
        Self::new()
    }

    /// Returns the values in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { run: [].iter(), rest: self }
    }

    /// Makes a list of `value` followed by `rest`.
    pub fn cons(value: Value, rest: Self) -> Self {
        Self::run(Values::One(value), rest)
    }

    /// Makes a pair: a list of the two values, except for [`Self::rest_of_pair`].
    pub fn pair(first: Value, second: Value) -> Self {
        Self::run(Values::Pair([first, second]), Self::new())
    }

    /// Returns the second value of a pair; `None` for other lists.
    pub fn rest_of_pair(&self) -> Option<&Value> {
        match self.run.as_deref().map(|run| &run.values) {
            Some(Values::Pair([_, second])) if self.offset == 0 => Some(second),
            _ => None,
        }
    }

    /// Makes a list of `values` followed by `rest`.
    pub fn with_rest(values: Vec<Value>, rest: Self) -> Self {
        if values.is_empty() {
            return rest;
        }
        Self::run(Values::Many(values), rest)
    }

    /// Returns how deep lists and records are nested, this list included.
    pub(crate) fn depth(&self) -> usize {
        self.run.as_ref().map_or(1, |run| run.depth)
    }

    /// Returns the runs of the list, each with its address and all values it holds.
    pub(crate) fn segments(&self) -> impl Iterator<Item = (*const (), &[Value])> {
        let mut next = self.run.as_ref();
        std::iter::from_fn(move || {
            let run = next?;
            next = run.rest.run.as_ref();
            Some((Arc::as_ptr(run).cast(), run.values.as_slice()))
        })
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.run, &other.run) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two) && self.offset == other.offset,
            (None, None) => true,
            _ => false,
        }
    }

    fn run(values: Values, rest: Self) -> Self {
        let slice = values.as_slice();
        let deepest = slice.iter().map(Value::depth).max().unwrap_or(0);
        let depth = rest.depth().max(deepest.saturating_add(1));
        let length = slice.len() + rest.len();
        Self { run: Some(Arc::new(Run { values, rest, length, depth })), offset: 0 }
    }

    fn split(&self) -> Option<(&[Value], &Self)> {
        let run = self.run.as_deref()?;
        Some((&run.values.as_slice()[self.offset..], &run.rest))
    }
}

impl Values {
    fn as_slice(&self) -> &[Value] {
        match self {
            Self::One(value) => slice::from_ref(value),
            Self::Many(values) => values,
            Self::Pair(values) => values,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let mut next = self.rest.run.take();
        while let Some(run) = next.and_then(Arc::into_inner) {
            let mut run = run;
            next = run.rest.run.take();
        }
    }
}

impl From<Vec<Value>> for List {
    fn from(values: Vec<Value>) -> Self {
        Self::with_rest(values, Self::new())
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self::from(Vec::from_iter(values))
    }
}

impl<'a> IntoIterator for &'a List {
    type Item = &'a Value;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The values of a list, in order.
pub struct Iter<'a> {
    run: slice::Iter<'a, Value>,
    rest: &'a List,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a Value;

    #[inline]
    fn next(&mut self) -> Option<&'a Value> {
        loop {
            if let Some(value) = self.run.next() {
                return Some(value);
            }
            let (values, rest) = self.rest.split()?;
            self.run = values.iter();
            self.rest = rest;
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.run.len() + self.rest.len();
        (length, Some(length))
    }
}

impl ExactSizeIterator for Iter<'_> {}
