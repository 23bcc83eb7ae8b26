//! The port of the claims room: what an engine must store of holds and find again.

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
    /// All that is held in a project, and on the whole machine.
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError>;

    /// Those on these very resources, and what the person has overridden.
    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError>;

    /// Those that may be about any of these resources, and what the person has
    /// overridden.
    fn holds_near(&self, resources: &[Resource], case: Case) -> Result<Vec<Hold>, StoreError>;

    /// Those that one has.
    fn holds_of(&self, holder: &Actor) -> Result<Vec<Hold>, StoreError>;

    /// Who has any, and whether somebody contests one of them.
    fn holders(&self) -> Result<BTreeMap<Actor, bool>, StoreError>;

    /// How many each has in a project and on the whole machine that are not over.
    fn hold_counts(&self, project: &ProjectId, now: Timestamp) -> Result<Vec<(Actor, usize)>, StoreError>;

    /// The first of them that these hold.
    fn first_holds(
        &self,
        project: &ProjectId,
        holders: &[Actor],
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Hold>, StoreError>;

    /// All that is held anywhere.
    fn all_holds(&self) -> Result<Vec<Hold>, StoreError>;
}
