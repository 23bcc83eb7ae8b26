//! Tasks verb by which an agent gives a task back.

use super::BoardAccess;
use super::board;
use crate::App;
use crate::tasks::ChangedTask;
use crate::tasks::TaskError;
use crate::tasks::TaskRequest;
use crate::tasks::board::generation;

impl App {
    /// Gives back the named task, or the claimed one. The person can give back anyone's.
    pub fn unclaim_task(&mut self, request: &TaskRequest) -> Result<ChangedTask, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let board = board(&*self.host, &*files, &*tx, request, BoardAccess::Change)?;
        let decided = board.unclaim(request.id.as_deref())?;
        let (project, actor) = (board.project(), board.actor);
        Self::conclude(&*self.host, tx, now, project, actor, decided.changes)?;
        let generation = generation(&decided.task);
        Ok(ChangedTask { key: decided.key, title: decided.task.title, generation })
    }
}
