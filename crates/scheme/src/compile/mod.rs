//! The Scheme compiler: from forms to bytecode, with every name resolved.
//!
//! A local name is a slot in the frame, counted while compiling; a name from further out is
//! captured when the function is made; a name at top level is a slot of the session. Nothing is
//! looked up by name when code runs.

mod binding;
mod body;
mod branch;
mod forms;
mod quasi;
mod scope;
mod thread;

use std::sync::Arc;

use crate::builtins;
use crate::bytecode::Code;
use crate::bytecode::Op;
use crate::bytecode::ValuePlace;
use crate::error::Error;
use crate::error::Position;
use crate::function::Function;
use crate::function::Kind;
use crate::host_functions::HostFunctions;
use crate::host_functions::Signature;
use crate::meter;
use crate::meter::Meter;
use crate::read::Datum;
use crate::read::Form;
use crate::value::Value;
use scope::Name;
use scope::Scope;

pub(crate) use forms::SPECIAL;

/// Whether a value is the result of its function, so that a call may replace the function's frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    Yes,
    No,
}

struct Compiler<'a> {
    /// The functions being compiled, innermost last. Never empty.
    scopes: Vec<Scope>,
    world: &'static [Signature],
    meter: &'a mut Meter,
    /// Number of forms being compiled inside each other.
    depth: usize,
}

/// Compiles a form at top level.
pub(crate) fn compile(datum: &Datum, world: &dyn HostFunctions, meter: &mut Meter) -> Result<Code, Error> {
    let world = world.functions();
    let mut compiler = Compiler { scopes: vec![Scope::default()], world, meter, depth: 0 };
    compiler.top(datum)?;
    compiler.emit(Op::Return, 0);
    let scope = compiler.scopes.pop().unwrap_or_default();
    Ok(scope.finish(None, 0, false))
}

