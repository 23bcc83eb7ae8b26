//! The table of the Scheme's builtin functions, by name.
//!
//! The list is complete: a function that is neither here nor in a [`crate::HostFunctions`] cannot
//! be called. **Each builtin charges the meter for its work before it does it.**

mod aggregates;
mod arguments;
mod fold;
mod higher_order;
mod lists;
mod numbers;
mod predicates;
mod records;
mod sorts;
mod strings;

use crate::compile;
use crate::error::Error;
use crate::host_functions::Signature;
use crate::machine::Machine;
use crate::meter::Meter;
use crate::value::Value;

pub(crate) struct Builtin {
    pub(crate) signature: Signature,
    pub(crate) run: Run,
}

pub(crate) enum Run {
    Plain(fn(&[Value], &mut Meter) -> Result<Value, Error>),
    /// A builtin that calls functions it is given.
    Calling(fn(&[Value], &mut Machine<'_>) -> Result<Value, Error>),
}

static TABLES: [&[Builtin]; 9] = [
    lists::TABLE,
    higher_order::TABLE,
    fold::TABLE,
    sorts::TABLE,
    aggregates::TABLE,
    numbers::TABLE,
    predicates::TABLE,
    strings::TABLE,
    records::TABLE,
];

/// Lists all builtins of the language, with their usage.
pub fn catalog() -> impl Iterator<Item = &'static Signature> {
    TABLES.iter().flat_map(|table| table.iter()).map(|builtin| &builtin.signature)
}

/// The names of some builtins in other Schemes and Lisps. Authors of queries have those in mind,
/// and an answer is worth more than a lesson.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("andmap", "every"),
    ("concat", "append"),
    ("dict-ref", "@"),
    ("distinct", "unique"),
    ("exists", "any"),
    ("for-all", "every"),
    ("foldl", "fold"),
    ("get", "@"),
    ("hash-ref", "@"),
    ("keys", "@keys"),
    ("list-head", "take"),
    ("mean", "average"),
    ("member?", "member"),
    ("nth", "list-ref"),
    ("ormap", "any"),
    ("pluck", "map"),
    ("some", "any"),
    ("string-contains?", "string-contains"),
    ("string-includes?", "string-contains"),
    ("string-search", "string-contains"),
];

pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| name);
    TABLES.iter().flat_map(|table| table.iter()).find(|builtin| builtin.signature.name == name)
}

/// Lists the names of all builtins and special forms.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    catalog().map(|signature| signature.name).chain(compile::SPECIAL.iter().copied())
}

/// Returns a hint for a name that other Schemes have and this one does not.
pub(crate) fn absent(name: &str) -> Option<&'static str> {
    Some(match name {
        "display" | "print" | "write" | "newline" | "printf" => {
            "nothing is printed: the value of each form is the answer"
        }
        "set!" | "set-car!" | "set-cdr!" | "hash-set!" | "vector-set!" => {
            "nothing changes: use let, fold or a named let"
        }
        "do" | "while" | "for" => "use map, fold or (let loop ((i 0)) …)",
        "for/list" | "for*/list" | "for/fold" => "use (map (lambda (x) …) list) or fold",
        "values" | "call-with-values" | "let-values" | "let*-values" | "define-values" | "receive"
        | "partition" => {
            "a form has one value: answer with (list a b), and use filter and remove for two parts"
        }
        "hash-ref" | "hash-table-ref" | "assoc-ref" => "use (@ record :key) or assoc",
        "make-hash" | "hash" | "make-hash-table" => "use (dict :key value)",
        "vector" | "make-vector" | "vector-ref" => "there are only lists: list, list-ref",
        "call/cc"
        | "call-with-current-continuation"
        | "eval"
        | "load"
        | "require"
        | "import"
        | "define-syntax"
        | "open-input-file"
        | "system" => "it does not exist in this language",
        "string-contains?" | "string-search-forward" => "did you mean `string-contains`?",
        "else" => "`else` stands in cond and case",
        _ => return None,
    })
}

const fn plain(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    (least, most): (usize, Option<usize>),
    run: fn(&[Value], &mut Meter) -> Result<Value, Error>,
) -> Builtin {
    Builtin { signature: Signature { name, usage, about, least, most }, run: Run::Plain(run) }
}

const fn calling(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    (least, most): (usize, Option<usize>),
    run: fn(&[Value], &mut Machine<'_>) -> Result<Value, Error>,
) -> Builtin {
    Builtin { signature: Signature { name, usage, about, least, most }, run: Run::Calling(run) }
}

/// The least and most arguments of a builtin that takes exactly `count`.
const fn exactly(count: usize) -> (usize, Option<usize>) {
    (count, Some(count))
}
