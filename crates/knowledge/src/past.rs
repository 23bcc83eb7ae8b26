//! The past of a project's knowledge for queries (`history`, `as-of`), read from the
//! journal.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_core::knowledge::StampedEdit;

/// Access to earlier edits and earlier states of the knowledge.
pub trait Past {
    /// Returns all edits of these entities, oldest first.
    fn history(&mut self, ids: &[String]) -> Result<Vec<StampedEdit>, StoreError>;

    /// Returns the index of what was known at a time.
    fn as_of(&mut self, at: Timestamp) -> Result<Box<dyn KnowledgeIndex>, StoreError>;

    /// Parses a time that is written as a date or a commit.
    fn moment(&self, text: &str) -> Option<Timestamp>;

    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The past as it is in the journal.
pub struct JournalPast<'a> {
    pub app: &'a mut App,
    pub scope: &'a Scope,
    pub moment: &'a dyn Fn(&str) -> Option<Timestamp>,
}

impl Past for JournalPast<'_> {
    fn history(&mut self, ids: &[String]) -> Result<Vec<StampedEdit>, StoreError> {
        self.app.knowledge_history(self.scope, ids)
    }

    fn as_of(&mut self, at: Timestamp) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        self.app.open_knowledge_as_of(self.scope, at)
    }

    fn moment(&self, text: &str) -> Option<Timestamp> {
        (self.moment)(text)
    }

    fn now(&self) -> Timestamp {
        self.app.host().now()
    }
}
