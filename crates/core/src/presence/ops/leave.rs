//! Leaving: asked for, at the end of a session, or found dead.

use std::collections::BTreeMap;

use super::partition_alive;
use crate::App;
use crate::Timestamp;
use crate::app::commit;
use crate::claims;
use crate::convergence;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::presence::Agent;
use crate::presence::LeaveOutcome;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::PresenceError;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::tasks;

impl App {
    /// Ends a session's presence. `Ok(None)` when it was not here.
    pub fn leave(
        &mut self,
        session: &SessionId,
        reason: LeaveReason,
        actor: Actor,
    ) -> Result<Option<LeaveOutcome>, PresenceError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let mut tx = self.engine.write()?;
        let Some((agent, None)) = tx.agent(session)? else {
            return Ok(None);
        };
        let left = PresenceChange::Left { session: session.clone(), reason };
        let changes = vec![Change::Presence(left)];
        Self::let_go(&*self.host, &mut *tx, &agent, &actor, now)?;
        Self::record_all(&*self.host, &mut *tx, &agent, &actor, now, [changes])?;
        let close_predictions =
            convergence::close_predictions(&*files, &mut *tx, &agent, now).unwrap_or_default();
        Self::record_all(&*self.host, &mut *tx, &agent, &Actor::Consort, now, close_predictions)?;
        commit(&*self.host, tx)?;
        Ok(Some(LeaveOutcome { session: session.clone(), name: agent.name }))
    }

    /// Records the leaving of agents that died: once, and per project, so that
    /// each project's news is its own.
    pub(super) fn record_departures(&mut self) -> Result<(), StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let mut tx = self.engine.write()?;
        let (_, dead) = partition_alive(&*self.host, &*files, tx.present()?);
        let mut news: BTreeMap<ProjectId, Vec<Change>> = BTreeMap::new();
        for (agent, reason) in &dead {
            let left = PresenceChange::Left { session: agent.session.clone(), reason: *reason };
            let news = news.entry(agent.project.id.clone()).or_default();
            news.push(Change::Presence(left));
            Self::let_go(&*self.host, &mut *tx, agent, &Actor::Consort, now)?;
        }
        for (project, changes) in &news {
            tx.record(&NewEntry {
                id: EntryId::new(now, self.host.random()),
                at: now,
                project: Some(project.clone()),
                actor: Actor::Consort,
                changes: changes.clone(),
            })?;
        }
        for (agent, _) in &dead {
            let close_predictions =
                convergence::close_predictions(&*files, &mut *tx, agent, now).unwrap_or_default();
            Self::record_all(&*self.host, &mut *tx, agent, &Actor::Consort, now, close_predictions)?;
        }
        commit(&*self.host, tx)
    }

    /// Whoever leaves holds nothing any more. Entries of their own: a task's story
    /// is kept for longer than any agent's.
    fn let_go(
        host: &dyn Host,
        tx: &mut dyn Tx,
        agent: &Agent,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (holds, tasks) = (claims::let_go(tx, &agent.session)?, tasks::let_go(tx, &agent.session)?);
        Self::record_all(host, tx, agent, actor, now, [holds, tasks])
    }

    fn record_all(
        host: &dyn Host,
        tx: &mut dyn Tx,
        agent: &Agent,
        actor: &Actor,
        now: Timestamp,
        entries: impl IntoIterator<Item = Vec<Change>>,
    ) -> Result<(), StoreError> {
        for changes in entries.into_iter().filter(|changes| !changes.is_empty()) {
            tx.record(&NewEntry {
                id: EntryId::new(now, host.random()),
                at: now,
                project: Some(agent.project.id.clone()),
                actor: actor.clone(),
                changes,
            })?;
        }
        Ok(())
    }
}
