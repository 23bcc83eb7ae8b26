//! The instructions that Scheme source is compiled to: operations on a stack, with
//! every name resolved to a place.

use std::sync::Arc;

use crate::builtins::Builtin;
use crate::error::Position;
use crate::host_functions::Signature;
use crate::value::Value;

/// One function, or one form at top level.
pub(crate) struct Code {
    pub(crate) name: Option<Arc<str>>,
    /// Parameters that must be given.
    pub(crate) least: usize,
    /// Whether more may be given; they come as a list after the others.
    pub(crate) has_rest: bool,
    /// The most that its frame ever holds.
    pub(crate) room: usize,
    pub(crate) ops: Vec<Op>,
    pub(crate) constants: Vec<Value>,
    pub(crate) groups: Vec<Group>,
    /// Where in the source operations come from, by rising operation.
    pub(crate) spots: Vec<(u32, Position)>,
}

/// Functions that are made together because they know each other.
pub(crate) struct Group {
    pub(crate) codes: Arc<[Arc<Code>]>,
    pub(crate) captures: Vec<Source>,
}

/// Where a value is, seen from the function that wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the frame.
    Local(u32),
    /// Captured when the function was made.
    Captured(u32),
    /// A function of the same group.
    Sibling(u32),
}

#[derive(Clone, Copy)]
pub(crate) enum Op {
    Constant(u32),
    Get(Source),
    Global(u32),
    /// Takes the top and keeps it as the global; leaves its name.
    Define(u32),
    /// Makes the functions of a group.
    Group(u32),
    /// The field of the top that the constant names.
    Field(u32),
    /// The field of a value in the frame that the constant names.
    FieldOf(u32, u32),
    Pop,
    /// Drops so many below the top.
    Slide(u32),
    Jump(u32),
    /// Takes the top; jumps if it is false.
    Unless(u32),
    /// Jumps with the top if it is false, or drops it.
    And(u32),
    /// Jumps with the top if it is true, or drops it.
    Or(u32),
    /// A function and so many arguments are on top.
    Call(u32),
    TailCall(u32),
    /// With as many arguments as it takes.
    Builtin(&'static Builtin, u32),
    HostFunctions(&'static Signature, u32),
    Return,
}

impl Code {
    /// Where the operation comes from.
    pub(crate) fn spot(&self, op: usize) -> Option<Position> {
        let after = self.spots.partition_point(|(index, _)| *index as usize <= op);
        Some(self.spots[after.checked_sub(1)?].1)
    }

    pub(crate) fn shown_name(&self) -> &str {
        self.name.as_deref().unwrap_or("lambda")
    }
}
