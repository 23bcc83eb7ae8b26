//! Tasks verb by which an agent takes a task, or the next one that is ready.

use super::BoardAccess;
use super::board;
use super::last_number;
use crate::App;
use crate::tasks::ChangedTask;
use crate::tasks::TaskError;
use crate::tasks::TaskRequest;

impl App {
    /// Claims the named task, or the first that is ready.
    pub fn claim_task(&mut self, request: &TaskRequest) -> Result<ChangedTask, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let board = board(&*self.host, &*files, &*tx, request, BoardAccess::Change)?;
        let decided = board.claim(request.id.as_deref(), request.words.as_ref(), now)?;
        let (project, actor) = (board.project(), board.actor);
        let recorded = Self::conclude(&*self.host, tx, now, project, actor, decided.changes)?;
        Ok(ChangedTask { key: decided.key, title: decided.task.title, generation: last_number(recorded) })
    }
}
