//! The past of a project, from its journal.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::engine::Engine;
use consort_core::engine::StoreError;
use consort_core::host::Host;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::Scope;
use consort_core::knowledge::Stamped;

/// What was said before, and how it was.
pub trait Past {
    /// All that was said of these entities, oldest first.
    fn history(&mut self, ids: &[String]) -> Result<Vec<Stamped>, StoreError>;

    /// What was known at that moment.
    fn as_of(&mut self, at: Timestamp) -> Result<Box<dyn KnowledgeIndex>, StoreError>;

    /// A moment that somebody has written: a date, or a commit.
    fn moment(&self, text: &str) -> Option<Timestamp>;
}

/// The past as the journal has it.
pub struct Journalled<'a, E, H> {
    pub app: &'a mut App<E, H>,
    pub scope: &'a Scope,
    pub moment: &'a dyn Fn(&str) -> Option<Timestamp>,
}

impl<E, H> Past for Journalled<'_, E, H>
where
    E: Engine,
    E::Knowledge: 'static,
    H: Host,
{
    fn history(&mut self, ids: &[String]) -> Result<Vec<Stamped>, StoreError> {
        self.app.knowledge_history(self.scope, ids)
    }

    fn as_of(&mut self, at: Timestamp) -> Result<Box<dyn KnowledgeIndex>, StoreError> {
        Ok(Box::new(self.app.knowledge_as_of(self.scope, at)?))
    }

    fn moment(&self, text: &str) -> Option<Timestamp> {
        (self.moment)(text)
    }
}
