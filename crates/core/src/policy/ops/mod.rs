//! Verbs of the policy room.

mod answer;
mod ask;
mod attention;
mod numbers;
mod replay;
mod rules;

pub use ask::AskOutcome;
pub use ask::AskRequest;
pub use replay::ReplayedAsk;
pub use rules::NewRule;
