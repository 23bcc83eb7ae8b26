//! Compiles the Scheme forms that bind names: `let`, `let*`, `letrec`, and `let` with a name.

use std::sync::Arc;

use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::body;
use crate::compile::body::Lambda;
use crate::compile::body::Parameters;
use crate::compile::malformed;
use crate::compile::scope::Local;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;

const LET: &str = "(let ((name value) ...) body ...)";
const LOOP: &str = "(let loop ((name start) ...) body ...)";

impl Compiler<'_> {
    pub(super) fn let_form(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        if let Some(name) = items.get(1).and_then(Datum::as_symbol) {
            return self.loop_form(&name.clone(), items, at, tail);
        }
        let [_, bindings, body @ ..] = items else { return Err(malformed(LET, at)) };
        let bindings = parse(bindings)?;
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        for (_, value) in &bindings {
            self.expression(value, Tail::No)?;
        }
        for (index, (name, _)) in bindings.iter().enumerate() {
            self.scope().declare(name, Local::At((floor + index) as u32));
        }
        self.body(body, at, tail)?;
        self.leave(known, floor, tail);
        Ok(())
    }

    pub(super) fn let_star(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, bindings, body @ ..] = items else { return Err(malformed(LET, at)) };
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        for (name, value) in parse(bindings)? {
            self.expression(value, Tail::No)?;
            self.declare_top(&name);
        }
        self.body(body, at, tail)?;
        self.leave(known, floor, tail);
        Ok(())
    }

    /// Compiles `letrec`: values in order; functions next to each other may refer to each other.
    pub(super) fn letrec(&mut self, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, bindings, body @ ..] = items else { return Err(malformed(LET, at)) };
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        let bindings = parse(bindings)?;
        for (name, _) in &bindings {
            self.scope().declare(name, Local::Unready);
        }
        let mut bindings = bindings.into_iter().peekable();
        while let Some((name, value)) = bindings.next() {
            let Some(lambda) = body::as_lambda(value, &name) else {
                self.expression(value, Tail::No)?;
                self.declare_top(&name);
                continue;
            };
            let (mut names, mut lambdas) = (vec![name], vec![lambda]);
            while let Some((name, value)) = bindings.peek()
                && let Some(lambda) = body::as_lambda(value, name)
            {
                names.push(name.clone());
                lambdas.push(lambda);
                bindings.next();
            }
            self.known_group(lambdas, names)?;
        }
        self.body(body, at, tail)?;
        self.leave(known, floor, tail);
        Ok(())
    }

    fn loop_form(&mut self, name: &Arc<str>, items: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let [_, _, bindings, body @ ..] = items else { return Err(malformed(LOOP, at)) };
        let bindings = parse(bindings)?;
        let parameters = Parameters::Names(bindings.iter().map(|(name, _)| name.clone()).collect());
        let lambda = Lambda { name: Some(name.clone()), parameters, body, at };
        self.group(vec![lambda], vec![name.clone()])?;
        for (_, value) in &bindings {
            self.expression(value, Tail::No)?;
        }
        self.call_op(bindings.len(), at, tail);
        Ok(())
    }
}

fn parse(bindings: &Datum) -> Result<Vec<(Arc<str>, &Datum)>, Error> {
    let items = bindings.as_items().ok_or_else(|| malformed(LET, bindings.at))?;
    let mut parsed = Vec::with_capacity(items.len());
    for item in items {
        let Some([name, value]) = item.as_items() else { return Err(malformed(LET, item.at)) };
        let Some(name) = name.as_symbol() else { return Err(malformed(LET, item.at)) };
        parsed.push((name.clone(), value));
    }
    Ok(parsed)
}
