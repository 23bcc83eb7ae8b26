//! The tasks room: what is to be done from a spec, and by whom.
//!
//! A spec is a Markdown file whose headings and checkboxes name tasks; the file
//! says what there is to do, the journal who does it. A task is free, in one
//! pair of hands, or done. A worker that is gone has no task: its task
//! is free again, under a higher generation, so that a word from the past is
//! recognised.
//!
//! **A task has at most one worker, an agent has at most one task, and
//! what is done stays done.**

mod board;
mod cycles;
mod error;
mod model;
mod ops;
mod rules;
mod spec;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use board::left_behind;
pub(crate) use board::taken_over;
pub use error::TaskError;
pub use model::CompleteRequest;
pub use model::SpecRef;
pub use model::TaskChange;
pub use model::TaskKey;
pub use model::TaskOutcome;
pub use model::TaskRecord;
pub use model::TaskRequest;
pub use model::TaskState;
pub use model::TaskView;
pub use model::TasksOutcome;
pub use model::Worker;
pub(crate) use ops::claim_for_run;
pub(crate) use ops::current;
pub(crate) use ops::end_for_run;
pub(crate) use ops::spec_at;
pub(crate) use rules::is_done;
pub use spec::SpecError;
pub use spec::SpecTask;
pub use store::TaskStore;
