//! Compiles the Scheme forms `->` and `->>`: the result of each step is the first or last argument
//! of the next. Each step is a local without a name, so a long chain does not nest.

use std::sync::Arc;

use crate::bytecode::Op;
use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::malformed;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;
use crate::read::Form;

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

impl Compiler<'_> {
    pub(super) fn thread_first(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        self.thread(items, End::First, at, tail)
    }

    pub(super) fn thread_last(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        self.thread(items, End::Last, at, tail)
    }

    fn thread(&mut self, items: &[Datum], end: End, at: Position, tail: Tail) -> Result<(), Error> {
        let [_, start, steps @ ..] = items else { return Err(malformed("(->> value step ...)", at)) };
        // No program uses the name |so far|, and none breaks if it does.
        let hidden: Arc<str> = "so far".into();
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        self.expression(start, Tail::No)?;
        for (index, step) in steps.iter().enumerate() {
            self.scope().locals.truncate(known);
            self.declare_top(&hidden);
            let so_far = Datum::new(Form::Symbol(hidden.clone()), step.at);
            let is_last = index + 1 == steps.len();
            let form = match &step.form {
                Form::List(items) if !items.is_empty() && !items[0].is_symbol("lambda") => {
                    let mut items = items.to_vec();
                    match end {
                        End::First => items.insert(1, so_far),
                        End::Last => items.push(so_far),
                    }
                    items
                }
                _ => vec![step.clone(), so_far],
            };
            let form = Datum::new(Form::List(form.into()), step.at);
            self.expression(&form, if is_last { tail } else { Tail::No })?;
            if !is_last {
                self.emit(Op::Slide(1), -1);
            }
        }
        self.leave(known, floor, tail);
        Ok(())
    }
}
