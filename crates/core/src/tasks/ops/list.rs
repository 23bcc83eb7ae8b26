//! Tasks verbs that only read: the tasks of a spec with their states, the claimed task of a session, the
//! specs in use.

use std::path::PathBuf;

use super::BoardAccess;
use super::board;
use crate::App;
use crate::engine::StoreError;
use crate::presence;
use crate::presence::SessionId;
use crate::tasks::SpecRef;
use crate::tasks::TaskError;
use crate::tasks::TaskRecord;
use crate::tasks::TaskRequest;
use crate::tasks::TaskState;
use crate::tasks::TasksOutcome;
use crate::tasks::board::Board;
use crate::tasks::rules;

impl App {
    /// Lists the tasks of a spec with their states.
    pub fn tasks(&mut self, request: &TaskRequest) -> Result<TasksOutcome, TaskError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        self.settle_projects(request.spec.as_ref().map(|spec| request.cwd.join(spec)))?;
        let tx = self.engine.read()?;
        let Board { spec, read, tasks, .. } = board(&*self.host, &*files, &*tx, request, BoardAccess::Read)?;
        let mut idle = Vec::new();
        for agent in tx.present()? {
            if agent.spec.as_ref() == Some(&spec)
                && presence::is_alive(&*self.host, &*files, &agent)
                && tx.task_of(&agent.session)?.is_none()
            {
                idle.push(agent.name.to_string());
            }
        }
        let done = tasks.iter().filter(|task| rules::is_done(task)).count();
        Ok(TasksOutcome { at: now, spec, title: read.title, done, tasks, errors: read.errors, idle })
    }

    /// Returns the task that a session has claimed, or that the session's run has claimed.
    pub fn claimed_task(&mut self, session: &SessionId) -> Result<Option<TaskRecord>, StoreError> {
        let tx = self.engine.read()?;
        if let Some(task) = tx.task_of(session)? {
            return Ok(Some(task));
        }
        let runs = tx.open_runs()?;
        if runs.iter().all(|run| run.spec.takes.is_none()) {
            return Ok(None);
        }
        let Some((agent, _)) = tx.agent(session)? else { return Ok(None) };
        let run = runs.into_iter().find(|run| run.spec.name == agent.name);
        let Some((id, key)) = run.and_then(|run| Some((run.id, run.spec.takes?))) else { return Ok(None) };
        let is_its = |task: &TaskRecord| match &task.state {
            TaskState::Claimed(worker) => task.key == key && worker.run == Some(id),
            _ => false,
        };
        Ok(tx.tasks(&key.spec)?.into_iter().find(is_its))
    }

    /// Lists the specs that present agents have joined with or have tasks of, and their files.
    pub fn specs(&mut self) -> Result<Vec<(SpecRef, PathBuf)>, StoreError> {
        let tx = self.engine.read()?;
        let mut specs = Vec::new();
        for agent in tx.present()? {
            if let Some(record) = tx.task_of(&agent.session)? {
                let file = agent.location.worktree.join(&record.key.spec.path);
                specs.push((record.key.spec, file));
            }
            specs.extend(agent.spec.zip(agent.location.spec_file));
        }
        specs.sort();
        specs.dedup_by(|one, other| one.0 == other.0);
        Ok(specs)
    }
}
