//! The trait by which the product brings its own functions into the Scheme.

use crate::error::Error;
use crate::meter::Meter;
use crate::value::Value;

/// The functions a program finds besides those of the language.
///
/// A world function may be given functions of the program as arguments, and
/// call them with [`crate::apply`] under the meter it was given.
///
/// What it returns must not nest deeper than [`crate::Limits::nesting`]; an
/// answer that does is refused.
pub trait HostFunctions {
    fn functions(&self) -> &'static [Signature];

    /// Called with as many arguments as the signature asks for. It charges
    /// `meter` for what its work depends on, before it does it.
    fn call(&mut self, name: &str, arguments: &[Value], meter: &mut Meter) -> Result<Value, Error>;
}

/// How a function is called, and what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    pub name: &'static str,
    /// `(get-principle name)`.
    pub usage: &'static str,
    pub about: &'static str,
    pub least: usize,
    /// `None`: any number.
    pub most: Option<usize>,
}

impl Signature {
    pub(crate) fn takes(&self, count: usize) -> bool {
        count >= self.least && self.most.is_none_or(|most| count <= most)
    }
}

/// A world with nothing in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostFunctions;

impl HostFunctions for NoHostFunctions {
    fn functions(&self) -> &'static [Signature] {
        &[]
    }

    fn call(&mut self, name: &str, _: &[Value], _: &mut Meter) -> Result<Value, Error> {
        Err(Error::new(format!("unknown function `{name}`")))
    }
}
