//! The convergence room: where parallel work heads, and which agents will collide.
//!
//! Every session leaves a trail: what its last prompts were about, and which
//! files they led to. Where two trails lead to the same place, a prediction is
//! made, both are told once, and what came of it moves the threshold for the
//! next. Trails come with every prompt and lie beside the store; predictions,
//! how they ended, and what was learned of domains are in the journal.
//!
//! **There is at most one open prediction for two sessions**, and nobody is told
//! the same thing twice.

mod domains;
mod error;
mod foresight;
mod model;
mod ops;
pub mod published;
mod rules;
mod signals;
mod stop_words;
mod store;
#[cfg(test)]
mod tests;
mod topics;
mod trail;
mod trail_log;
mod wording;

pub use domains::Domains;
pub use domains::LearnedDomain;
pub use domains::established;
pub use domains::learn;
pub use error::ConvergenceError;
pub use model::AgentTopics;
pub use model::Candidate;
pub use model::ConvergenceChange;
pub use model::Counters;
pub use model::Counts;
pub use model::DomainSource;
pub use model::DomainView;
pub use model::Handoff;
pub use model::PairView;
pub use model::PredictedAgent;
pub use model::Prediction;
pub use model::PredictionEnding;
pub use model::PredictionNote;
pub use model::PredictionOutcome;
pub use model::RadarNote;
pub use model::RadarOutcome;
pub use model::Trend;
pub(crate) use ops::close_predictions;
pub use signals::ScoringContext;
pub use signals::Signal;
pub use signals::SignalKind;
pub use signals::TrailProfile;
pub use signals::signals;
pub use store::ConvergenceStore;
pub use topics::MOST_TOPICS;
pub use topics::topics;
pub use trail::Heading;
pub use trail::Step;
pub use trail::TopicSummary;
pub use trail::Trail;
pub use trail::Trajectory;
pub use trail::Visit;
pub use trail::WINDOW;
pub use wording::recommendation;
