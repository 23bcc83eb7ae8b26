//! The table of Scheme's special forms, by name: finds the compiler function for each.

use crate::bytecode::Op;
use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::body;
use crate::compile::malformed;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;
use crate::read::Form;
use crate::value::Value;

/// Names of special forms, which cannot be given another meaning at top level.
pub(crate) const SPECIAL: &[&str] = &[
    "quote",
    "quasiquote",
    "unquote",
    "unquote-splicing",
    "define",
    "lambda",
    "λ",
    "let",
    "let*",
    "letrec",
    "letrec*",
    "if",
    "cond",
    "case",
    "when",
    "unless",
    "and",
    "or",
    "begin",
    "->",
    "->>",
    "@",
];

pub(super) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
}

impl Compiler<'_> {
    /// Compiles the special form `name`, which is also the first item; pushes one value.
    pub(super) fn special(
        &mut self,
        name: &str,
        items: &[Datum],
        at: Position,
        tail: Tail,
    ) -> Result<(), Error> {
        match name {
            "quote" => self.quote_form(items, at),
            "quasiquote" => self.quasiquote(items, at),
            "define" => Err(Error::new("`define` stands at top level or directly in a body")
                .hint("use let for a name inside an expression")
                .at(at)),
            "lambda" | "λ" => self.lambda(items, at),
            "let" => self.let_form(items, at, tail),
            "let*" => self.let_star(items, at, tail),
            "letrec" | "letrec*" => self.letrec(items, at, tail),
            "if" => self.if_form(items, at, tail),
            "cond" => self.cond(items, at, tail),
            "case" => self.case(items, at, tail),
            "when" => self.when(items, at, tail),
            "unless" => self.unless(items, at, tail),
            "and" => self.and(items, tail),
            "or" => self.or(items, tail),
            "begin" => self.begin(items, tail),
            "->" => self.thread_first(items, at, tail),
            "->>" => self.thread_last(items, at, tail),
            "@" => self.access(items, at),
            _ => Err(Error::new("a comma only means something after a backquote").hint("`(a ,b)").at(at)),
        }
    }

    fn quote_form(&mut self, items: &[Datum], at: Position) -> Result<(), Error> {
        let [_, datum] = items else { return Err(malformed("(quote datum)", at)) };
        self.quote(datum)
    }

    fn lambda(&mut self, items: &[Datum], at: Position) -> Result<(), Error> {
        let lambda = body::lambda(items, at, None)?;
        self.group(vec![lambda], Vec::new())
    }

    fn begin(&mut self, items: &[Datum], tail: Tail) -> Result<(), Error> {
        if items.len() == 1 {
            self.constant(Value::Nil);
            return Ok(());
        }
        self.sequence(&items[1..], tail)
    }

    /// Compiles forms in order; pushes the value of the last, or nil if there is none.
    pub(super) fn sequence(&mut self, forms: &[Datum], tail: Tail) -> Result<(), Error> {
        let Some((last, before)) = forms.split_last() else {
            self.constant(Value::Nil);
            return Ok(());
        };
        for form in before {
            self.expression(form, Tail::No)?;
            self.emit(Op::Pop, -1);
        }
        self.expression(last, tail)
    }

    /// Compiles `(@ record :field ...)`. A first keyword is one operation; any other key, which may
    /// be the key of a group or has to be computed, is left to the builtin `@`.
    fn access(&mut self, items: &[Datum], at: Position) -> Result<(), Error> {
        let [_, record, keys @ ..] = items else { return Err(malformed("(@ record :field ...)", at)) };
        let keys = match keys {
            [Datum { form: Form::Keyword(name), .. }, keys @ ..] => {
                self.field_of(record, name)?;
                keys
            }
            _ => {
                self.expression(record, Tail::No)?;
                keys
            }
        };
        for key in keys {
            match &key.form {
                Form::Keyword(name) => self.field(name),
                _ => {
                    self.expression(key, Tail::No)?;
                    self.builtin("@", 2, at)?;
                }
            }
        }
        Ok(())
    }
}
