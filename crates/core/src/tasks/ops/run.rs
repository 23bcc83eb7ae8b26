//! Tasks verb and functions for runs: a run claims a task if its request names one, and completes it or gives
//! it back when the run ends.

use super::BoardAccess;
use super::board;
use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::presence::AgentName;
use crate::side_files::SideFiles;
use crate::tasks::TaskChange;
use crate::tasks::TaskError;
use crate::tasks::TaskKey;
use crate::tasks::TaskRecord;
use crate::tasks::TaskRequest;
use crate::tasks::TaskState;
use crate::tasks::board::run_worker;

impl App {
    /// Finds the task that a run would claim: the named one, or the first that is ready.
    pub fn find_task_for_run(
        &mut self,
        request: &TaskRequest,
    ) -> Result<(TaskKey, Option<String>), TaskError> {
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.read()?;
        let board = board(&*self.host, &*files, &*tx, request, BoardAccess::Change)?;
        let task = match request.id.as_deref() {
            Some(id) => board.named(id)?,
            None => board.next()?,
        };
        Ok((board.key(&task), task.title))
    }
}

/// Returns the changes by which a run claims the named task.
pub(crate) fn claim_for_run(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    request: &TaskRequest,
    (run, name): (ChangeId, &AgentName),
    now: Timestamp,
) -> Result<Vec<Change>, TaskError> {
    let board = board(host, files, tx, request, BoardAccess::Change)?;
    let id = request.id.as_deref().unwrap_or_default();
    Ok(board.claim_for_run(id, run, name, now)?.changes)
}

/// Returns the change that completes or frees a run's task when the run ends, if the run still has the task:
/// its agent may have completed it or given it back, and the person may have given it to another.
pub(crate) fn end_for_run(
    tx: &dyn Tx,
    key: &TaskKey,
    (run, name): (ChangeId, &AgentName),
    is_done: bool,
    now: Timestamp,
) -> Result<Option<Change>, StoreError> {
    let records = tx.tasks(&key.spec)?;
    let is_its = |record: &&TaskRecord| {
        let is_claim = matches!(&record.state, TaskState::Claimed(worker) if worker.run == Some(run));
        record.key.id.eq_ignore_ascii_case(&key.id) && is_claim
    };
    let Some(record) = records.iter().find(is_its) else { return Ok(None) };
    let worker = run_worker(run, name, now);
    let key = record.key.clone();
    Ok(Some(Change::Tasks(match is_done {
        true => TaskChange::Completed { key, worker },
        false => TaskChange::Freed { key, worker: worker.who, holder_gone: false },
    })))
}
