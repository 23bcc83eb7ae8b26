//! The port of the policy room: what an engine must store of rules and questions.

use super::AskRecord;
use super::RuleRecord;
use crate::engine::StoreError;
use crate::journal::ChangeId;

/// The reads that the policy needs.
pub trait PolicyStore {
    /// Every rule, in the order of their numbers.
    fn rules(&self) -> Result<Vec<RuleRecord>, StoreError>;

    /// Every question that was not closed, the oldest first.
    fn asks(&self) -> Result<Vec<AskRecord>, StoreError>;

    /// One of them.
    fn ask_of(&self, id: ChangeId) -> Result<Option<AskRecord>, StoreError>;
}
