//! Compiles Scheme's quasiquote: `` `(a ,b ,@c) ``, a list whose parts after commas are computed.

use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::malformed;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;
use crate::value::Value;

const QUASI: &str = "`(a ,b ,@c)";

impl Compiler<'_> {
    pub(super) fn quasiquote(&mut self, items: &[Datum], at: Position) -> Result<(), Error> {
        let [_, datum] = items else { return Err(malformed(QUASI, at)) };
        self.quasi(datum, 0)
    }

    /// Compiles a form that is inside `level` further backquotes; pushes its value.
    fn quasi(&mut self, datum: &Datum, level: usize) -> Result<(), Error> {
        let Some(items) = datum.as_items() else { return self.quote(datum) };
        if !has_comma(datum) {
            return self.quote(datum);
        }
        let mut inner = level;
        match items {
            [head, value] if head.is_symbol("unquote") => {
                if level == 0 {
                    return self.expression(value, Tail::No);
                }
                inner -= 1;
            }
            [head, _] if head.is_symbol("quasiquote") => inner += 1,
            _ => {}
        }
        let mut parts = 0;
        let mut run = 0;
        for item in items {
            match item.as_items() {
                Some([head, value]) if head.is_symbol("unquote-splicing") && level == 0 => {
                    if run > 0 {
                        self.builtin("list", run, datum.at)?;
                        parts += 1;
                        run = 0;
                    }
                    self.expression(value, Tail::No)?;
                    parts += 1;
                }
                _ => {
                    self.quasi(item, inner)?;
                    run += 1;
                }
            }
        }
        if run > 0 {
            self.builtin("list", run, datum.at)?;
            parts += 1;
        }
        if parts == 0 {
            self.constant(Value::list(Vec::new()));
            return Ok(());
        }
        self.builtin("append", parts, datum.at)
    }
}

fn has_comma(datum: &Datum) -> bool {
    datum.as_items().is_some_and(|items| {
        items.first().is_some_and(|head| head.is_symbol("unquote") || head.is_symbol("unquote-splicing"))
            || items.iter().any(has_comma)
    })
}
