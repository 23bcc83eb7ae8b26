//! The port of the presence room: the reads of agents, repositories and projects that an engine must offer.

use std::path::Path;
use std::path::PathBuf;

use super::Agent;
use super::LeaveReason;
use super::SessionId;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::project::Project;
use crate::project::ProjectId;

/// The reads that presence needs.
pub trait PresenceStore {
    /// Returns the agents that have not left.
    fn present(&self) -> Result<Vec<Agent>, StoreError>;

    /// Returns the latest `most` agents that left at or after `since`, latest first.
    fn left_since(
        &self,
        since: Timestamp,
        most: usize,
    ) -> Result<Vec<(Agent, Timestamp, LeaveReason)>, StoreError>;

    /// Returns the sessions that left before `before`.
    fn left_before(&self, before: Timestamp) -> Result<Vec<SessionId>, StoreError>;

    /// Returns an agent by its session; the reason is `None` if the agent is present.
    fn agent(&self, session: &SessionId) -> Result<Option<(Agent, Option<LeaveReason>)>, StoreError>;

    /// Returns the present agent with this name, ignoring case.
    fn by_name(&self, name: &str) -> Result<Option<Agent>, StoreError>;

    /// Returns the agents that had this name when they left, ignoring case.
    fn gone_by_name(&self, name: &str) -> Result<Vec<Agent>, StoreError>;

    /// Returns the agents whose process has one of these ids, and whether they are present. Of the agents
    /// that left, only those that were asked to leave are included.
    fn by_pids(&self, pids: &[u32]) -> Result<Vec<(Agent, bool)>, StoreError>;

    /// Returns the directories of a project's repositories.
    fn repositories(&self, project: &ProjectId) -> Result<Vec<PathBuf>, StoreError>;

    /// Returns the project that a repository was assigned when it was first seen.
    fn project_of(&self, repository: &Path) -> Result<Option<Project>, StoreError>;

    /// Returns every project ever seen.
    fn projects(&self) -> Result<Vec<Project>, StoreError>;
}
