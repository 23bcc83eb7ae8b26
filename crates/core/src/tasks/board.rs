//! The board: a spec, the states of its tasks, and the caller. Decides whether the caller may claim a task,
//! give it back or complete it, and returns the changes. No store, no clock, no machine.

use super::SpecRef;
use super::TaskChange;
use super::TaskError;
use super::TaskKey;
use super::TaskRecord;
use super::TaskState;
use super::TaskView;
use super::TaskWorker;
use super::rules;
use super::spec::Spec;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence::Agent;
use crate::presence::AgentName;
use crate::project::ProjectId;
use crate::text;

/// A spec, the states of its tasks, and the caller.
pub(super) struct Board {
    me: Option<Agent>,
    pub(super) actor: Actor,
    pub(super) spec: SpecRef,
    pub(super) read: Spec,
    pub(super) tasks: Vec<TaskView>,
    /// The changes that free the tasks of gone workers.
    left_behind: Vec<Change>,
    /// The task that the caller has claimed, in any spec.
    in_hand: Option<TaskRecord>,
}

/// A task, with the changes to record.
pub(super) struct Decided {
    pub(super) key: TaskKey,
    pub(super) task: TaskView,
    pub(super) changes: Vec<Change>,
}

impl Board {
    /// Builds a board. `claimed` are the tasks of live workers, `gone` those of gone workers.
    pub(super) fn new(
        me: Option<Agent>,
        spec: SpecRef,
        read: Spec,
        mut records: Vec<TaskRecord>,
        claimed: Vec<TaskRecord>,
        gone: Vec<TaskRecord>,
    ) -> Self {
        let actor = me.as_ref().map_or(Actor::Person, |me| Actor::Agent(me.session.clone()));
        let in_hand = claimed.into_iter().find(|record| holder(record).as_ref() == Some(&actor));
        for record in &mut records {
            if gone.iter().any(|gone| gone.key == record.key) {
                let last = holder(record).map(|who| (who, record.generation));
                record.state = TaskState::Free { last };
            }
        }
        let tasks = rules::see(&read.tasks, &records, &actor);
        let left_behind = gone.iter().map(left_behind).collect();
        Self { me, actor, spec, read, tasks, left_behind, in_hand }
    }

    /// Claims the named task, or the first that is ready, for the caller.
    pub(super) fn claim(
        &self,
        id: Option<&str>,
        words: Option<&String>,
        now: Timestamp,
    ) -> Result<Decided, TaskError> {
        if let Some(record) = &self.in_hand {
            let (id, spec) = (record.key.id.clone(), record.key.spec.path.clone());
            return Err(TaskError::AlreadyHaveClaim { id, spec });
        }
        let task = match id {
            Some(id) => self.find(id)?,
            None => self.next()?,
        };
        rules::may_claim(&task)?;
        let (key, worker) = (self.key(&task), self.worker(now, words));
        Ok(self.decided(task, TaskChange::Claimed { key, worker }))
    }

    /// Returns the first task that is ready.
    pub(super) fn next(&self) -> Result<TaskView, TaskError> {
        self.tasks.iter().find(|task| task.ready).cloned().ok_or_else(|| TaskError::NothingReady {
            spec: self.spec.path.clone(),
            why: rules::why_none(&self.tasks),
        })
    }

    /// Claims the named task for a run, whether or not the starter of the run has a task.
    pub(super) fn claim_for_run(
        &self,
        id: &str,
        run: ChangeId,
        name: &AgentName,
        now: Timestamp,
    ) -> Result<Decided, TaskError> {
        let task = self.find(id)?;
        rules::may_claim(&task)?;
        let worker = run_worker(run, name, now);
        let key = self.key(&task);
        Ok(self.decided(task, TaskChange::Claimed { key, worker }))
    }

