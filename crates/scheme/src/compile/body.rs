//! Compiles Scheme functions and their bodies: `lambda`, `define`, and inner definitions.

use std::sync::Arc;

use crate::bytecode::Code;
use crate::bytecode::Group;
use crate::bytecode::Op;
use crate::compile::Compiler;
use crate::compile::Tail;
use crate::compile::forms;
use crate::compile::malformed;
use crate::compile::scope::Local;
use crate::compile::scope::Scope;
use crate::error::Error;
use crate::error::Position;
use crate::read::Datum;
use crate::read::Form;

const DEFINE: &str = "(define name value) or (define (name parameter ...) body ...)";
const LAMBDA: &str = "(lambda (parameter ...) body ...)";

/// Most parameters of a function, and most functions that refer to each other.
const MOST_NAMES: usize = 255;

/// A function in the source.
pub(super) struct Lambda<'d> {
    pub(super) name: Option<Arc<str>>,
    /// The parameters; or one name, for the list of all arguments.
    pub(super) parameters: Parameters<'d>,
    pub(super) body: &'d [Datum],
    pub(super) at: Position,
}

pub(super) enum Parameters<'d> {
    List(&'d [Datum]),
    All(&'d Datum),
    Names(Vec<Arc<str>>),
}

/// A definition in the source.
enum Definition<'d> {
    Function(Arc<str>, Lambda<'d>),
    Value(Arc<str>, &'d Datum),
}

impl Compiler<'_> {
    pub(super) fn define_global(&mut self, items: &[Datum], at: Position) -> Result<(), Error> {
        let name = match definition(items, at)? {
            Definition::Function(name, lambda) => {
                self.group(vec![lambda], vec![name.clone()])?;
                name
            }
            Definition::Value(name, value) => {
                self.expression(value, Tail::No)?;
                name
            }
        };
        let slot = self.slot(&name);
        self.emit(Op::Define(slot), 0);
        Ok(())
    }

    /// Compiles functions that refer to each other by `names`, and pushes them.
    pub(super) fn group(&mut self, lambdas: Vec<Lambda<'_>>, names: Vec<Arc<str>>) -> Result<(), Error> {
        let count = lambdas.len();
        if count > MOST_NAMES {
            return Err(Error::new(format!("more than {MOST_NAMES} functions that know each other")));
        }
        let mut codes: Vec<Arc<Code>> = Vec::with_capacity(count);
        let mut captures = Vec::new();
        for lambda in lambdas {
            self.scopes.push(Scope { siblings: names.clone(), captures, ..Scope::default() });
            let shape = self.lambda_body(&lambda);
            let mut scope = self.scopes.pop().unwrap_or_default();
            let (least, has_rest) = shape?;
            captures = std::mem::take(&mut scope.captures);
            codes.push(Arc::new(scope.finish(lambda.name, least, has_rest)));
        }
        let captures = captures.into_iter().map(|(_, source)| source).collect();
        let scope = self.scope();
        scope.groups.push(Group { codes: codes.into(), captures });
        let index = scope.groups.len() - 1;
        self.emit(Op::Group(index as u32), count as isize);
        Ok(())
    }

    /// Compiles a function's body; returns how many parameters it has, and whether it takes more.
    fn lambda_body(&mut self, lambda: &Lambda<'_>) -> Result<(usize, bool), Error> {
        let (names, has_rest) = match &lambda.parameters {
            Parameters::Names(names) => (names.clone(), false),
            Parameters::All(name) => (vec![parameter(name)?], true),
            Parameters::List(items) => match items {
                [required @ .., Datum { form: Form::Dot, .. }, rest] => {
                    let mut names = required.iter().map(parameter).collect::<Result<Vec<_>, _>>()?;
                    names.push(parameter(rest)?);
                    (names, true)
                }
                _ => (items.iter().map(parameter).collect::<Result<Vec<_>, _>>()?, false),
            },
        };
        if names.len() > MOST_NAMES {
            return Err(Error::new(format!("more than {MOST_NAMES} parameters")).at(lambda.at));
        }
        let scope = self.scope();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(Error::new(format!("`{name}` is a parameter twice")).at(lambda.at));
            }
            scope.declare(name, Local::At(index as u32));
        }
        scope.height = names.len();
        self.body(lambda.body, lambda.at, Tail::Yes)?;
        self.emit(Op::Return, 0);
        Ok((names.len() - usize::from(has_rest), has_rest))
    }

    /// Compiles a body, which pushes the value of its last form. Definitions are local to the body;
    /// functions defined one after the other may refer to each other.
    pub(super) fn body(&mut self, forms: &[Datum], at: Position, tail: Tail) -> Result<(), Error> {
        let Some(last) = forms.len().checked_sub(1) else {
            return Err(Error::new("there is nothing to answer here").at(at));
        };
        let (known, floor) = (self.scope().locals.len(), self.scope().height);
        let mut definitions = Vec::new();
        for form in forms {
            definitions.push(match form.as_items() {
                Some(items) if items.first().is_some_and(|head| head.is_symbol("define")) => {
                    Some(definition(items, form.at)?)
                }
                _ => None,
            });
        }
        for definition in definitions.iter().flatten() {
            let (Definition::Function(name, _) | Definition::Value(name, _)) = definition;
            self.scope().declare(name, Local::Unready);
        }
        if matches!(definitions.last(), Some(Some(_))) {
            return Err(
                Error::new("the last form of a body must be a value, not a define").at(forms[last].at)
            );
        }
        let mut definitions = definitions.into_iter().zip(forms).enumerate().peekable();
        while let Some((index, (definition, form))) = definitions.next() {
            match definition {
                None if index == last => self.expression(form, tail)?,
                None => {
                    self.expression(form, Tail::No)?;
                    self.emit(Op::Pop, -1);
                }
                Some(Definition::Value(name, value)) => {
                    self.expression(value, Tail::No)?;
                    self.declare_top(&name);
                }
                Some(Definition::Function(name, lambda)) => {
                    let (mut names, mut lambdas) = (vec![name], vec![lambda]);
                    while let Some((_, (Some(Definition::Function(name, lambda)), _))) =
                        definitions.next_if(|(_, (next, _))| matches!(next, Some(Definition::Function(..))))
                    {
                        names.push(name);
                        lambdas.push(lambda);
                    }
                    self.known_group(lambdas, names)?;
                }
            }
        }
        self.leave(known, floor, tail);
        Ok(())
    }

    /// Compiles functions that refer to each other; each is a local from here on.
    pub(super) fn known_group(
        &mut self,
        lambdas: Vec<Lambda<'_>>,
        names: Vec<Arc<str>>,
    ) -> Result<(), Error> {
        let place = self.scope().height;
        self.group(lambdas, names.clone())?;
        for (index, name) in names.iter().enumerate() {
            self.scope().declare(name, Local::At((place + index) as u32));
        }
        Ok(())
    }

    /// Drops the locals above `floor` and keeps one value. In tail position no operation is needed,
    /// because a function that returns drops its frame anyway.
    pub(super) fn leave(&mut self, known: usize, floor: usize, tail: Tail) {
        let scope = self.scope();
        scope.locals.truncate(known);
        let above = scope.height - floor - 1;
        if above > 0 && tail == Tail::No {
            self.emit(Op::Slide(above as u32), -(above as isize));
        }
        self.scope().height = floor + 1;
    }
}

