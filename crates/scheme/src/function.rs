//! Scheme functions as values: builtins, closures, host functions.

use std::fmt;
use std::sync::Arc;

use crate::builtins::Builtin;
use crate::bytecode::Code;
use crate::host_functions::Signature;
use crate::value::Value;

/// A closure of the program, a builtin of the language, or a function of the host.
#[derive(Clone)]
pub struct Function(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Closure(Arc<Closures>, u32),
    Builtin(&'static Builtin),
    HostFunctions(&'static Signature),
}

/// Functions that refer to each other, with the values they have captured. They name each other by
/// number, so that nothing points back at itself: **a function never owns itself, and dropping the
/// last one frees them all.**
pub(crate) struct Closures {
    pub(crate) codes: Arc<[Arc<Code>]>,
    pub(crate) captured: Vec<Value>,
    pub(crate) depth: usize,
}

impl Function {
    pub(crate) fn builtin(builtin: &'static Builtin) -> Value {
        Value::Function(Self(Kind::Builtin(builtin)))
    }

    /// Returns the name in the function's definition; `None` for a `lambda`.
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Closure(closures, index) => closures.codes[*index as usize].name.as_deref(),
            Kind::Builtin(builtin) => Some(builtin.signature.name),
            Kind::HostFunctions(signature) => Some(signature.name),
        }
    }

    pub(crate) fn depth(&self) -> usize {
        match &self.0 {
            Kind::Closure(closures, _) => closures.depth,
            _ => 0,
        }
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Closure(one, index), Kind::Closure(two, second)) => {
                index == second && Arc::ptr_eq(one, two)
            }
            (Kind::Builtin(one), Kind::Builtin(two)) => one.signature.name == two.signature.name,
            (Kind::HostFunctions(one), Kind::HostFunctions(two)) => one.name == two.name,
            _ => false,
        }
    }
}

impl Closures {
    pub(crate) fn new(codes: Arc<[Arc<Code>]>, captured: Vec<Value>) -> Self {
        let deepest = captured.iter().map(Value::depth).max().unwrap_or(0);
        Self { codes, captured, depth: deepest.saturating_add(1) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#<function {}>", self.name().unwrap_or("lambda"))
    }
}
