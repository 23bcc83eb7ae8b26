//! A small Scheme interpreter that only computes: it reaches nothing outside.
//!
//! The language is R7RS as far as it goes (`define`, `lambda`, `let` and its kin, `cond`, `case`,
//! proper tail calls), without mutation, continuations, macros and input or output. Data comes from
//! a [`HostFunctions`]: functions of the product, and [`Records`] that are read field by field.
//! Keywords are functions (`(map :name xs)`), and a field that is not there is `nil`.
//!
//! Source is parsed ([`read()`]), compiled to code in which every name is a place, and run on
//! stacks of its own, so neither a deep program nor a deep recursion uses the stack of the thread.
//!
//! **Any text is answered with values or an [`Error`] within its [`Limits`]**: every step and every
//! cell is charged before it is spent ([`Meter`]), the nesting of values is limited (so comparing,
//! printing and dropping them is safe), and equal programs take equally many steps. Nothing has to
//! be denied, because the language contains nothing but `builtins`.
//!
//! # Differences from R7RS
//!
//! - `nil` is a value of its own that means nothing was found. It is false, as `#f` is; everything
//!   else is true, also `'()`, `0` and `""`.
//! - List functions take `nil` for the empty list; the head of an empty list is `nil`; a comparison
//!   with `nil` (`(> nil 1)`) is false.
//! - `equal?`, `eqv?`, `eq?` and `=` are the same: they compare by content, numbers by value
//!   (`(equal? 1 1.0)`), symbols like strings (`(equal? 'a "a")`).
//! - A pair is a list of two whose `cdr` is the second value itself: `(cons 'a 1)` is printed as
//!   `(a 1)`, and its `cdr` and its `cadr` are both 1.
//! - Whole numbers that overflow become floats, and so does a quotient that is not whole.
//! - A `lambda` of a `letrec` or of inner `define`s may use the functions next to it and all
//!   earlier definitions, but no value defined after it.

mod builtins;
mod bytecode;
mod compile;
mod dict;
mod equal;
mod error;
mod function;
mod host_functions;
mod list;
mod machine;
mod meter;
mod nearest;
mod order;
mod print;
mod read;
mod retained;
mod session;
mod value;

pub use builtins::catalog;
pub use dict::Dict;
pub use error::Error;
pub use error::EvalError;
pub use error::Position;
pub use function::Function;
pub use host_functions::HostFunctions;
pub use host_functions::NoHostFunctions;
pub use host_functions::Signature;
pub use list::Iter;
pub use list::List;
pub use machine::apply;
pub use meter::Limits;
pub use meter::Meter;
pub use print::Format;
pub use print::print;
pub use read::Datum;
pub use read::Form;
pub use read::read;
pub use session::Session;
pub use value::Records;
pub use value::Value;
