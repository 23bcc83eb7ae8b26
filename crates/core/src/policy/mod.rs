//! The policy room: the person's rules for what agents may do without asking.
//!
//! A rule allows, refuses or asks. It is matched on what a command does, not on how it is spelt:
//! every program that the text may run is looked at, behind wrappers, in substitutions and in every
//! branch. **Refusing wins over asking, asking over allowing, and a command that was not understood
//! is never allowed.**

mod ask;
mod decide;
mod error;
mod model;
mod ops;
mod pattern;
pub mod published;
mod read;
mod store;
#[cfg(test)]
mod tests;
mod typed;
mod wording;

pub use ask::AnswerDeliverer;
pub use ask::Ask;
pub use ask::AskAnswer;
pub use ask::AskItem;
pub use ask::AskKind;
pub use ask::AskRecord;
pub use error::PolicyError;

pub use decide::decide;
pub use model::Action;
pub use model::Commands;
pub use model::DecidedBy;
pub use model::PathNames;
pub use model::PermissionRequest;
pub use model::PolicyChange;
pub use model::PolicyVerdict;
pub use model::ProgramCall;
pub use model::ReachedPatterns;
pub use model::Rule;
pub use model::RuleEffect;
pub use model::RuleRecord;
pub use ops::AskOutcome;
pub use ops::AskRequest;
pub use ops::NewRule;
pub use ops::ReplayedAsk;
pub use read::check_pattern;
pub use read::read_rules;
pub use store::PolicyStore;
