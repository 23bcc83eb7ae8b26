//! Saying that a task is done.

use super::Access;
use super::Board;
use super::generation;
use super::last_number;
use crate::App;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence;
use crate::tasks::CompleteRequest;
use crate::tasks::TaskChange;
use crate::tasks::TaskError;
use crate::tasks::TaskOutcome;
use crate::tasks::TaskRecord;
use crate::tasks::TaskState;
use crate::tasks::TaskView;

impl App {
    /// Completes the task that is named, or the one in hand: that it is done is
    /// recorded and it leaves the hand in one change. A word from one whose
    /// claim is over is refused, unless the person says so.
    pub fn complete_task(&mut self, request: &CompleteRequest) -> Result<TaskOutcome, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.task.spec.as_ref().map(|spec| request.task.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let mut board = Board::new(&*self.host, &*files, &*tx, &request.task, Access::Change)?;
        let task = board.named_or_in_hand(request.task.id.as_deref())?;
        if request.take_anyway {
            let caller = presence::who_calls(&*self.host, &*files, &*tx, &request.task.caller)?;
            presence::require_confirmed(&caller, &request.task.caller)?;
        }
        let refused = may_complete(&board, &task, request.generation);
        if let Err(error) = refused
            && (!request.take_anyway || matches!(error, TaskError::AlreadyCompleted { .. }))
        {
            return Err(error);
        }
        let key = board.key(&task);
        let worker = board.worker(now, request.task.words.as_ref());
        let mut changes = std::mem::take(&mut board.changes);
        // Left behind and taken anyway: that it is done is all there is to say.
        changes.retain(|change| !matches!(change, Change::Tasks(change) if *change.key() == key));
        changes.push(Change::Tasks(TaskChange::Completed { key: key.clone(), worker }));
        let (project, actor) = (board.project(), board.actor.clone());
        let recorded = Self::conclude(&*self.host, tx, now, project, actor.clone(), changes)?;
        if let Actor::Agent(session) = &actor {
            // Who could use it is a hint; the task is done either way.
            let what = [task.title.as_deref(), request.task.words.as_deref()].map(Option::unwrap_or_default);
            let _ = self.finished(session, &what.join(" "));
        }
        let generation = match generation(&task) {
            0 => last_number(recorded),
            generation => generation,
        };
        Ok(TaskOutcome { key, generation, title: task.title })
    }
}

fn may_complete(board: &Board, task: &TaskView, claimed_under: Option<i64>) -> Result<(), TaskError> {
    let id = task.id.clone();
    let now = generation(task);
    let too_late = |yours, with: Option<String>| TaskError::TooLate { id: id.clone(), yours, now, with };
    match &task.record {
        Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
            Err(TaskError::AlreadyCompleted { id, by: worker.name.clone() })
        }
        Some(TaskRecord { state: TaskState::Claimed(worker), .. }) => match claimed_under {
            Some(yours) if yours != now => Err(too_late(yours, Some(worker.name.clone()))),
            _ if worker.who == board.actor => Ok(()),
            _ => Err(TaskError::NotYours { id, by: worker.name.clone() }),
        },
        Some(TaskRecord { state: TaskState::Free { last: Some((who, yours)) }, .. })
            if *who == board.actor =>
        {
            Err(too_late(*yours, None))
        }
        _ => match claimed_under {
            Some(yours) => Err(too_late(yours, None)),
            None => Err(TaskError::NotClaimed { id }),
        },
    }
}
