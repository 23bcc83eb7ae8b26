//! The virtual machine of the Scheme: runs bytecode on stacks of its own.
//!
//! A call pushes a frame and a return pops it, in one loop, so recursion of a program uses memory
//! that is counted and not the stack of the thread. Only builtins that take functions (`map`,
//! `sort`) and host functions call the machine again, up to a limit ([`Meter::enter`]). **A call in
//! tail position replaces the frame of its caller.**

use std::sync::Arc;

use crate::builtins;
use crate::builtins::Run;
use crate::bytecode::Code;
use crate::bytecode::Group;
use crate::bytecode::Op;
use crate::bytecode::ValuePlace;
use crate::error::Error;
use crate::function::Closures;
use crate::function::Function;
use crate::function::Kind;
use crate::host_functions::HostFunctions;
use crate::host_functions::Signature;
use crate::meter::Meter;
use crate::nearest::nearest;
use crate::value::Value;

/// Most values that all frames together may hold.
const MOST_STACK: usize = 1_000_000;

pub(crate) struct Machine<'a> {
    pub(crate) meter: &'a mut Meter,
    world: &'a mut dyn HostFunctions,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// The closures that were called last: so a function that is called thousands of times in a row
    /// does not change its reference count each time.
    spare: Option<Arc<Closures>>,
}

struct Frame {
    closures: Arc<Closures>,
    /// The index of the closure that the frame runs.
    index: usize,
    next: usize,
    /// The position of the first argument on the stack; the function itself is one below.
    base: usize,
}

/// The next step of the loop in [`Machine::run`], after operations have run.
enum Then {
    Enter(Arc<Closures>, u32, usize),
    Replace(Arc<Closures>, u32, usize),
    Return,
}

/// Calls `function`, which may be a keyword, from inside a host function.
pub fn apply(
    function: &Value,
    arguments: &[Value],
    world: &mut dyn HostFunctions,
    meter: &mut Meter,
) -> Result<Value, Error> {
    Machine::new(world, meter).call(function, arguments)
}

/// Runs a form at top level.
pub(crate) fn run(code: Arc<Code>, world: &mut dyn HostFunctions, meter: &mut Meter) -> Result<Value, Error> {
    let closures = Closures::new(Arc::from([code]), Vec::new());
    let function = Value::Function(Function(Kind::Closure(Arc::new(closures), 0)));
    Machine::new(world, meter).call(&function, &[])
}

impl<'a> Machine<'a> {
    fn new(world: &'a mut dyn HostFunctions, meter: &'a mut Meter) -> Self {
        Self { meter, world, stack: Vec::new(), frames: Vec::new(), spare: None }
    }

    /// Calls `function` and returns its result.
    pub(crate) fn call(&mut self, function: &Value, arguments: &[Value]) -> Result<Value, Error> {
        let (floor, frames, depth) = (self.stack.len(), self.frames.len(), self.meter.depth);
        self.make_room(arguments.len() + 1)?;
        self.meter.enter()?;
        let result = self.start(function, arguments);
        self.meter.leave();
        if result.is_err() {
            // The failed call may have left frames and values above.
            self.meter.depth = depth;
            self.frames.truncate(frames);
            self.stack.truncate(floor);
        }
        result
    }

    fn start(&mut self, function: &Value, arguments: &[Value]) -> Result<Value, Error> {
        self.meter.tick()?;
        if let Value::Function(Function(Kind::Closure(closures, index))) = function {
            // A placeholder for the function, which the frame holds itself.
            self.stack.push(Value::Nil);
            // Mostly there is one argument, for which `extend_from_slice` does too much.
            arguments.iter().for_each(|argument| self.stack.push(argument.clone()));
            let spare = self.spare.take().filter(|spare| Arc::ptr_eq(spare, closures));
            let closures = spare.unwrap_or_else(|| closures.clone());
            let frame = self.frame(closures, *index, arguments.len())?;
            return self.run(frame);
        }
        self.stack.push(function.clone());
        self.stack.extend_from_slice(arguments);
        self.call_native(arguments.len())?;
        Ok(self.pop())
    }

    fn run(&mut self, frame: Frame) -> Result<Value, Error> {
        let floor = self.frames.len();
        let mut frame = frame;
        loop {
            let then = self.operate(&mut frame).map_err(|error| spotted(error, &frame))?;
            match then {
                Then::Enter(closures, index, count) => {
                    self.meter.deepen().map_err(|error| spotted(error, &frame))?;
                    let next = self.frame(closures, index, count).map_err(|error| spotted(error, &frame))?;
                    self.frames.push(std::mem::replace(&mut frame, next));
                }
                Then::Replace(closures, index, count) => {
                    let callee = self.stack.len() - count - 1;
                    self.stack.drain(frame.base - 1..callee);
                    frame = self.frame(closures, index, count).map_err(|error| spotted(error, &frame))?;
                }
                Then::Return => {
                    let value = self.pop();
                    self.stack.truncate(frame.base - 1);
                    let caller = if self.frames.len() > floor { self.frames.pop() } else { None };
                    let Some(caller) = caller else {
                        self.spare = Some(frame.closures);
                        return Ok(value);
                    };
                    frame = caller;
                    self.meter.depth -= 1;
                    self.stack.push(value);
                }
            }
        }
    }

