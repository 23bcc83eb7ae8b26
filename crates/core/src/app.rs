//! `App`, the API that all doors hold: opens transactions, commits entries and notifies waiting
//! processes.

use std::rc::Rc;
use std::sync::Arc;

use crate::Timestamp;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::journal::Recorded;
use crate::knowledge::GitFile;
use crate::project::ProjectId;

/// A function that opens the store for one call: servers use it for each call, since an [`App`]
/// serves one caller at a time.
pub type OpenApp = Arc<dyn Fn() -> App + Send + Sync>;

/// The API of all doors, over an engine that keeps the state and a host. The verbs are in the
/// rooms: `presence/ops/`, `messages/ops/`, `journal/ops.rs`, `config/ops.rs`.
pub struct App {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) host: Rc<dyn Host>,
    pub(crate) git_file: Option<Arc<dyn GitFile>>,
}

impl App {
    /// Makes an `App` of an engine and a host.
    #[inline]
    pub fn new(engine: impl Engine + 'static, host: impl Host + 'static) -> Self {
        Self { engine: Box::new(engine), host: Rc::new(host), git_file: None }
    }

    /// Returns the port to this machine.
    pub fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Closes the database if its file was replaced, for long-lived processes: see
    /// [`Engine::close_if_replaced`].
    pub fn close_if_replaced(&mut self) -> bool {
        self.engine.close_if_replaced()
    }

    /// Returns the engine, for tests and benchmarks that look inside.
    pub fn engine_mut(&mut self) -> &mut dyn Engine {
        &mut *self.engine
    }

    /// Ends a verb: records its changes as one entry, commits, and notifies waiting processes.
    /// Without changes only the volatile facts are committed.
    pub(crate) fn conclude(
        host: &dyn Host,
        tx: Box<dyn Tx + '_>,
        at: Timestamp,
        project: Option<ProjectId>,
        actor: Actor,
        changes: Vec<Change>,
    ) -> Result<Option<Recorded>, StoreError> {
        if changes.is_empty() {
            commit(host, tx)?;
            return Ok(None);
        }
        let id = EntryId::new(at, host.random());
        let entry = NewEntry { id, at, project, actor, changes };
        Self::conclude_with(host, tx, &entry).map(Some)
    }

    /// Ends a verb as `conclude` does, with an entry that the verb has made already.
    pub(crate) fn conclude_with(
        host: &dyn Host,
        mut tx: Box<dyn Tx + '_>,
        entry: &NewEntry,
    ) -> Result<Recorded, StoreError> {
        let recorded = tx.record(entry)?;
        commit(host, tx)?;
        Ok(recorded)
    }
}

/// Commits a transaction, and notifies the processes that wait for its topics.
pub(crate) fn commit(host: &dyn Host, tx: Box<dyn Tx + '_>) -> Result<(), StoreError> {
    let topics = tx.commit()?;
    host.notify(&topics);
    Ok(())
}
