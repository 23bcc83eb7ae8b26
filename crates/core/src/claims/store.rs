//! What an engine must do for claims.

use super::Hold;
use super::Resource;
use crate::engine::StoreError;
use crate::project::ProjectId;

/// The reads that claims need.
pub trait ClaimStore {
    /// All that is held in a project, and on the whole machine.
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError>;

    /// Those on these very resources, and what the person has overridden.
    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError>;

    /// All that is held anywhere.
    fn all_holds(&self) -> Result<Vec<Hold>, StoreError>;
}
