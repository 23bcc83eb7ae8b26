//! The port of the tasks room: what an engine must store of the state of tasks.

use std::collections::BTreeSet;

use super::SpecRef;
use super::TaskRecord;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// The reads that tasks need.
pub trait TaskStore {
    /// What has happened to the tasks of a spec.
    fn tasks(&self, spec: &SpecRef) -> Result<Vec<TaskRecord>, StoreError>;

    /// What has happened to the tasks of all specs of a project.
    fn tasks_in(&self, project: &ProjectId) -> Result<Vec<TaskRecord>, StoreError>;

    /// All tasks that someone has claimed.
    fn claimed_tasks(&self) -> Result<Vec<TaskRecord>, StoreError>;

    /// Who has claimed any.
    fn workers(&self) -> Result<BTreeSet<Actor>, StoreError>;

    /// The task that a session has claimed.
    fn task_of(&self, session: &SessionId) -> Result<Option<TaskRecord>, StoreError>;
}
