//! Giving a task back.

use super::Access;
use super::Board;
use super::generation;
use crate::App;
use crate::journal::Change;
use crate::tasks::TaskChange;
use crate::tasks::TaskError;
use crate::tasks::TaskOutcome;
use crate::tasks::TaskRecord;
use crate::tasks::TaskRequest;
use crate::tasks::TaskState;

impl App {
    /// Gives back the task that is named, or the one in hand. The person can
    /// give back anyone's.
    pub fn unclaim_task(&mut self, request: &TaskRequest) -> Result<TaskOutcome, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let mut board = Board::new(&*self.host, &*files, &*tx, request, Access::Change)?;
        let task = board.named_or_in_hand(request.id.as_deref())?;
        let id = task.id.clone();
        let worker = match &task.record {
            Some(TaskRecord { state: TaskState::Claimed(worker), .. }) => worker.clone(),
            Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
                return Err(TaskError::AlreadyCompleted { id, by: worker.name.clone() });
            }
            _ => return Err(TaskError::NotClaimed { id }),
        };
        if worker.who != board.actor && board.me.is_some() {
            return Err(TaskError::NotYours { id, by: worker.name });
        }
        let key = board.key(&task);
        let mut changes = std::mem::take(&mut board.changes);
        let freed = TaskChange::Freed { key: key.clone(), worker: worker.who, holder_gone: false };
        changes.push(Change::Tasks(freed));
        let (project, actor) = (board.project(), board.actor.clone());
        Self::conclude(&*self.host, tx, now, project, actor, changes)?;
        let generation = generation(&task);
        Ok(TaskOutcome { key, title: task.title, generation })
    }
}
