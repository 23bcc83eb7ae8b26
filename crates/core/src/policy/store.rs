//! The port of the policy room: the reads of rules and questions that an engine must offer.

use super::AskRecord;
use super::RuleRecord;
use crate::engine::StoreError;
use crate::journal::ChangeId;

/// The reads that the policy needs.
pub trait PolicyStore {
    /// Returns every rule, in the order of their numbers.
    fn rules(&self) -> Result<Vec<RuleRecord>, StoreError>;

    /// Returns every question that was not closed, oldest first.
    fn asks(&self) -> Result<Vec<AskRecord>, StoreError>;

    /// Returns a question that was not closed, by its id.
    fn ask_of(&self, id: ChangeId) -> Result<Option<AskRecord>, StoreError>;
}
