//! The instructions that Scheme source is compiled to: operations on a stack, with every name
//! resolved to a place.

use std::sync::Arc;

use crate::builtins::Builtin;
use crate::error::Position;
use crate::host_functions::Signature;
use crate::value::Value;

/// The code of one function, or of one form at top level.
pub(crate) struct Code {
    pub(crate) name: Option<Arc<str>>,
    /// Number of parameters that must be given.
    pub(crate) least: usize,
    /// Whether more arguments may be given; they are passed as a list after the others.
    pub(crate) has_rest: bool,
    /// Most values that the frame ever holds.
    pub(crate) room: usize,
    pub(crate) ops: Vec<Op>,
    pub(crate) constants: Vec<Value>,
    pub(crate) groups: Vec<Group>,
    /// Positions in the source, each with the first operation that comes from it, in ascending order.
    pub(crate) spots: Vec<(u32, Position)>,
}

/// Functions that are made together because they refer to each other.
pub(crate) struct Group {
    pub(crate) codes: Arc<[Arc<Code>]>,
    pub(crate) captures: Vec<ValuePlace>,
}

/// The place of a value, seen from the function that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuePlace {
    /// A slot in the function's frame.
    Local(u32),
    /// A value captured when the function was made.
    Captured(u32),
    /// A function of the same group.
    Sibling(u32),
}

#[derive(Clone, Copy)]
pub(crate) enum Op {
    Constant(u32),
    Get(ValuePlace),
    Global(u32),
    /// Pops the top into a global; pushes the global's name.
    Define(u32),
    /// Makes the functions of a group and pushes them.
    Group(u32),
    /// Replaces the top with its field; a constant names the field.
    Field(u32),
    /// Pushes the field of a value in the frame; a constant names the field.
    FieldOf(u32, u32),
    Pop,
    /// Drops so many values below the top.
    Slide(u32),
    Jump(u32),
    /// Pops the top; jumps if it is false.
    Unless(u32),
    /// Jumps if the top is false; otherwise pops it.
    And(u32),
    /// Jumps if the top is true; otherwise pops it.
    Or(u32),
    /// Calls the function below the top so many arguments.
    Call(u32),
    TailCall(u32),
    /// Calls a builtin with so many arguments, which is a number it takes.
    Builtin(&'static Builtin, u32),
    HostFunctions(&'static Signature, u32),
    Return,
}

impl Code {
    /// Returns the position in the source that an operation comes from.
    pub(crate) fn spot(&self, op: usize) -> Option<Position> {
        let after = self.spots.partition_point(|(index, _)| *index as usize <= op);
        Some(self.spots[after.checked_sub(1)?].1)
    }

    pub(crate) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or("lambda")
    }
}
