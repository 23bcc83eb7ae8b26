//! Tasks verb that marks a task as done.

use super::BoardAccess;
use super::board;
use super::last_number;
use crate::App;
use crate::journal::Actor;
use crate::presence;
use crate::tasks::ChangedTask;
use crate::tasks::CompleteRequest;
use crate::tasks::TaskError;
use crate::tasks::board::generation;

impl App {
    /// Completes the named task, or the claimed one; one change records that it is done and no longer
    /// claimed. A report of a worker whose claim is over is refused, unless the person sets `take_anyway`.
    pub fn complete_task(&mut self, request: &CompleteRequest) -> Result<ChangedTask, TaskError> {
        let CompleteRequest { task: request, generation: claimed_under, take_anyway } = request;
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.write()?;
        let board = board(&*self.host, &*files, &*tx, request, BoardAccess::Change)?;
        if *take_anyway {
            let caller = presence::who_calls(&*self.host, &*files, &*tx, &request.caller)?;
            presence::require_confirmed(&caller, &request.caller)?;
        }
        let (id, words) = (request.id.as_deref(), request.words.as_ref());
        let decided = board.complete(id, *claimed_under, *take_anyway, words, now)?;
        let (project, actor) = (board.project(), board.actor);
        let recorded = Self::conclude(&*self.host, tx, now, project, actor.clone(), decided.changes)?;
        let (key, task) = (decided.key, decided.task);
        if let Actor::Agent(session) = &actor {
            // Telling agents that could use the work is only a hint; the task is done either way.
            let what = [task.title.as_deref(), request.words.as_deref()].map(Option::unwrap_or_default);
            let _ = self.share_finished_work(session, &what.join(" "));
        }
        let generation = match generation(&task) {
            0 => last_number(recorded),
            generation => generation,
        };
        Ok(ChangedTask { key, generation, title: task.title })
    }
}
