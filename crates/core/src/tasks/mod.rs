//! The tasks room: the tasks that a spec lists, their states, and the agents that work on them.
//!
//! A spec is a Markdown file whose headings and checkboxes name tasks; the file lists
//! the tasks, the journal records who works on them. A task is free, claimed by one
//! worker, or done. If its worker is gone, the task is free again, under a higher
//! generation, so that a late report of the former worker is recognised.
//!
//! **A task has at most one worker, an agent has at most one task, and a task that is
//! done stays done.**

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
pub use model::ChangedTask;
pub use model::CompleteRequest;
pub use model::SpecRef;
pub use model::TaskChange;
pub use model::TaskKey;
pub use model::TaskRecord;
pub use model::TaskRequest;
pub use model::TaskState;
pub use model::TaskView;
pub use model::TaskWorker;
pub use model::TasksOutcome;
pub(crate) use ops::claim_for_run;
pub(crate) use ops::current;
pub(crate) use ops::end_for_run;
pub(crate) use ops::spec_at;
pub(crate) use rules::is_done;
pub use spec::SpecError;
pub use spec::SpecTask;
pub use store::TaskStore;
