//! SQL of the tasks room: the state of tasks, among the facts.

use std::collections::BTreeSet;

use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::presence::SessionId;
use consort_core::project::ProjectId;
use consort_core::tasks::SpecRef;
use consort_core::tasks::TaskChange;
use consort_core::tasks::TaskKey;
use consort_core::tasks::TaskRecord;
use consort_core::tasks::TaskState;
use consort_core::tasks::TaskStore;
use rusqlite::Connection;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;

const TASK: &str = "task";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &TaskChange,
) -> rusqlite::Result<()> {
    let task = name(change.key());
    let former: Option<TaskRecord> = facts::parsed(connection, TASK, Keys::Is(&task))?.pop();
    let (state, holder) = match change {
        TaskChange::Claimed { worker, .. } => (TaskState::Claimed(worker.clone()), Some(&worker.who)),
        TaskChange::Completed { worker, .. } => (TaskState::Done(worker.clone()), None),
        TaskChange::Freed { worker, .. } => {
            let generation = former.as_ref().map_or(0, |record| record.generation);
            (TaskState::Free { last: Some((worker.clone(), generation)) }, None)
        }
    };
    // A completed task stays at the generation it was completed under.
    let generation = match (change, &former) {
        (TaskChange::Completed { .. }, Some(former)) => former.generation,
        _ => origin.number.unwrap_or(0),
    };
    let record = TaskRecord { key: change.key().clone(), state, generation };
    let holder = holder.map_or_else(String::new, Actor::to_string);
    facts::put_only(connection, TASK, &task, &holder, &json(&record)?)
}

/// Tells how long a change is kept: all about a task for ever, since a completed task stays completed.
pub(crate) fn keep(change: &TaskChange) -> Keep {
    Keep::Story(("tasks", name(change.key())))
}

/// Returns the key of a task's row. Case does not tell tasks apart.
fn name(key: &TaskKey) -> String {
    format!("{}\t{}", spec(&key.spec), key.id.to_lowercase())
}

fn spec(spec: &SpecRef) -> String {
    format!("{}\t{}", spec.project.as_ref().map_or("", |project| project.as_str()), spec.path)
}

impl TaskStore for SqliteTx<'_> {
    fn tasks(&self, of: &SpecRef) -> Result<Vec<TaskRecord>, StoreError> {
        self.tasks_below(&spec(of))
    }

    fn tasks_in(&self, project: &ProjectId) -> Result<Vec<TaskRecord>, StoreError> {
        self.tasks_below(project.as_str())
    }

    fn claimed_tasks(&self) -> Result<Vec<TaskRecord>, StoreError> {
        let read = |fact: &Fact<'_>| (!fact.owner()?.is_empty()).then(|| fact.parse()).transpose();
        self.ask(|tx| facts::list(tx, TASK, Keys::All, read))
    }

    fn workers(&self) -> Result<BTreeSet<Actor>, StoreError> {
        let read = |fact: &Fact<'_>| {
            let Ok(worker) = fact.owner()?.parse();
            Ok((!fact.owner()?.is_empty()).then_some(worker))
        };
        self.ask(|tx| Ok(facts::list(tx, TASK, Keys::All, read)?.into_iter().collect()))
    }

    fn task_of(&self, session: &SessionId) -> Result<Option<TaskRecord>, StoreError> {
        let holder = Actor::Agent(session.clone()).to_string();
        let read = |fact: &Fact<'_>| (fact.owner()? == holder).then(|| fact.parse()).transpose();
        self.ask(|tx| Ok(facts::list(tx, TASK, Keys::All, read)?.into_iter().next()))
    }
}

impl SqliteTx<'_> {
    /// Lists the tasks whose key is `start`, a tab and more.
    fn tasks_below(&self, start: &str) -> Result<Vec<TaskRecord>, StoreError> {
        self.ask(|tx| facts::parsed(tx, TASK, Keys::BeginsWith(&format!("{start}\t"))))
    }
}