    /// Gives back the named task, or the caller's claimed one. The person can give back anyone's.
    pub(super) fn unclaim(&self, id: Option<&str>) -> Result<Decided, TaskError> {
        let task = self.named_or_in_hand(id)?;
        let id = task.id.clone();
        let worker = match &task.record {
            Some(TaskRecord { state: TaskState::Claimed(worker), .. }) => worker.clone(),
            Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
                return Err(TaskError::AlreadyCompleted { id, by: worker.name.clone() });
            }
            _ => return Err(TaskError::NotClaimed { id }),
        };
        if worker.who != self.actor && self.me.is_some() {
            return Err(TaskError::NotYours { id, by: worker.name });
        }
        let freed = TaskChange::Freed { key: self.key(&task), worker: worker.who, holder_gone: false };
        Ok(self.decided(task, freed))
    }

    /// Completes the named task, or the caller's claimed one. A report of a worker whose claim is over is
    /// refused unless `take_anyway` is set; a task that is done stays done.
    pub(super) fn complete(
        &self,
        id: Option<&str>,
        claimed_under: Option<Number>,
        take_anyway: bool,
        words: Option<&String>,
        now: Timestamp,
    ) -> Result<Decided, TaskError> {
        let task = self.named_or_in_hand(id)?;
        if let Err(error) = self.may_complete(&task, claimed_under)
            && (!take_anyway || matches!(error, TaskError::AlreadyCompleted { .. }))
        {
            return Err(error);
        }
        let (key, worker) = (self.key(&task), self.worker(now, words));
        Ok(self.decided(task, TaskChange::Completed { key, worker }))
    }

    fn decided(&self, task: TaskView, change: TaskChange) -> Decided {
        let key = change.key().clone();
        // A task of a gone worker that is completed anyway need not be freed first.
        let is_done = matches!(change, TaskChange::Completed { .. });
        let is_said = |left: &&Change| is_done && matches!(left, Change::Tasks(left) if *left.key() == key);
        let left_behind = self.left_behind.iter().filter(|left| !is_said(left)).cloned();
        let changes = left_behind.chain([Change::Tasks(change)]).collect();
        Decided { key, task, changes }
    }

    fn may_complete(&self, task: &TaskView, claimed_under: Option<Number>) -> Result<(), TaskError> {
        let id = task.id.clone();
        let now = generation(task);
        let too_late = |yours, with: Option<String>| TaskError::TooLate { id: id.clone(), yours, now, with };
        match &task.record {
            Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
                Err(TaskError::AlreadyCompleted { id, by: worker.name.clone() })
            }
            Some(TaskRecord { state: TaskState::Claimed(worker), .. }) => match claimed_under {
                Some(yours) if yours != now => Err(too_late(yours, Some(worker.name.clone()))),
                _ if worker.who == self.actor => Ok(()),
                _ => Err(TaskError::NotYours { id, by: worker.name.clone() }),
            },
            Some(TaskRecord { state: TaskState::Free { last: Some((who, yours)) }, .. })
                if *who == self.actor =>
            {
                Err(too_late(*yours, None))
            }
            _ => match claimed_under {
                Some(yours) => Err(too_late(yours, None)),
                None => Err(TaskError::NotClaimed { id }),
            },
        }
    }

    /// Finds the task with that id, if it can be claimed.
    pub(super) fn named(&self, id: &str) -> Result<TaskView, TaskError> {
        let task = self.find(id)?;
        rules::may_claim(&task)?;
        Ok(task)
    }

    /// Finds the task with that id. In a spec that names no tasks, any id is a task.
    fn find(&self, id: &str) -> Result<TaskView, TaskError> {
        let wanted = rules::fold(id.trim());
        if let Some(task) = self.tasks.iter().find(|task| rules::fold(&task.id) == wanted) {
            return Ok(task.clone());
        }
        if self.read.tasks.is_empty() && !wanted.is_empty() {
            return Ok(TaskView {
                id: text::one_line(id.trim(), 64),
                title: None,
                ready: true,
                waits_for: Vec::new(),
                depends: Vec::new(),
                ticked: false,
                record: None,
                yours: false,
                line: None,
            });
        }
        let nearest = text::nearest(id, self.tasks.iter().map(|task| task.id.as_str())).map(str::to_owned);
        Err(TaskError::NoSuchTask { id: text::one_line(id, 64), spec: self.spec.path.clone(), nearest })
    }

    /// Returns the named task, or else the claimed one.
    fn named_or_in_hand(&self, id: Option<&str>) -> Result<TaskView, TaskError> {
        match (id, &self.in_hand) {
            (Some(id), _) => self.find(id),
            (None, Some(record)) => self.find(&record.key.id),
            (None, None) => Err(TaskError::NoTask),
        }
    }

    pub(super) fn key(&self, task: &TaskView) -> TaskKey {
        // Use the spelling of the record if there is one, so that there is only one record.
        let id = task.record.as_ref().map_or_else(|| task.id.clone(), |record| record.key.id.clone());
        TaskKey { spec: self.spec.clone(), id }
    }

    fn worker(&self, now: Timestamp, words: Option<&String>) -> TaskWorker {
        TaskWorker {
            who: self.actor.clone(),
            name: self.me.as_ref().map_or_else(|| "the person".into(), |me| me.name.to_string()),
            at: now,
            words: words.map(|words| text::one_line(words, 1_000)),
            run: None,
        }
    }

    /// Returns the project that changes of these tasks are recorded in.
    pub(super) fn project(&self) -> Option<ProjectId> {
        self.spec.project.clone().or_else(|| self.me.as_ref().map(|me| me.project.id.clone()))
    }
}

/// Makes the worker of a task that a run has.
pub(super) fn run_worker(run: ChangeId, name: &AgentName, at: Timestamp) -> TaskWorker {
    TaskWorker { who: Actor::Consort, name: name.to_string(), at, words: None, run: Some(run) }
}

/// Returns the change that frees a task whose worker is gone.
pub(crate) fn left_behind(record: &TaskRecord) -> Change {
    let worker = holder(record).unwrap_or(Actor::Consort);
    Change::Tasks(TaskChange::Freed { key: record.key.clone(), worker, holder_gone: true })
}

/// Returns the worker that has claimed a task.
pub(super) fn holder(record: &TaskRecord) -> Option<Actor> {
    match &record.state {
        TaskState::Claimed(worker) => Some(worker.who.clone()),
        TaskState::Free { .. } | TaskState::Done(_) => None,
    }
}

/// Returns the generation of a task's record, or 0 without one.
pub(super) fn generation(task: &TaskView) -> Number {
    task.record.as_ref().map_or(0, |record| record.generation)
}

/// Returns the changes that give a claimed task to another agent.
pub(crate) fn taken_over(record: TaskRecord, by: &Agent, now: Timestamp) -> [Change; 2] {
    let words = match &record.state {
        TaskState::Claimed(worker) => worker.words.clone(),
        TaskState::Free { .. } | TaskState::Done(_) => None,
    };
    let who = Actor::Agent(by.session.clone());
    let worker = TaskWorker { who, name: by.name.to_string(), at: now, words, run: None };
    [left_behind(&record), Change::Tasks(TaskChange::Claimed { key: record.key, worker })]
}
