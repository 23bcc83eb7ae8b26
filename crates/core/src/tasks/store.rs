//! The port of the tasks room: the reads of task states that an engine must offer.

use std::collections::BTreeSet;

use super::SpecRef;
use super::TaskRecord;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// The reads that tasks need.
pub trait TaskStore {
    /// Returns the records of a spec's tasks.
    fn tasks(&self, spec: &SpecRef) -> Result<Vec<TaskRecord>, StoreError>;

    /// Returns the records of the tasks of all specs of a project.
    fn tasks_in(&self, project: &ProjectId) -> Result<Vec<TaskRecord>, StoreError>;

    /// Returns all claimed tasks.
    fn claimed_tasks(&self) -> Result<Vec<TaskRecord>, StoreError>;

    /// Returns the workers that have claimed a task.
    fn workers(&self) -> Result<BTreeSet<Actor>, StoreError>;

    /// Returns the task that a session has claimed.
    fn task_of(&self, session: &SessionId) -> Result<Option<TaskRecord>, StoreError>;
}
