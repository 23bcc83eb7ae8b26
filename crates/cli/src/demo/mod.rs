//! Plays `consort demo`: agents without a model, on a stage of their own, in fast motion. Everything they do
//! goes through the real hooks and commands of this program.

mod actor;
mod stage;
mod stall;
mod story;

pub(crate) use actor::act;
pub(crate) use stage::Stage;
pub(crate) use story::tell;

/// The result of a scene. Any failure ends the demo, and is printed as it is.
type Played<T> = Result<T, Box<dyn std::error::Error>>;
