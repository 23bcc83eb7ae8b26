//! Pure rules of tasks: the state of each task of a spec, and whether a task may be claimed.

use std::collections::BTreeMap;

use super::SpecTask;
use super::TaskError;
use super::TaskRecord;
use super::TaskState;
use super::TaskView;
use crate::journal::Actor;

/// Folds the case of a task id, because ids that differ only in case are the same.
pub(super) fn fold(id: &str) -> String {
    id.to_lowercase()
}

/// Returns the tasks of a spec with their states: first the tasks in the file, in its order, then those that
/// only the journal knows.
pub(super) fn see(tasks: &[SpecTask], records: &[TaskRecord], me: &Actor) -> Vec<TaskView> {
    let by_id: BTreeMap<String, &TaskRecord> =
        records.iter().map(|record| (fold(&record.key.id), record)).collect();
    let is_done = |task: &SpecTask| {
        task.is_ticked
            || by_id.get(&fold(&task.id)).is_some_and(|record| matches!(record.state, TaskState::Done(_)))
    };
    let done: BTreeMap<String, bool> = tasks.iter().map(|task| (fold(&task.id), is_done(task))).collect();
    let mut seen = Vec::new();
    for task in tasks {
        let record = by_id.get(&fold(&task.id)).map(|record| (*record).clone());
        // A dependency that is not in the spec never counts as done.
        let is_open = |id: &&String| !done.get(&fold(id)).copied().unwrap_or(false);
        let waits_for: Vec<String> = task.depends.iter().filter(is_open).cloned().collect();
        let is_free = !is_done(task) && !is_claimed(record.as_ref());
        seen.push(TaskView {
            id: task.id.clone(),
            title: Some(task.title.clone()),
            ready: is_free && waits_for.is_empty(),
            waits_for,
            depends: task.depends.clone(),
            ticked: task.is_ticked,
            yours: is_of(record.as_ref(), me),
            record,
            line: Some(task.line),
        });
    }
    let unnamed = records.iter().filter(|record| !done.contains_key(&fold(&record.key.id)));
    seen.extend(unnamed.map(|record| TaskView {
        id: record.key.id.clone(),
        title: None,
        ready: false,
        waits_for: Vec::new(),
        depends: Vec::new(),
        ticked: false,
        yours: is_of(Some(record), me),
        record: Some(record.clone()),
        line: None,
    }));
    seen
}

pub(crate) fn is_done(task: &TaskView) -> bool {
    task.ticked || matches!(&task.record, Some(TaskRecord { state: TaskState::Done(_), .. }))
}

fn is_claimed(record: Option<&TaskRecord>) -> bool {
    matches!(record, Some(TaskRecord { state: TaskState::Claimed(_), .. }))
}

fn is_of(record: Option<&TaskRecord>, who: &Actor) -> bool {
    matches!(record, Some(TaskRecord { state: TaskState::Claimed(worker), .. }) if worker.who == *who)
}

/// Checks whether a task may be claimed now.
pub(super) fn may_claim(task: &TaskView) -> Result<(), TaskError> {
    let id = task.id.clone();
    match &task.record {
        Some(TaskRecord { state: TaskState::Done(worker), .. }) => {
            Err(TaskError::AlreadyCompleted { id, by: worker.name.clone() })
        }
        Some(TaskRecord { state: TaskState::Claimed(worker), .. }) => {
            Err(TaskError::AlreadyClaimed { id, by: worker.name.clone() })
        }
        _ if task.ticked => {
            Err(TaskError::AlreadyCompleted { id, by: "someone who ticked it in the spec".into() })
        }
        _ if !task.waits_for.is_empty() => Err(TaskError::NotReady { id, waits_for: task.waits_for.clone() }),
        _ => Ok(()),
    }
}

/// Says in words why no task is ready.
pub(super) fn why_none(tasks: &[TaskView]) -> String {
    let done = tasks.iter().filter(|task| is_done(task)).count();
    let claimed = tasks.iter().filter(|task| is_claimed(task.record.as_ref())).count();
    match tasks.len() {
        0 => "it names no tasks".into(),
        all if done == all => "all is done".into(),
        all => format!("{done} of {all} done, {claimed} claimed, the others wait for them"),
    }
}
