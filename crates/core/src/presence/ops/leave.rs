//! Leaving: asked for, at the end of a session, or found dead.

use std::collections::BTreeMap;

use super::sort_out_the_dead;
use crate::App;
use crate::Timestamp;
use crate::claims;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx as _;
use crate::host::Host;
use crate::host::Topic;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::JournalStore as _;
use crate::journal::NewEntry;
use crate::messages::MessageStore as _;
use crate::presence::Agent;
use crate::presence::LeaveOutcome;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::PresenceError;
use crate::presence::PresenceStore as _;
use crate::presence::PulseStore as _;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::tasks;

impl<E: Engine, H: Host> App<E, H> {
    /// Ends a session's presence. `Ok(None)` when it was not here.
    pub fn leave(
        &mut self,
        session: &SessionId,
        reason: LeaveReason,
        actor: Actor,
    ) -> Result<Option<LeaveOutcome>, PresenceError> {
        let now = self.host.now();
        let mut tx = self.engine.write()?;
        let Some((agent, None)) = tx.agent(session)? else {
            return Ok(None);
        };
        tx.clear_notes(session);
        let left = PresenceChange::Left { session: session.clone(), reason };
        let changes = vec![Change::Presence(left)];
        Self::let_go(&self.host, &mut tx, &agent, &actor, now)?;
        Self::conclude(&self.host, tx, now, Some(agent.project.id), actor, changes)?;
        self.engine.pulses().end_pulse(session)?;
        Ok(Some(LeaveOutcome { session: session.clone(), name: agent.name }))
    }

    /// Records the leaving of agents that died: once, and per project, so that
    /// each project's news is its own.
    pub(super) fn bury(&mut self) -> Result<(), StoreError> {
        let now = self.host.now();
        let pulses = self.engine.pulses();
        let mut tx = self.engine.write()?;
        let (_, dead) = sort_out_the_dead(&self.host, &pulses, tx.present()?);
        let mut news: BTreeMap<ProjectId, Vec<Change>> = BTreeMap::new();
        for (agent, reason) in &dead {
            tx.clear_notes(&agent.session);
            let left = PresenceChange::Left { session: agent.session.clone(), reason: *reason };
            let news = news.entry(agent.project.id.clone()).or_default();
            news.push(Change::Presence(left));
            Self::let_go(&self.host, &mut tx, agent, &Actor::Consort, now)?;
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
        tx.commit()?;
        self.host.ring(&news.into_keys().map(Topic::Project).collect::<Vec<_>>());
        dead.iter().try_for_each(|(agent, _)| pulses.end_pulse(&agent.session))
    }

    /// Whoever leaves holds nothing any more. Entries of their own: a task's story
    /// is kept for longer than any agent's.
    fn let_go(
        host: &H,
        tx: &mut E::Tx<'_>,
        agent: &Agent,
        actor: &Actor,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (holds, tasks) = (claims::let_go(tx, &agent.session)?, tasks::let_go(tx, &agent.session)?);
        for changes in [holds, tasks].into_iter().filter(|changes| !changes.is_empty()) {
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
