//! The functions being compiled: the names that each can use, and its code so far.

use std::sync::Arc;

use crate::builtins;
use crate::builtins::Builtin;
use crate::bytecode::Code;
use crate::bytecode::Group;
use crate::bytecode::Op;
use crate::bytecode::ValuePlace;
use crate::compile::Compiler;
use crate::compile::forms;
use crate::error::Position;
use crate::host_functions::Signature;
use crate::meter::Global;
use crate::value::Value;

/// A function that is being compiled.
#[derive(Default)]
pub(super) struct Scope {
    /// The names in the frame, innermost last.
    pub(super) locals: Vec<(Arc<str>, Local)>,
    /// The functions that are made together with this one.
    pub(super) siblings: Vec<Arc<str>>,
    /// The values that this function and its siblings captured from outside.
    pub(super) captures: Vec<(Arc<str>, ValuePlace)>,
    /// Number of values that the frame holds at this point.
    pub(super) height: usize,
    pub(super) room: usize,
    pub(super) ops: Vec<Op>,
    pub(super) constants: Vec<Value>,
    pub(super) groups: Vec<Group>,
    pub(super) spots: Vec<(u32, Position)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Local {
    At(u32),
    /// A local that is defined further down.
    Unready,
}

/// The meaning of a name.
pub(super) enum Name {
    Place(ValuePlace),
    Unready,
    Global(u32),
    Builtin(&'static Builtin),
    HostFunctions(&'static Signature),
    Special,
}

impl Scope {
    pub(super) fn finish(self, name: Option<Arc<str>>, least: usize, has_rest: bool) -> Code {
        let Self { room, ops, constants, groups, spots, .. } = self;
        Code { name, least, has_rest, room, ops, constants, groups, spots }
    }

    /// Returns the number of names to search.
    pub(super) fn name_count(&self) -> usize {
        self.locals.len() + self.siblings.len() + self.captures.len()
    }

    pub(super) fn declare(&mut self, name: &Arc<str>, local: Local) {
        self.locals.push((name.clone(), local));
    }
}

impl Compiler<'_> {
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Appends an operation; `change` is the change in the number of values on the stack.
    pub(super) fn emit(&mut self, op: Op, change: isize) {
        let scope = self.scope();
        scope.ops.push(op);
        scope.height = scope.height.saturating_add_signed(change);
        scope.room = scope.room.max(scope.height + 1);
    }

    /// Records `at` as the source position of the next operation.
    pub(super) fn spot(&mut self, at: Position) {
        let scope = self.scope();
        scope.spots.push((scope.ops.len() as u32, at));
    }

    /// Appends a jump whose target is set later; returns its index.
    pub(super) fn jump(&mut self, op: fn(u32) -> Op, change: isize) -> usize {
        self.emit(op(0), change);
        self.scope().ops.len() - 1
    }

    /// Sets the target of a jump to the next operation.
    pub(super) fn land(&mut self, jump: usize) {
        let scope = self.scope();
        let here = scope.ops.len() as u32;
        scope.ops[jump] = match scope.ops[jump] {
            Op::Jump(_) => Op::Jump(here),
            Op::Unless(_) => Op::Unless(here),
            Op::And(_) => Op::And(here),
            Op::Or(_) => Op::Or(here),
            other => other,
        };
    }

    /// Names the value on top; it is a local from here on.
    pub(super) fn declare_top(&mut self, name: &Arc<str>) {
        let scope = self.scope();
        let place = scope.height - 1;
        scope.declare(name, Local::At(place as u32));
    }

    pub(super) fn resolve(&mut self, name: &Arc<str>) -> Name {
        match self.place(self.scopes.len() - 1, name) {
            Some(Local::At(_)) | None => {}
            Some(Local::Unready) => return Name::Unready,
        }
        if let Some(source) = self.source(self.scopes.len() - 1, name) {
            return Name::Place(source);
        }
        if forms::is_special(name) {
            return Name::Special;
        }
        let known = self.meter.globals.iter().position(|global| global.name == *name);
        if let Some(index) = known.filter(|&index| self.meter.globals[index].value.is_some()) {
            return Name::Global(index as u32);
        }
        if let Some(builtin) = builtins::find(name) {
            return Name::Builtin(builtin);
        }
        if let Some(signature) = self.world.iter().find(|signature| *signature.name == **name) {
            return Name::HostFunctions(signature);
        }
        Name::Global(self.slot(name))
    }

    /// Returns the slot of a name at top level; the name may get a value later.
    pub(super) fn slot(&mut self, name: &Arc<str>) -> u32 {
        let known = self.meter.globals.iter().position(|global| global.name == *name);
        let index = known.unwrap_or_else(|| {
            self.meter.globals.push(Global { name: name.clone(), value: None });
            self.meter.globals.len() - 1
        });
        index as u32
    }

    /// Finds the innermost local of that name; tells whether it has a value yet.
    fn place(&self, level: usize, name: &Arc<str>) -> Option<Local> {
        for scope in self.scopes[..=level].iter().rev() {
            if let Some((_, local)) = scope.locals.iter().rev().find(|(known, _)| known == name) {
                return Some(*local);
            }
            if scope.siblings.contains(name) {
                return Some(Local::At(0));
            }
        }
        None
    }

    /// Finds the place of a name, seen from the function at `level`; captures the
    /// name on the way if necessary.
    fn source(&mut self, level: usize, name: &Arc<str>) -> Option<ValuePlace> {
        let scope = &self.scopes[level];
        if let Some((_, local)) = scope.locals.iter().rev().find(|(known, _)| known == name) {
            return match local {
                Local::At(index) => Some(ValuePlace::Local(*index)),
                Local::Unready => None,
            };
        }
        if let Some(index) = scope.siblings.iter().position(|known| known == name) {
            return Some(ValuePlace::Sibling(index as u32));
        }
        if let Some(index) = scope.captures.iter().position(|(known, _)| known == name) {
            return Some(ValuePlace::Captured(index as u32));
        }
        let source = self.source(level.checked_sub(1)?, name)?;
        let captures = &mut self.scopes[level].captures;
        captures.push((name.clone(), source));
        Some(ValuePlace::Captured(captures.len() as u32 - 1))
    }
}
