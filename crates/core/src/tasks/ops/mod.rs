//! The verbs of the tasks room, one file each, and the functions they share: finding the spec, gathering the
//! facts for a decision.

mod claim;
mod complete;
mod list;
mod run;
mod unclaim;

pub(crate) use run::claim_for_run;
pub(crate) use run::end_for_run;

use std::path::Path;
use std::path::PathBuf;

use crate::dispatch;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Number;
use crate::journal::Recorded;
use crate::presence;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::side_files::SideFiles;
use crate::tasks::SpecRef;
use crate::tasks::TaskError;
use crate::tasks::TaskKey;
use crate::tasks::TaskRecord;
use crate::tasks::TaskRequest;
use crate::tasks::TaskState;
use crate::tasks::TaskStore;
use crate::tasks::board::Board;
use crate::tasks::spec;

/// Identifies the spec at a path, by its real location.
pub(crate) fn spec_at(
    host: &dyn Host,
    store: &dyn PresenceStore,
    path: &Path,
) -> Result<SpecRef, StoreError> {
    let located = host.locate(path);
    let project = match &located.repository {
        Some(_) => Some(presence::project_without_git(host, store, &located.worktree)?),
        None => None,
    };
    Ok(SpecRef { project, path: located.path })
}

/// Returns the id of the task that a session has claimed.
pub(crate) fn current(store: &dyn TaskStore, session: &SessionId) -> Result<Option<String>, StoreError> {
    Ok(store.task_of(session)?.map(|record| record.key.id))
}

/// The access that a caller needs to a board.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BoardAccess {
    /// Reading, which is allowed to every caller.
    Read,
    Change,
}

/// Gathers the facts from which requests about the tasks of a spec are decided.
fn board(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    request: &TaskRequest,
    access: BoardAccess,
) -> Result<Board, TaskError> {
    let me = match presence::who_calls(host, files, tx, &request.caller)? {
        Caller::Agent(agent) => Some(*agent),
        Caller::Person => None,
        Caller::Anonymous(_) if access == BoardAccess::Read => None,
        Caller::Anonymous(why) => return Err(why.into()),
    };
    let run = match &me {
        Some(_) => dispatch::run_above(host, tx, &request.caller)?,
        None => None,
    };
    let of_run = run.as_ref().and_then(|run| run.spec.takes.as_ref());
    let (spec, file) = meant_spec(host, tx, request, me.as_ref(), of_run)?;
    let text = host.text(&file).map_err(|source| TaskError::Unreadable { path: file, source })?;
    // A task of the run counts as the task of the agent inside it.
    let seen = |mut record: TaskRecord| {
        if let (TaskState::Claimed(worker), Some(me)) = (&mut record.state, &me)
            && worker.run.is_some()
            && worker.run == run.as_ref().map(|run| run.id)
        {
            worker.who = Actor::Agent(me.session.clone());
        }
        record
    };
    let (mut claimed, mut gone) = (Vec::new(), Vec::new());
    for record in tx.claimed_tasks()? {
        match is_gone(host, files, tx, &record)? {
            true => gone.push(record),
            false => claimed.push(seen(record)),
        }
    }
    let records = tx.tasks(&spec)?.into_iter().map(seen).collect();
    Ok(Board::new(me, spec, spec::read(&text), records, claimed, gone))
}

/// Tells whether the worker of a claimed task is gone: an agent that is not alive, or a run that has ended.
fn is_gone(
    host: &dyn Host,
    files: &dyn SideFiles,
    tx: &dyn Tx,
    record: &TaskRecord,
) -> Result<bool, StoreError> {
    let TaskState::Claimed(worker) = &record.state else { return Ok(false) };
    match (&worker.who, worker.run) {
        (_, Some(run)) => Ok(tx.run_of(run)?.is_none_or(|run| run.state.has_ended())),
        (Actor::Agent(session), None) => Ok(!matches!(
            tx.agent(session)?,
            Some((agent, None)) if presence::is_alive(host, files, &agent)
        )),
        (Actor::Person | Actor::Consort, None) => Ok(false),
    }
}

/// Finds the spec of a request, and its file: the named one, else that of the claimed task if the request is
/// about it, else the one joined with, else that of the caller's last task in this project.
fn meant_spec(
    host: &dyn Host,
    tx: &dyn Tx,
    request: &TaskRequest,
    me: Option<&Agent>,
    of_run: Option<&TaskKey>,
) -> Result<(SpecRef, PathBuf), TaskError> {
    if let Some(typed) = &request.spec {
        let file = request.cwd.join(typed);
        return Ok((spec_at(host, tx, &file)?, file));
    }
    let Some(me) = me else {
        let last = last_spec(host, tx, &request.cwd, &Actor::Person)?;
        return last.map_or_else(|| Err(no_spec(host, tx, &request.cwd)?), Ok);
    };
    let in_hand = match (&request.id, request.is_for_new) {
        (None, false) => {
            let own = tx.task_of(&me.session)?.map(|record| record.key);
            own.as_ref().or(of_run).map(|key| key.spec.clone())
        }
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
        (None, None) => {
            let last = last_spec(host, tx, &request.cwd, &Actor::Agent(me.session.clone()))?;
            last.map_or_else(|| Err(no_spec(host, tx, &request.cwd)?), Ok)
        }
    }
}

/// Finds the spec of the last task that the caller had in this project, and its file here.
fn last_spec(
    host: &dyn Host,
    tx: &dyn Tx,
    cwd: &Path,
    who: &Actor,
) -> Result<Option<(SpecRef, PathBuf)>, StoreError> {
    let Some(project) = spec_at(host, tx, &cwd.join("x"))?.project else { return Ok(None) };
    let had = tx.tasks_in(&project)?.into_iter().filter(|record| last_worker(record) == Some(who));
    let last = had.max_by_key(|record| record.generation).map(|record| record.key.spec);
    Ok(last.map(|spec| {
        let file = host.locate(&cwd.join("x")).worktree.join(&spec.path);
        (spec, file)
    }))
}

/// Returns the worker that has claimed a task, has completed it, or had it last.
fn last_worker(record: &TaskRecord) -> Option<&Actor> {
    match &record.state {
        TaskState::Claimed(worker) | TaskState::Done(worker) => Some(&worker.who),
        TaskState::Free { last } => last.as_ref().map(|(who, _)| who),
    }
}

/// Makes the error for a missing spec, with a spec that is worked on in this project as a suggestion.
fn no_spec(host: &dyn Host, tx: &dyn Tx, cwd: &Path) -> Result<TaskError, StoreError> {
    let here = spec_at(host, tx, &cwd.join("x"))?.project;
    for agent in tx.present()? {
        let claimed = tx.task_of(&agent.session)?.map(|record| record.key.spec);
        let known = claimed.or(agent.spec).filter(|spec| spec.project == here);
        if let Some(spec) = known {
            return Ok(TaskError::NoSpec { known: Some(spec.path) });
        }
    }
    Ok(TaskError::NoSpec { known: None })
}

/// Returns the number that the last change was given.
fn last_number(recorded: Option<Recorded>) -> Number {
    recorded.and_then(|recorded| recorded.numbers.last().copied().flatten()).unwrap_or(0)
}
