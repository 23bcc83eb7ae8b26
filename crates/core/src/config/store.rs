//! What an engine must do for configuration: keep what was published.

use crate::engine::StoreError;
use crate::project::ProjectId;

/// Published settings belong to the user (`None`) or to one project.
pub trait ConfigStore {
    /// What is published for the user and, overriding it, for the project.
    fn published(&self, project: Option<&ProjectId>) -> Result<Vec<(String, String)>, StoreError>;

    /// Replaces what is published in one scope.
    fn publish(&mut self, project: Option<&ProjectId>, values: &[(String, String)])
    -> Result<(), StoreError>;

    /// What is published in exactly this scope.
    fn published_in(&self, project: Option<&ProjectId>) -> Result<Vec<(String, String)>, StoreError>;
}
