//! The convergence room: predicts which agents will collide, from their prompts and the files they visit.
//!
//! Every session leaves a trail: the topics of its last prompts, and the files that
//! followed. If two trails lead to the same place, a prediction is made, both sessions
//! are told once, and the outcome moves the threshold for later predictions. Trails
//! grow with every prompt and are kept beside the database; predictions, their
//! outcomes, and learned domains are in the journal.
//!
//! **There is at most one open prediction for two sessions**, and no session is told
//! the same thing twice.

mod domains;
mod error;
mod foresight;
mod last_readers;
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
pub use model::DomainSource;
pub use model::DomainView;
pub use model::Handoff;
pub use model::PairView;
pub use model::PredictedAgent;
pub use model::Prediction;
pub use model::PredictionCounts;
pub use model::PredictionEnding;
pub use model::PredictionNote;
pub use model::PredictionOutcome;
pub use model::PublishedConvergence;
pub use model::RadarView;
pub use model::Trend;
pub(crate) use ops::close_predictions;
pub(crate) use ops::predictions_for;
pub use signals::ScoringContext;
pub use signals::Signal;
pub use signals::SignalKind;
pub use signals::TrailProfile;
pub use signals::signals;
pub use store::ConvergenceStore;
pub use topics::MOST_TOPICS;
pub use topics::topics;
pub use trail::FileVisit;
pub use trail::Heading;
pub use trail::KEPT_PROMPTS;
pub use trail::TopicSummary;
pub use trail::Trail;
pub use trail::TrailStep;
pub use trail::Trajectory;
pub use wording::recommendation;
