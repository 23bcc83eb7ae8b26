//! Convergence verb that gathers everything about an agent's work for its successor:
//! trail, files, holds, task, messages.

use crate::App;
use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::claims::ReleaseCause;
use crate::claims::Strength;
use crate::convergence::ConvergenceError;
use crate::convergence::FileVisit;
use crate::convergence::Handoff;
use crate::convergence::TrailStep;
use crate::convergence::Trajectory;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::KeptChange;
use crate::journal::TailRequest;
use crate::presence;
use crate::presence::Agent;
use crate::presence::AgentView;
use crate::presence::PresenceError;
use crate::project::ProjectId;
use crate::tasks;
use crate::tasks::TaskChange;
use crate::tasks::TaskRequest;
use crate::text;

/// Number of journal entries that are searched for holds and tasks that were freed when an agent left.
const LOOKED_BACK: usize = 1_000;

/// Most sent messages that a handoff includes.
const LETTERS: usize = 10;

impl App {
    /// Gathers the handoff of the agent of that name, present or gone.
    pub fn handoff(&mut self, name: &str) -> Result<Handoff, PresenceError> {
        let found = match self.find_agent(name) {
            Ok(agent) => agent,
            // The last gone agent of that name.
            Err(unknown) => {
                let gone = self.engine.read()?.gone_by_name(name)?;
                gone.into_iter().next_back().ok_or(unknown)?
            }
        };
        Ok(self.gather(found)?)
    }

    /// Gathers the handoffs of all live agents of a project.
    pub fn handoffs(&mut self, project: &ProjectId) -> Result<Vec<Handoff>, ConvergenceError> {
        let files = self.engine.side_files();
        let mut agents = self.engine.read()?.present()?;
        agents
            .retain(|agent| agent.project.id == *project && presence::is_alive(&*self.host, &*files, agent));
        if agents.is_empty() {
            return Err(ConvergenceError::Nobody);
        }
        Ok(agents.into_iter().map(|agent| self.gather(agent)).collect::<Result<_, _>>()?)
    }

    fn gather(&mut self, agent: Agent) -> Result<Handoff, StoreError> {
        let files = self.engine.side_files();
        let me = Actor::Agent(agent.session.clone());
        let steps = files.last_trail(&agent.session).map(|trail| trail.steps).unwrap_or_default();
        let changes = self.host.changes(&agent.location.worktree);
        // An unreadable spec must not hide the rest.
        let spec = agent.location.spec_file.clone().map(|file| self.tasks(&TaskRequest::of_spec(file)));
        let mut open_tasks = spec.and_then(Result::ok).map(|outcome| outcome.tasks).unwrap_or_default();
        open_tasks.retain(|task| !tasks::is_done(task));
        let tx = self.engine.read()?;
        let (task, mut unread) = (tx.task_of(&agent.session)?, tx.unread(&me)?);
        // Messages of Consort were meant for that session only.
        unread.retain(|letter| letter.message.sent.from.who != Actor::Consort);
        let mut holds = tx.holds(Some(&agent.project.id))?;
        holds.retain(|hold| hold.holder == me && hold.strength != Strength::Overridden);
        let sent = tx.sent_by(&me, Timestamp(0), LETTERS)?;
        let mut messages: Vec<_> = sent.into_iter().map(|post| post.message).collect();
        messages.extend(unread.iter().map(|letter| letter.message.clone()));
        messages.sort_by_key(|message| (message.seq, message.id));
        messages.dedup_by_key(|message| message.id);
        let mut unfinished = match tx.agent(&agent.session)? {
            Some((_, None)) => Vec::new(),
            _ => freed_on_leaving(&*tx, &me)?,
        };
        let departed = match tx.agent(&agent.session)? {
            Some((_, None)) | None => None,
            Some((_, Some(reason))) => {
                let since = agent.joined_at;
                let left = tx
                    .left_since(since, usize::MAX)?
                    .into_iter()
                    .find(|(gone, ..)| gone.session == agent.session);
                left.map(|(_, at, _)| (at, reason))
            }
        };
        drop(tx);
        let seen: AgentView = match departed {
            Some((at, reason)) => presence::see_gone(agent, at, reason),
            None => presence::agent_views(&*self.host, &*files, vec![agent]).remove(0),
        };
        if let Some(task) = &task {
            unfinished.push(format!(
                "the task {} in {}",
                text::foreign(&task.key.id, 64),
                text::foreign(&task.key.spec.path, 120)
            ));
        }
        if !changes.is_empty() {
            unfinished.push(format!("{} not committed", text::counted_noun(changes.len(), "file")));
        }
        if !unread.is_empty() {
            unfinished.push(format!("{} not read", text::counted_noun(unread.len(), "message")));
        }
        for hold in holds.iter().filter(|hold| hold.contest.is_some()) {
            unfinished.push(format!("{} is contested", text::foreign(&hold.resource.shown(), 120)));
        }
        let (written, mut read) = (paths(&steps, |step| &step.written), paths(&steps, |step| &step.read));
        read.retain(|path| !written.contains(path));
        let goal = steps.last().and_then(|step| step.prompt.clone());
        Ok(Handoff {
            seen,
            goal,
            trajectory: Trajectory::of(&steps),
            steps,
            task,
            open_tasks,
            holds,
            written,
            read,
            changes,
            messages,
            unfinished,
        })
    }
}

/// Finds in the journal the holds and tasks that were freed when an agent left.
fn freed_on_leaving(tx: &dyn Tx, who: &Actor) -> Result<Vec<String>, StoreError> {
    let request = TailRequest { limit: LOOKED_BACK, ..TailRequest::default() };
    let changes = tx.entries(&request)?.into_iter().flat_map(|entry| entry.changes);
    let one = |kept: KeptChange| match kept.change {
        Change::Claims(ClaimChange::Released { key, why: ReleaseCause::HolderGone })
            if key.holder == *who =>
        {
            Some(format!("it held {}", text::foreign(&key.resource.shown(), 120)))
        }
        Change::Tasks(TaskChange::Freed { key, worker, holder_gone: true }) if worker == *who => {
            let (id, path) = (text::foreign(&key.id, 64), text::foreign(&key.spec.path, 120));
            Some(format!("it had the task {id} of {path}"))
        }
        _ => None,
    };
    Ok(changes.filter_map(one).collect())
}

/// Returns the paths of visits, last first, each once.
fn paths(steps: &[TrailStep], pick: fn(&TrailStep) -> &Vec<FileVisit>) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for visit in steps.iter().rev().flat_map(|step| pick(step).iter().rev()) {
        if !paths.contains(&visit.path) {
            paths.push(visit.path.clone());
        }
    }
    paths
}
