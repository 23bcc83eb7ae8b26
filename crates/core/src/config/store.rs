//! The port of the configuration room: what an engine must store of published settings.

use std::path::Path;

use super::Acceptance;
use crate::engine::StoreError;

/// Published settings belong to the user (`None`) or to one worktree: each has
/// its own file.
pub trait ConfigStore {
    /// What is published for the user and, overriding it, for the worktree.
    fn published(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError>;

    /// Whether what hooks read beside the store was made from it as it is now.
    fn is_published(&self) -> Result<bool, StoreError>;

    /// Has all that hooks read made again with the commit.
    fn publish_all(&mut self);

    /// What the person has accepted that loosens protection.
    fn acceptances(&self) -> Result<Vec<Acceptance>, StoreError>;

    fn accept(&mut self, acceptance: &Acceptance) -> Result<(), StoreError>;

    /// Replaces what is published in one scope.
    fn publish(&mut self, worktree: Option<&Path>, values: &[(String, String)]) -> Result<(), StoreError>;

    /// What is published in exactly this scope.
    fn published_in(&self, worktree: Option<&Path>) -> Result<Vec<(String, String)>, StoreError>;
}