/// Parses `datum` as a `lambda`; `None` if it is not one.
pub(super) fn as_lambda<'d>(datum: &'d Datum, name: &Arc<str>) -> Option<Lambda<'d>> {
    match &datum.form {
        Form::List(items) if items.first()?.is_symbol("lambda") => {
            lambda(items, datum.at, Some(name.clone())).ok()
        }
        _ => None,
    }
}

pub(super) fn lambda<'d>(
    items: &'d [Datum],
    at: Position,
    name: Option<Arc<str>>,
) -> Result<Lambda<'d>, Error> {
    let [_, parameters, body @ ..] = items else { return Err(malformed(LAMBDA, at)) };
    if body.is_empty() {
        return Err(malformed(LAMBDA, at));
    }
    let parameters = match parameters.as_items() {
        Some(items) => Parameters::List(items),
        None => Parameters::All(parameters),
    };
    Ok(Lambda { name, parameters, body, at })
}

fn definition<'d>(items: &'d [Datum], at: Position) -> Result<Definition<'d>, Error> {
    let [_, target, rest @ ..] = items else { return Err(malformed(DEFINE, at)) };
    if let Some(name) = target.as_symbol() {
        let [value] = rest else { return Err(malformed(DEFINE, at)) };
        let name = check_name(name, at)?;
        return Ok(match as_lambda(value, &name) {
            Some(lambda) => Definition::Function(name, lambda),
            None => Definition::Value(name, value),
        });
    }
    let Some([head, parameters @ ..]) = target.as_items() else { return Err(malformed(DEFINE, at)) };
    let Some(name) = head.as_symbol() else { return Err(malformed(DEFINE, at)) };
    if rest.is_empty() {
        return Err(malformed(DEFINE, at));
    }
    let name = check_name(name, at)?;
    let parameters = Parameters::List(parameters);
    Ok(Definition::Function(name.clone(), Lambda { name: Some(name), parameters, body: rest, at }))
}

/// Checks that a name may be given a meaning, and returns it.
pub(super) fn check_name(name: &Arc<str>, at: Position) -> Result<Arc<str>, Error> {
    if forms::is_special(name) {
        return Err(Error::new(format!("`{name}` is a form of the language"))
            .hint("take another name")
            .at(at));
    }
    Ok(name.clone())
}

fn parameter(datum: &Datum) -> Result<Arc<str>, Error> {
    match datum.as_symbol() {
        Some(name) => Ok(name.clone()),
        None => Err(Error::new("a parameter is a name").hint(LAMBDA).at(datum.at)),
    }
}
