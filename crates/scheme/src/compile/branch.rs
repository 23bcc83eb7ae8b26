//! Compiles the Scheme forms that choose: `if`, `cond`, `case`, `when`, `unless`, `and`, `or`.

use crate::bytecode::Op;
use crate::bytecode::ValuePlace;
use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::malformed;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;
use crate::value::Value;

const COND: &str = "(cond (test value ...) ... (else value ...))";
const CASE: &str = "(case key ((datum ...) value ...) ... (else value ...))";

impl Compiler<'_> {
    pub(super) fn if_form(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let (test, yes, no) = match items {
            [_, test, yes] => (test, yes, None),
            [_, test, yes, no] => (test, yes, Some(no)),
            _ => return Err(malformed("(if test then else)", at)),
        };
        self.expression(test, Tail::No)?;
        let otherwise = self.jump(Op::Unless, -1);
        self.expression(yes, tail)?;
        let end = self.jump(Op::Jump, -1);
        self.land(otherwise);
        match no {
            Some(no) => self.expression(no, tail)?,
            None => self.constant(Value::Nil),
        }
        self.land(end);
        Ok(())
    }

    pub(super) fn when(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, test, forms @ ..] = items else { return Err(malformed("(when test value ...)", at)) };
        self.expression(test, Tail::No)?;
        let otherwise = self.jump(Op::Unless, -1);
        self.sequence(forms, tail)?;
        let end = self.jump(Op::Jump, -1);
        self.land(otherwise);
        self.constant(Value::Nil);
        self.land(end);
        Ok(())
    }

    pub(super) fn unless(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, test, forms @ ..] = items else { return Err(malformed("(unless test value ...)", at)) };
        self.expression(test, Tail::No)?;
        let otherwise = self.jump(Op::Unless, -1);
        self.constant(Value::Nil);
        let end = self.jump(Op::Jump, -1);
        self.land(otherwise);
        self.sequence(forms, tail)?;
        self.land(end);
        Ok(())
    }

    pub(super) fn and(&mut self, items: &[Datum], tail: Tail) -> Result<(), Error> {
        self.chain(items, Op::And, Value::Bool(true), tail)
    }

    pub(super) fn or(&mut self, items: &[Datum], tail: Tail) -> Result<(), Error> {
        self.chain(items, Op::Or, Value::Bool(false), tail)
    }

    fn chain(&mut self, items: &[Datum], op: fn(u32) -> Op, empty: Value, tail: Tail) -> Result<(), Error> {
        let Some((last, before)) = items[1..].split_last() else {
            self.constant(empty);
            return Ok(());
        };
        let mut exits = Vec::with_capacity(before.len());
        for item in before {
            self.expression(item, Tail::No)?;
            exits.push(self.jump(op, -1));
        }
        self.expression(last, tail)?;
        for exit in exits {
            self.land(exit);
        }
        Ok(())
    }

    pub(super) fn cond(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let mut exits = Vec::new();
        let mut is_closed = false;
        for clause in &items[1..] {
            let Some([test, forms @ ..]) = clause.as_items() else { return Err(malformed(COND, clause.at)) };
            if is_closed {
                return Err(Error::new("`else` comes last").hint(COND).at(clause.at));
            }
            if test.is_symbol("else") {
                self.sequence(forms, tail)?;
                is_closed = true;
            } else if let [arrow, function] = forms
                && arrow.is_symbol("=>")
            {
                // The function has to be below its argument on the stack, so the value of the test
                // is pushed again from its place after the function.
                self.expression(test, Tail::No)?;
                let floor = self.scope().height - 1;
                self.emit(Op::Get(ValuePlace::Local(floor as u32)), 1);
                let otherwise = self.jump(Op::Unless, -1);
                self.expression(function, Tail::No)?;
                self.emit(Op::Get(ValuePlace::Local(floor as u32)), 1);
                self.call_op(1, clause.at, tail);
                self.emit(Op::Slide(1), -1);
                exits.push(self.jump(Op::Jump, 0));
                self.land(otherwise);
                self.emit(Op::Pop, -1);
            } else if forms.is_empty() {
                self.expression(test, Tail::No)?;
                exits.push(self.jump(Op::Or, -1));
            } else {
                self.expression(test, Tail::No)?;
                let otherwise = self.jump(Op::Unless, -1);
                self.sequence(forms, tail)?;
                exits.push(self.jump(Op::Jump, -1));
                self.land(otherwise);
            }
        }
        if items.len() == 1 {
            return Err(malformed(COND, at));
        }
        if !is_closed {
            self.constant(Value::Nil);
        }
        for exit in exits {
            self.land(exit);
        }
        Ok(())
    }

    pub(super) fn case(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, key, clauses @ ..] = items else { return Err(malformed(CASE, at)) };
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        self.expression(key, Tail::No)?;
        let mut exits = Vec::new();
        let mut is_closed = false;
        for clause in clauses {
            let Some([data, forms @ ..]) = clause.as_items() else { return Err(malformed(CASE, clause.at)) };
            if is_closed {
                return Err(Error::new("`else` comes last").hint(CASE).at(clause.at));
            }
            if data.is_symbol("else") {
                self.sequence(forms, tail)?;
                is_closed = true;
                continue;
            }
            if data.as_items().is_none() {
                return Err(malformed(CASE, clause.at));
            }
            self.emit(Op::Get(ValuePlace::Local(floor as u32)), 1);
            self.quote(data)?;
            self.builtin("member", 2, clause.at)?;
            let otherwise = self.jump(Op::Unless, -1);
            self.sequence(forms, tail)?;
            exits.push(self.jump(Op::Jump, -1));
            self.land(otherwise);
        }
        if !is_closed {
            self.constant(Value::Nil);
        }
        for exit in exits {
            self.land(exit);
        }
        self.leave(known, floor, tail);
        Ok(())
    }
}
