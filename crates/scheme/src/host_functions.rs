//! The trait by which the product adds its own functions to the Scheme.

use crate::error::Error;
use crate::meter::Meter;
use crate::value::Value;

/// The functions that a program can call besides those of the language.
///
/// A host function may get functions of the program as arguments, and call them with
/// [`crate::apply`] under the meter it was given.
///
/// Its result must not nest deeper than [`crate::Limits::nesting`]; a result that does is refused.
pub trait HostFunctions {
    fn functions(&self) -> &'static [Signature];

    /// Calls a function, with a number of arguments that its signature allows. The function charges
    /// `meter` for its work before it does it.
    fn call(&mut self, name: &str, arguments: &[Value], meter: &mut Meter) -> Result<Value, Error>;
}

/// The name, usage and purpose of a function.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    pub name: &'static str,
    /// The form of a call: `(get-principle name)`.
    pub usage: &'static str,
    pub about: &'static str,
    pub least: usize,
    /// Most arguments; `None` means any number.
    pub most: Option<usize>,
}

impl Signature {
    pub(crate) fn takes(&self, count: usize) -> bool {
        count >= self.least && self.most.is_none_or(|most| count <= most)
    }
}

/// A host without any functions.
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
