//! The policy room: the person's rules for what agents may do without asking.
//!
//! A rule allows, refuses or asks. It is matched on what a command does, not on how it is
//! spelt: every program that the text may run is looked at, behind wrappers, in
//! substitutions and in every branch. **Refusing wins over asking, asking over allowing,
//! and what was not understood is never allowed.**

mod decide;
mod model;
mod pattern;
#[cfg(test)]
mod tests;

pub use decide::decide;
pub use model::Action;
pub use model::Call;
pub use model::Commands;
pub use model::Effect;
pub use model::Request;
pub use model::Rule;
pub use model::Verdict;
