//! The API that all doors hold.

use crate::Timestamp;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx as _;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::JournalStore as _;
use crate::journal::NewEntry;
use crate::journal::Seq;
use crate::project::ProjectId;

/// An engine to keep state in and a host to live on. The verbs are in the
/// rooms: `presence/ops/`, `messages/ops/`, `journal/ops.rs`, `config/ops.rs`.
pub struct App<E, H> {
    pub(crate) engine: E,
    pub(crate) host: H,
}

impl<E: Engine, H: Host> App<E, H> {
    pub fn new(engine: E, host: H) -> Self {
        Self { engine, host }
    }

    pub fn host(&self) -> &H {
        &self.host
    }

    /// For whoever lives long: lets go of a store that was deleted or replaced.
    pub fn let_go_if_replaced(&mut self) -> bool {
        self.engine.let_go_if_replaced()
    }

    pub fn engine_mut(&mut self) -> &mut E {
        &mut self.engine
    }

    /// Ends a verb: records its changes as one entry, commits, and wakes those
    /// who wait. Without changes only the volatile facts are committed.
    pub(crate) fn conclude(
        host: &H,
        tx: E::Tx<'_>,
        at: Timestamp,
        project: Option<ProjectId>,
        actor: Actor,
        changes: Vec<Change>,
    ) -> Result<Option<Seq>, StoreError> {
        if changes.is_empty() {
            tx.commit()?;
            return Ok(None);
        }
        let id = EntryId::new(at, host.random());
        let entry = NewEntry { id, at, project, actor, changes };
        Self::conclude_with(host, tx, &entry).map(Some)
    }

    /// The same with an entry that is at hand.
    pub(crate) fn conclude_with(host: &H, mut tx: E::Tx<'_>, entry: &NewEntry) -> Result<Seq, StoreError> {
        let seq = tx.record(entry)?;
        tx.commit()?;
        host.ring(&entry.topics());
        Ok(seq)
    }
}
