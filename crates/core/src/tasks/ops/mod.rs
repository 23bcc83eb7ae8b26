//! The verbs of tasks, one file each; and what they share.

mod claim;
mod complete;
mod look;
mod unclaim;

use std::path::Path;
use std::path::PathBuf;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::Number;
use crate::journal::Recorded;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::side_files::SideFiles;
use crate::tasks::SpecRef;
use crate::tasks::TaskChange;
use crate::tasks::TaskError;
use crate::tasks::TaskKey;
use crate::tasks::TaskRecord;
use crate::tasks::TaskRequest;
use crate::tasks::TaskState;
use crate::tasks::TaskStore;
use crate::tasks::TaskView;
use crate::tasks::Worker;
use crate::tasks::rules;
use crate::tasks::spec;
use crate::tasks::spec::Spec;
use crate::text;

/// The spec at a path, wherever it really is.
pub(crate) fn spec_at(
    host: &dyn Host,
    store: &dyn PresenceStore,
    path: &Path,
) -> Result<SpecRef, StoreError> {
    let located = host.locate(path);
    let project = match &located.repository {
        Some(_) => Some(presence::settled(host, store, &located.worktree)?),
        None => None,
    };
    Ok(SpecRef { project, path: located.path })
}

/// The id of the task that a session has in hand.
pub(crate) fn current(store: &dyn TaskStore, session: &SessionId) -> Result<Option<String>, StoreError> {
    Ok(store.task_of(session)?.map(|record| record.key.id))
}

/// What it takes for one that leaves to have nothing in hand.
pub(crate) fn let_go(store: &dyn TaskStore, session: &SessionId) -> Result<Vec<Change>, StoreError> {
    Ok(store.task_of(session)?.map(|record| left_behind(&record)).into_iter().collect())
}

/// The changes that give the task of one session to another.
pub(crate) fn hand_over(
    store: &dyn TaskStore,
    from: &SessionId,
    to: &Agent,
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let Some(record) = store.task_of(from)? else { return Ok(Vec::new()) };
    let words = match &record.state {
        TaskState::Claimed(worker) => worker.words.clone(),
        TaskState::Free { .. } | TaskState::Done(_) => None,
    };
    let who = Actor::Agent(to.session.clone());
    let worker = Worker { who, name: to.name.to_string(), at: now, words };
    Ok(vec![left_behind(&record), Change::Tasks(TaskChange::Claimed { key: record.key, worker })])
}

fn left_behind(record: &TaskRecord) -> Change {
    let worker = holder(record).unwrap_or(Actor::Consort);
    Change::Tasks(TaskChange::Freed { key: record.key.clone(), worker, holder_gone: true })
}

fn holder(record: &TaskRecord) -> Option<Actor> {
    match &record.state {
        TaskState::Claimed(worker) => Some(worker.who.clone()),
        TaskState::Free { .. } | TaskState::Done(_) => None,
    }
}

/// What a board is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Anyone may look.
    Read,
    Change,
}

/// A spec, how its tasks stand, and who looks.
struct Board {
    me: Option<Agent>,
    actor: Actor,
    spec: SpecRef,
    read: Spec,
    tasks: Vec<TaskView>,
    /// What those who are gone have left behind.
    changes: Vec<Change>,
    /// What the caller has in hand, of whatever spec.
    in_hand: Option<TaskRecord>,
}

