//! What `consort demo` plays: agents without a model, on a stage of their own, in fast motion.
//! Everything they do goes through the real hooks and commands of this program.

mod actor;
mod stage;
mod stall;
mod story;

pub(crate) use actor::act;
pub(crate) use stage::Stage;
pub(crate) use story::tell;

/// What became of a scene. Whatever goes wrong ends the demo, and is told as it is.
type Played<T> = Result<T, Box<dyn std::error::Error>>;
