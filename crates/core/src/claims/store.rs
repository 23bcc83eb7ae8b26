//! The port of the claims room: the holds that an engine stores and finds.

use std::collections::BTreeMap;

use super::Case;
use super::Hold;
use super::Resource;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::project::ProjectId;

/// The reads that claims need.
pub trait ClaimStore {
    /// Reads all holds in a project and on the whole machine.
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError>;

    /// Reads the holds on exactly these resources, and all overrides.
    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError>;

    /// Reads the holds that may overlap any of these resources, and all overrides.
    fn holds_near(&self, resources: &[Resource], case: Case) -> Result<Vec<Hold>, StoreError>;

    /// Reads the holds of one holder.
    fn holds_of(&self, holder: &Actor) -> Result<Vec<Hold>, StoreError>;

    /// Lists everyone with a hold, and whether one of their holds is contested.
    fn holders(&self) -> Result<BTreeMap<Actor, bool>, StoreError>;

    /// Counts, for each holder, the holds in a project and on the whole machine whose time is not up.
    fn hold_counts(&self, project: &ProjectId, now: Timestamp) -> Result<Vec<(Actor, usize)>, StoreError>;

    /// Reads the first of the holds that [`ClaimStore::hold_counts`] counts for these holders.
    fn first_holds(
        &self,
        project: &ProjectId,
        holders: &[Actor],
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Hold>, StoreError>;

    /// Reads all holds of all projects.
    fn all_holds(&self) -> Result<Vec<Hold>, StoreError>;
}