impl Compiler<'_> {
    /// Compiles a form at top level, which pushes one value. Definitions are allowed, also inside `begin`.
    fn top(&mut self, datum: &Datum) -> Result<(), Error> {
        if let Form::List(items) = &datum.form {
            match items.first().and_then(Datum::as_symbol).map(|name| &**name) {
                Some("define") => return self.define_global(items, datum.at),
                Some("begin") if items.len() > 1 => {
                    for (index, item) in items[1..].iter().enumerate() {
                        if index > 0 {
                            self.emit(Op::Pop, -1);
                        }
                        self.top(item)?;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        self.expression(datum, Tail::Yes)
    }

    /// Compiles an expression, which pushes one value.
    fn expression(&mut self, datum: &Datum, tail: Tail) -> Result<(), Error> {
        let nesting = self.meter.nesting();
        if self.depth > nesting {
            return Err(meter::too_nested(nesting).at(datum.at));
        }
        // Names are searched one by one, so every name costs more the more there are.
        let names = self.meter.globals.len() + self.scopes.iter().map(Scope::name_count).sum::<usize>();
        self.meter.charge_steps(1 + names as u64 / 16)?;
        self.depth += 1;
        let result = match &datum.form {
            Form::Symbol(name) => self.name(name, datum.at),
            Form::List(items) => self.list(items, datum.at, tail),
            Form::Brackets(items) => {
                for item in items.iter() {
                    self.expression(item, Tail::No)?;
                }
                self.builtin("list", items.len(), datum.at)
            }
            _ => datum.to_value().map(|value| self.constant(value)),
        };
        self.depth -= 1;
        result
    }

    fn list(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let Some(head) = items.first() else {
            self.constant(Value::list(Vec::new()));
            return Ok(());
        };
        match &head.form {
            Form::Symbol(name) => match self.resolve(name) {
                Name::Special => self.special(name, items, at, tail),
                // With a wrong number of arguments, a builtin is called like other
                // functions, and fails at run time.
                Name::Builtin(builtin) if builtin.signature.takes(items.len() - 1) => {
                    self.arguments(items)?;
                    self.spot(at);
                    let count = items.len() - 1;
                    self.emit(Op::Builtin(builtin, count as u32), 1 - count as isize);
                    Ok(())
                }
                Name::HostFunctions(signature) => {
                    self.arguments(items)?;
                    self.spot(at);
                    let count = items.len() - 1;
                    self.emit(Op::HostFunctions(signature, count as u32), 1 - count as isize);
                    Ok(())
                }
                _ => self.call(items, at, tail),
            },
            Form::Keyword(name) if items.len() == 2 => self.field_of(&items[1], name),
            _ => self.call(items, at, tail),
        }
    }

    /// Compiles the call of a function that is only known when the code runs.
    fn call(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        self.expression(&items[0], Tail::No)?;
        self.arguments(items)?;
        self.call_op(items.len() - 1, at, tail);
        Ok(())
    }

    fn call_op(&mut self, count: usize, at: Position, tail: Tail) {
        self.spot(at);
        let op = if tail == Tail::Yes { Op::TailCall(count as u32) } else { Op::Call(count as u32) };
        self.emit(op, -(count as isize));
    }

    fn arguments(&mut self, items: &[Datum]) -> Result<(), Error> {
        for item in &items[1..] {
            self.expression(item, Tail::No)?;
        }
        Ok(())
    }

    fn name(&mut self, name: &Arc<str>, at: Position) -> Result<(), Error> {
        match self.resolve(name) {
            Name::Place(source) => self.emit(Op::Get(source), 1),
            Name::Global(index) => {
                self.spot(at);
                self.emit(Op::Global(index), 1);
            }
            Name::Builtin(builtin) => self.constant(Function::builtin(builtin)),
            Name::HostFunctions(signature) => {
                self.constant(Value::Function(Function(Kind::HostFunctions(signature))))
            }
            Name::Special => {
                return Err(Error::new(format!("`{name}` is a form, not a value"))
                    .hint(format!("write ({name} …), or wrap it in a lambda"))
                    .at(at));
            }
            Name::Unready => {
                return Err(Error::new(format!("`{name}` is used before it is defined"))
                    .hint("define it further up")
                    .at(at));
            }
        }
        Ok(())
    }

    /// Calls a builtin of the language, whatever its name means at this point of the program.
    fn builtin(&mut self, name: &str, count: usize, at: Position) -> Result<(), Error> {
        let builtin = builtins::find(name).ok_or_else(|| Error::new(format!("unknown name `{name}`")))?;
        self.spot(at);
        self.emit(Op::Builtin(builtin, count as u32), 1 - count as isize);
        Ok(())
    }

    fn constant(&mut self, value: Value) {
        let scope = self.scope();
        scope.constants.push(value);
        let index = scope.constants.len() - 1;
        self.emit(Op::Constant(index as u32), 1);
    }

    /// Replaces the value on top with its field.
    fn field(&mut self, name: &Arc<str>) {
        let name = self.keyword(name);
        self.emit(Op::Field(name), 0);
    }

    /// Pushes the field of a record. A record that is a local here is not copied first.
    fn field_of(&mut self, record: &Datum, name: &Arc<str>) -> Result<(), Error> {
        if let Form::Symbol(local) = &record.form
            && let Name::Place(ValuePlace::Local(place)) = self.resolve(local)
        {
            let name = self.keyword(name);
            self.emit(Op::FieldOf(place, name), 1);
            return Ok(());
        }
        self.expression(record, Tail::No)?;
        self.field(name);
        Ok(())
    }

    fn keyword(&mut self, name: &Arc<str>) -> u32 {
        let scope = self.scope();
        scope.constants.push(Value::Keyword(name.clone()));
        scope.constants.len() as u32 - 1
    }

    fn quote(&mut self, datum: &Datum) -> Result<(), Error> {
        let value = datum.to_value()?;
        self.constant(value);
        Ok(())
    }
}

/// Makes the error for an incomplete form; its hint shows how the form is written.
fn malformed(usage: &str, at: Position) -> Error {
    Error::new("this form is not complete").hint(usage).at(at)
}
