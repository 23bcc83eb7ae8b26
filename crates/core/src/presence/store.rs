//! The port of the presence room: what an engine must store of agents and repositories.

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
    /// The agents that have not left.
    fn present(&self) -> Result<Vec<Agent>, StoreError>;

    /// Those who left at or after `since`, latest first.
    fn left_since(&self, since: Timestamp) -> Result<Vec<(Agent, Timestamp, LeaveReason)>, StoreError>;

    /// Sessions that left before `before`.
    fn left_before(&self, before: Timestamp) -> Result<Vec<SessionId>, StoreError>;

    /// One agent by session, present or gone; the reason says which.
    fn agent(&self, session: &SessionId) -> Result<Option<(Agent, Option<LeaveReason>)>, StoreError>;

    /// The present agent with this name, in any case.
    fn by_name(&self, name: &str) -> Result<Option<Agent>, StoreError>;

    /// Those who were called so when they left, in any case.
    fn gone_by_name(&self, name: &str) -> Result<Vec<Agent>, StoreError>;

    /// The agents whose process has one of these ids, and whether they are present;
    /// of those who left, the ones who were asked to.
    fn by_pids(&self, pids: &[u32]) -> Result<Vec<(Agent, bool)>, StoreError>;

    /// Where the repositories of a project are.
    fn repositories(&self, project: &ProjectId) -> Result<Vec<PathBuf>, StoreError>;

    /// What project a repository was found to be when first seen.
    fn project_of(&self, repository: &Path) -> Result<Option<Project>, StoreError>;

    /// Every project ever seen.
    fn projects(&self) -> Result<Vec<Project>, StoreError>;
}
