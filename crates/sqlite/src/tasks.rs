//! What has happened to tasks.

use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Seq;
use consort_core::presence::SessionId;
use consort_core::tasks::SpecRef;
use consort_core::tasks::TaskChange;
use consort_core::tasks::TaskKey;
use consort_core::tasks::TaskRecord;
use consort_core::tasks::TaskState;
use consort_core::tasks::TaskStore;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;
use rusqlite::params;

use crate::SqliteTx;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;

pub(crate) fn apply(connection: &Connection, seq: Seq, change: &TaskChange) -> rusqlite::Result<()> {
    let sql = "SELECT record FROM tasks WHERE task = ?1";
    let task = name(change.key());
    let former = connection.prepare_cached(sql)?.query_row([&task], read).optional()?;
    let (state, holder) = match change {
        TaskChange::Claimed { worker, .. } => (TaskState::Claimed(worker.clone()), Some(&worker.who)),
        TaskChange::Completed { worker, .. } => (TaskState::Done(worker.clone()), None),
        TaskChange::Freed { worker, .. } => {
            let generation = former.as_ref().map_or(0, |record| record.generation);
            (TaskState::Free { last: Some((worker.clone(), generation)) }, None)
        }
    };
    // What is done stays at the generation it was done under.
    let generation = match (change, &former) {
        (TaskChange::Completed { .. }, Some(former)) => former.generation,
        _ => seq,
    };
    let record = TaskRecord { key: change.key().clone(), state, generation };
    connection
        .prepare_cached("REPLACE INTO tasks VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![task, spec(&change.key().spec), holder.map(Actor::to_string), json(&record)?])
        .map(drop)
}

/// What is done stays done: a task's story is kept.
pub(crate) fn keep(change: &TaskChange) -> Keep {
    Keep::Story(("tasks", name(change.key())))
}

/// Case does not tell tasks apart. Nothing in an id can be taken for the rest.
fn name(key: &TaskKey) -> String {
    format!("{} {}", key.id.to_lowercase(), spec(&key.spec))
}

fn spec(spec: &SpecRef) -> String {
    format!("{} {}", spec.project.as_ref().map_or("", |project| project.as_str()), spec.path)
}

impl TaskStore for SqliteTx<'_> {
    fn tasks(&self, of: &SpecRef) -> Result<Vec<TaskRecord>, StoreError> {
        let sql = "SELECT record FROM tasks WHERE spec = ?1";
        self.ask(|tx| tx.prepare_cached(sql)?.query_map([spec(of)], read)?.collect())
    }

    fn claimed_tasks(&self) -> Result<Vec<TaskRecord>, StoreError> {
        let sql = "SELECT record FROM tasks WHERE holder IS NOT NULL";
        self.ask(|tx| tx.prepare_cached(sql)?.query_map([], read)?.collect())
    }

    fn task_of(&self, session: &SessionId) -> Result<Option<TaskRecord>, StoreError> {
        let sql = "SELECT record FROM tasks WHERE holder = ?1";
        let holder = Actor::Agent(session.clone()).to_string();
        self.ask(|tx| tx.prepare_cached(sql)?.query_row([holder], read).optional())
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<TaskRecord> {
    parse(row.get_ref(0)?.as_str()?, 0)
}