    /// Runs operations until the frame changes.
    fn operate(&mut self, frame: &mut Frame) -> Result<Then, Error> {
        let Frame { closures, index, next, base } = frame;
        let (code, base) = (&*closures.codes[*index], *base);
        loop {
            self.meter.tick()?;
            let op = code.ops[*next];
            *next += 1;
            match op {
                Op::Constant(index) => self.stack.push(code.constants[index as usize].clone()),
                Op::Get(source) => {
                    let value = self.get(source, base, closures);
                    self.stack.push(value);
                }
                Op::Global(index) => {
                    let value = self.global(index)?;
                    self.stack.push(value);
                }
                Op::Define(index) => {
                    let value = self.pop();
                    self.meter.has_defined = true;
                    let global = &mut self.meter.globals[index as usize];
                    global.value = Some(value);
                    self.stack.push(Value::Symbol(global.name.clone()));
                }
                Op::Group(index) => self.make_functions(&code.groups[index as usize], base, closures)?,
                Op::Field(index) => {
                    if let (Some(top), Value::Keyword(name)) =
                        (self.stack.last_mut(), &code.constants[index as usize])
                    {
                        *top = self.meter.field(top, name)?;
                    }
                }
                Op::FieldOf(local, index) => {
                    if let Value::Keyword(name) = &code.constants[index as usize] {
                        let value = self.meter.field(&self.stack[base + local as usize], name)?;
                        self.stack.push(value);
                    }
                }
                Op::Pop => drop(self.pop()),
                Op::Slide(count) => {
                    let value = self.pop();
                    self.stack.truncate(self.stack.len() - count as usize);
                    self.stack.push(value);
                }
                Op::Jump(to) => *next = to as usize,
                Op::Unless(to) => {
                    if !self.pop().is_true() {
                        *next = to as usize;
                    }
                }
                Op::And(to) | Op::Or(to) => {
                    let is_true = self.stack.last().is_some_and(Value::is_true);
                    if is_true == matches!(op, Op::Or(_)) {
                        *next = to as usize;
                    } else {
                        self.pop();
                    }
                }
                Op::Call(count) => match self.callee(count as usize) {
                    Some((closures, index)) => return Ok(Then::Enter(closures, index, count as usize)),
                    None => self.call_native(count as usize)?,
                },
                Op::TailCall(count) => match self.callee(count as usize) {
                    Some((closures, index)) => return Ok(Then::Replace(closures, index, count as usize)),
                    None => self.call_native(count as usize)?,
                },
                Op::Builtin(builtin, count) => self.call_builtin(builtin, count as usize)?,
                Op::HostFunctions(signature, count) => self.call_world(signature, count as usize)?,
                Op::Return => return Ok(Then::Return),
            }
        }
    }

    /// Makes functions that refer to each other, and pushes them.
    fn make_functions(&mut self, group: &Group, base: usize, closures: &Arc<Closures>) -> Result<(), Error> {
        self.meter.charge_cells(4 + group.codes.len() + group.captures.len())?;
        let captured = group.captures.iter().map(|&at| self.get(at, base, closures)).collect();
        let made = Arc::new(Closures::new(group.codes.clone(), captured));
        for index in 0..group.codes.len() as u32 {
            let function = Value::Function(Function(Kind::Closure(made.clone(), index)));
            self.stack.push(self.meter.check_nesting(function)?);
        }
        Ok(())
    }

    #[inline]
    fn get(&self, source: ValuePlace, base: usize, closures: &Arc<Closures>) -> Value {
        match source {
            ValuePlace::Local(index) => self.stack[base + index as usize].clone(),
            ValuePlace::Captured(index) => closures.captured[index as usize].clone(),
            ValuePlace::Sibling(index) => Value::Function(Function(Kind::Closure(closures.clone(), index))),
        }
    }

    fn global(&self, index: u32) -> Result<Value, Error> {
        match self.meter.globals.get(index as usize) {
            Some(global) => match &global.value {
                Some(value) => Ok(value.clone()),
                None => Err(self.unknown(&global.name)),
            },
            None => Err(Error::new("this function belongs to another session")),
        }
    }

    /// Returns the closure below the top `count` values, if the value there is one.
    fn callee(&self, count: usize) -> Option<(Arc<Closures>, u32)> {
        match &self.stack[self.stack.len() - count - 1] {
            Value::Function(Function(Kind::Closure(closures, index))) => Some((closures.clone(), *index)),
            _ => None,
        }
    }

