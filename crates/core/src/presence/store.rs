//! What an engine must do for presence.

use std::path::Path;
use std::path::PathBuf;

use super::Agent;
use super::Heard;
use super::LeaveReason;
use super::Pulse;
use super::SessionId;
use super::Subagent;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::host::Process;
use crate::project::Project;
use crate::project::ProjectId;

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

/// Where volatile facts are kept, outside of any transaction. Losing one loses
/// nothing that the next pulse does not tell.
pub trait PulseStore {
    /// Notes a pulse; false when this session's pulse is not taken.
    fn note_pulse(&self, session: &SessionId, at: Timestamp, pulse: &Pulse) -> Result<bool, StoreError>;

    /// Says that a session lives, for those who cannot see its process.
    fn renew(&self, session: &SessionId);

    /// When a session was last known to live.
    fn renewed(&self, session: &SessionId) -> Option<Timestamp>;

    /// Begins taking a session's pulse anew; what was known of it is forgotten.
    fn start_pulse(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Notes in which process an agent runs. Where it cannot be, it is a hint less.
    fn note_host(&self, agent: &Agent);

    /// Whether that process is noted to host a session. No for an answer may mean
    /// that it was not noted.
    fn is_host(&self, process: &Process) -> bool;

    /// In which process a session runs, and where, as it was noted.
    fn host_of(&self, session: &SessionId) -> Option<(String, Process)>;

    /// Stops taking a session's pulse, its subagents' too.
    fn end_pulse(&self, session: &SessionId) -> Result<(), StoreError>;

    fn note_subagent(&self, session: &SessionId, subagent: &Subagent) -> Result<(), StoreError>;

    fn end_subagent(&self, session: &SessionId, id: &str) -> Result<(), StoreError>;

    /// What is known from a session's pulse.
    fn heard(&self, session: &SessionId) -> Option<Heard>;
}
