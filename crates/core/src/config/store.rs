//! The port of the configuration room: published settings and acceptances in the store.

use std::path::Path;

use super::Acceptance;
use crate::engine::StoreError;

/// The store of published settings. They belong to the user (`None`) or to one worktree: each has
/// its own file.
pub trait ConfigStore {
    /// Reads the settings published for the user and, overriding them, for the worktree.
    fn published(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError>;

    /// Tells whether the published lines were made from the store as it is now.
    fn is_published(&self) -> Result<bool, StoreError>;

    /// Has all published lines written again with the commit.
    fn publish_all(&mut self);

    /// Lists the values that loosen protection and that the person has accepted.
    fn acceptances(&self) -> Result<Vec<Acceptance>, StoreError>;

    fn accept(&mut self, acceptance: &Acceptance) -> Result<(), StoreError>;

    /// Replaces the settings published in one scope.
    fn publish(&mut self, worktree: Option<&Path>, values: &[(String, String)]) -> Result<(), StoreError>;

    /// Reads the settings published in exactly this scope.
    fn published_in(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError>;
}