    /// Makes a frame whose arguments are the top `count` values.
    fn frame(&mut self, closures: Arc<Closures>, index: u32, count: usize) -> Result<Frame, Error> {
        let index = index as usize;
        let code = &closures.codes[index];
        if count < code.least || (count > code.least && !code.has_rest) {
            let least = code.least;
            let wanted = if code.has_rest { format!("at least {least}") } else { least.to_string() };
            return Err(arity(code.shown_name(), &wanted, count));
        }
        let base = self.stack.len() - count;
        if code.has_rest {
            self.meter.charge_cells(1 + count - code.least)?;
            let rest = self.stack.split_off(base + code.least);
            self.stack.push(self.meter.list(rest)?);
        }
        let room = code.room;
        self.make_room(room)?;
        Ok(Frame { closures, index, next: 0, base })
    }

    fn make_room(&self, count: usize) -> Result<(), Error> {
        if self.stack.len() + count > MOST_STACK {
            return Err(Error::new(format!("more than {MOST_STACK} values at work"))
                .hint("see whether the recursion ends"));
        }
        Ok(())
    }

    /// Calls a builtin, a host function or a keyword.
    fn call_native(&mut self, count: usize) -> Result<(), Error> {
        let at = self.stack.len() - count - 1;
        match std::mem::take(&mut self.stack[at]) {
            Value::Function(Function(Kind::Builtin(builtin))) => {
                check_arity(&builtin.signature, count)?;
                self.call_builtin(builtin, count)?;
            }
            Value::Function(Function(Kind::HostFunctions(signature))) => self.call_world(signature, count)?,
            Value::Keyword(name) => {
                if count != 1 {
                    return Err(arity(&format!(":{name}"), "1", count));
                }
                let record = self.pop();
                self.stack.push(self.meter.field(&record, &name)?);
            }
            other => {
                return Err(Error::new(format!("{} is no function", other.what()))
                    .hint("write data as [a b] or '(a b), or (list a b)"));
            }
        }
        let value = self.pop();
        self.stack.truncate(at);
        self.stack.push(value);
        Ok(())
    }

    fn call_builtin(&mut self, builtin: &'static builtins::Builtin, count: usize) -> Result<(), Error> {
        let from = self.stack.len() - count;
        let result = match builtin.run {
            Run::Plain(run) => run(&self.stack[from..], self.meter),
            Run::Calling(run) => {
                let arguments = self.stack.split_off(from);
                run(&arguments, self)
            }
        };
        let value = result.map_err(|error| match &error.hint {
            None => error.hint(builtin.signature.usage),
            Some(_) => error,
        })?;
        self.stack.truncate(from);
        self.stack.push(value);
        Ok(())
    }

    fn call_world(&mut self, signature: &'static Signature, count: usize) -> Result<(), Error> {
        check_arity(signature, count)?;
        let from = self.stack.len() - count;
        self.meter.enter()?;
        let result = self.world.call(signature.name, &self.stack[from..], self.meter);
        self.meter.leave();
        let value = self.meter.check_nesting(result?)?;
        self.stack.truncate(from);
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    fn unknown(&self, name: &str) -> Error {
        let error = Error::new(format!("unknown name `{name}`"));
        if let Some(hint) = builtins::absent(name) {
            return error.hint(hint);
        }
        let defined = self.meter.globals.iter().filter(|global| global.value.is_some());
        let names = defined
            .map(|global| &*global.name)
            .chain(self.world.functions().iter().map(|signature| signature.name))
            .chain(builtins::names());
        let beginning = name.split_inclusive('-').next().filter(|beginning| beginning.len() < name.len());
        let has_kin = beginning.is_some_and(|beginning| {
            self.world.functions().iter().any(|one| one.name.starts_with(beginning))
        });
        match nearest(name, names) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None if has_kin => error.hint("there is no such function"),
            // Tables print such texts without quotes, and programs copy them.
            None if name.contains(['-', '.', '/', ':']) => {
                error.hint(format!("a text stands in quotes: \"{name}\""))
            }
            None => error,
        }
    }
}

fn spotted(error: Error, frame: &Frame) -> Error {
    match frame.closures.codes[frame.index].spot(frame.next.saturating_sub(1)) {
        Some(spot) => error.at(spot),
        None => error,
    }
}

fn check_arity(signature: &Signature, count: usize) -> Result<(), Error> {
    if signature.takes(count) {
        return Ok(());
    }
    let wanted = match (signature.least, signature.most) {
        (least, Some(most)) if least == most => least.to_string(),
        (least, Some(most)) => format!("{least} to {most}"),
        (least, None) => format!("at least {least}"),
    };
    Err(arity(signature.name, &wanted, count).hint(signature.usage))
}

fn arity(name: &str, wanted: &str, count: usize) -> Error {
    let noun = if wanted == "1" || wanted == "at least 1" { "argument" } else { "arguments" };
    Error::new(format!("`{name}` takes {wanted} {noun}, not {count}"))
}
