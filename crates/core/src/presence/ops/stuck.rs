//! Presence verb that notifies agents that are stuck, and agents that wait for stuck ones.

use std::cell::LazyCell;

use super::partition_alive;
use crate::App;
use crate::Timestamp;
use crate::claims::SessionWait;
use crate::engine::StoreError;
use crate::host::Host;
use crate::journal::Actor;
use crate::messages;
use crate::messages::MessageType;
use crate::messages::Priority;
use crate::presence::Agent;
use crate::presence::wording;
use crate::side_files::SideFiles;

/// A notice to send.
struct StuckNotice {
    to: Agent,
    text: String,
    /// The key under which the notice is remembered as sent.
    mark: String,
}

impl App {
    /// Notifies agents that have been idle for long although they have a task, and agents that contest or
    /// wait for the holds of idle agents: once for each idle period. Returns the number of notices.
    pub fn tell_of_stuck(&mut self) -> Result<usize, StoreError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.read()?;
        let (alive, _) = partition_alive(&*self.host, &*files, tx.present()?);
        let mut idle: Vec<(&Agent, Timestamp)> = Vec::new();
        for agent in &alive {
            let heard = files.activity(&agent.session).filter(|heard| heard.is_idle_for_long(now));
            idle.extend(heard.map(|heard| (agent, heard.last_active)));
        }
        if idle.is_empty() {
            return Ok(0);
        }
        let (holders, workers) = (tx.holders()?, tx.workers()?);
        let mut told = Vec::new();
        let waiters = LazyCell::new(|| waiters(&*self.host, &*files, &alive));
        for (agent, last_active) in idle {
            let idle = now.since(last_active);
            let mark = format!("stuck {} {}", agent.session, last_active.0);
            let mut tell = |to: &Agent, text: String| {
                told.push(StuckNotice { to: to.clone(), text, mark: mark.clone() })
            };
            let me = Actor::Agent(agent.session.clone());
            if workers.contains(&me)
                && let Some(task) = tx.task_of(&agent.session)?
            {
                tell(agent, wording::stuck_on_task(&task.key, idle));
            }
            // Nobody waits for an agent that holds nothing.
            let Some(is_contested) = holders.get(&me) else { continue };
            let holds = if *is_contested { tx.holds_of(&me)? } else { Vec::new() };
            for hold in holds {
                let Some(contest) = &hold.contest else { continue };
                let asker = alive.iter().find(|other| Actor::Agent(other.session.clone()) == contest.by);
                if let Some(asker) = asker {
                    let left = contest.until.since(now);
                    tell(asker, wording::stuck_on_contested(agent, &hold.resource.shown(), idle, left));
                }
            }
            for (waiter, waiting) in
                waiters.iter().filter(|(_, waits)| waits.holders.contains(&agent.session))
            {
                tell(waiter, wording::stuck_on_awaited(agent, &waiting.what, idle));
            }
        }
        drop(tx);
        told.retain(|told| !files.was_notified(&told.to.session, &told.mark));
        for StuckNotice { to, text, mark } in &told {
            let change = messages::notice(&[to], MessageType::Info, Priority::High, text.clone());
            let tx = self.engine.write()?;
            Self::conclude(&*self.host, tx, now, Some(to.project.id.clone()), Actor::Consort, vec![change])?;
            files.note_notified(&to.session, mark);
        }
        Ok(told.len())
    }
}

/// Returns the agents that wait for others, and what they wait for. Each agent's log is read only once, for
/// all later questions.
pub(super) fn waiters<'a>(
    host: &dyn Host,
    files: &dyn SideFiles,
    agents: &'a [Agent],
) -> Vec<(&'a Agent, SessionWait)> {
    let waits = |agent: &'a Agent| {
        let waiting = files.session_wait(&agent.session)?;
        host.is_alive(&waiting.process).then_some((agent, waiting))
    };
    agents.iter().filter_map(waits).collect()
}
