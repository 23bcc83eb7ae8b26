//! Verbs of the policy room.

mod answer;
mod ask;
mod looking;
mod numbers;
mod rules;
mod trial;

pub use ask::AskOutcome;
pub use ask::AskRequest;
pub use rules::NewRule;
pub use trial::ReplayedAsk;