impl Board {
    fn new(
        host: &dyn Host,
        files: &dyn SideFiles,
        tx: &dyn Tx,
        request: &TaskRequest,
        access: Access,
    ) -> Result<Self, TaskError> {
        let me = match presence::who_calls(host, files, tx, &request.caller)? {
            Caller::Agent(agent) => Some(*agent),
            Caller::Person => None,
            Caller::Anonymous(_) if access == Access::Read => None,
            Caller::Anonymous(why) => return Err(why.into()),
        };
        let (spec, file) = Self::spec(host, tx, request, me.as_ref())?;
        let text = host.text(&file).map_err(|source| TaskError::Unreadable { path: file, source })?;
        let read = spec::read(&text);
        let actor = me.as_ref().map_or(Actor::Person, |me| Actor::Agent(me.session.clone()));
        let (mut changes, mut gone) = (Vec::new(), Vec::new());
        let mut in_hand = None;
        for record in tx.claimed_tasks()? {
            let who = holder(&record);
            if let Some(Actor::Agent(session)) = &who {
                let lives = match tx.agent(session)? {
                    Some((agent, None)) => presence::is_alive(host, files, &agent),
                    _ => false,
                };
                if !lives {
                    changes.push(left_behind(&record));
                    gone.push(record.key);
                    continue;
                }
            }
            if who.as_ref() == Some(&actor) {
                in_hand = Some(record);
            }
        }
        let mut records = tx.tasks(&spec)?;
        for record in &mut records {
            if gone.contains(&record.key) {
                let last = holder(record).map(|who| (who, record.generation));
                record.state = TaskState::Free { last };
            }
        }
        let tasks = rules::see(&read.tasks, &records, &actor);
        Ok(Self { me, actor, spec, read, tasks, changes, in_hand })
    }

    /// Which spec is meant, and the file to read: the one that is named, that of
    /// the task in hand where no other is meant, or the one joined with.
    fn spec(
        host: &dyn Host,
        tx: &dyn Tx,
        request: &TaskRequest,
        me: Option<&Agent>,
    ) -> Result<(SpecRef, PathBuf), TaskError> {
        if let Some(typed) = &request.spec {
            let file = request.cwd.join(typed);
            return Ok((spec_at(host, tx, &file)?, file));
        }
        let me = me.ok_or(TaskError::NoSpec)?;
        let in_hand = match (&request.id, request.is_for_new) {
            (None, false) => tx.task_of(&me.session)?.map(|record| record.key.spec),
            _ => None,
        };
        let joined = me.spec.clone().zip(me.location.spec_file.clone());
        match (in_hand, joined) {
            (Some(spec), Some((joined, file))) if spec == joined => Ok((spec, file)),
            (Some(spec), _) => {
                let file = me.location.worktree.join(&spec.path);
                Ok((spec, file))
            }
            (None, Some(joined)) => Ok(joined),
            (None, None) if request.id.is_none() && !request.is_for_new => Err(TaskError::NoTask),
            (None, None) => Err(TaskError::NoSpec),
        }
    }

    /// The task of that id. A spec that names no tasks takes any id.
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

    /// The task that is named, or else the one in hand.
    fn named_or_in_hand(&self, id: Option<&str>) -> Result<TaskView, TaskError> {
        match (id, &self.in_hand) {
            (Some(id), _) => self.find(id),
            (None, Some(record)) => self.find(&record.key.id),
            (None, None) => Err(TaskError::NoTask),
        }
    }

    fn key(&self, task: &TaskView) -> TaskKey {
        // A record's own spelling, so that it stays one record.
        let id = task.record.as_ref().map_or_else(|| task.id.clone(), |record| record.key.id.clone());
        TaskKey { spec: self.spec.clone(), id }
    }

    fn worker(&self, now: Timestamp, words: Option<&String>) -> Worker {
        Worker {
            who: self.actor.clone(),
            name: self.me.as_ref().map_or_else(|| "the person".into(), |me| me.name.to_string()),
            at: now,
            words: words.map(|words| text::one_line(words, 1_000)),
        }
    }

    fn project(&self) -> Option<crate::project::ProjectId> {
        self.spec.project.clone().or_else(|| self.me.as_ref().map(|me| me.project.id.clone()))
    }
}

/// The number that the last change was given.
fn last_number(recorded: Option<Recorded>) -> Number {
    recorded.and_then(|recorded| recorded.numbers.last().copied().flatten()).unwrap_or(0)
}

/// The generation of a task's record.
fn generation(task: &TaskView) -> Number {
    task.record.as_ref().map_or(0, |record| record.generation)
}
