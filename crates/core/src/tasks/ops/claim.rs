//! Taking a task in hand.

use super::Access;
use super::Board;
use super::last_number;
use crate::App;
use crate::journal::Change;
use crate::tasks::TaskChange;
use crate::tasks::TaskError;
use crate::tasks::TaskOutcome;
use crate::tasks::TaskRequest;
use crate::tasks::rules;

impl App {
    /// Claims the task that is named, or the first that is ready.
    pub fn claim_task(&mut self, request: &TaskRequest) -> Result<TaskOutcome, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let mut board = Board::new(&*self.host, &*files, &*tx, request, Access::Change)?;
        if let Some(record) = &board.in_hand {
            let (id, spec) = (record.key.id.clone(), record.key.spec.path.clone());
            return Err(TaskError::AlreadyHaveClaim { id, spec });
        }
        let task = match &request.id {
            Some(id) => board.find(id)?,
            None => board.tasks.iter().find(|task| task.ready).cloned().ok_or_else(|| {
                TaskError::NothingReady { spec: board.spec.path.clone(), why: rules::why_none(&board.tasks) }
            })?,
        };
        rules::may_claim(&task)?;
        let key = board.key(&task);
        let worker = board.worker(now, request.words.as_ref());
        let mut changes = std::mem::take(&mut board.changes);
        changes.push(Change::Tasks(TaskChange::Claimed { key: key.clone(), worker }));
        let (project, actor) = (board.project(), board.actor.clone());
        let recorded = Self::conclude(&*self.host, tx, now, project, actor, changes)?;
        Ok(TaskOutcome { key, title: task.title, generation: last_number(recorded) })
    }
}
