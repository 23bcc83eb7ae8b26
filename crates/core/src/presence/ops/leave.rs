//! Presence verbs by which an agent leaves: on request, at the end of its session, or
//! because its process is found dead.

use std::collections::BTreeSet;

use super::belongings;
use super::partition_alive;
use crate::App;
use crate::Timestamp;
use crate::convergence;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::presence::Agent;
use crate::presence::LeaveOutcome;
use crate::presence::LeaveReason;
use crate::presence::PresenceError;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

impl App {
    /// Records that a session leaves. Returns `Ok(None)` if the session was not present.
    pub fn leave(
        &mut self,
        session: &SessionId,
        reason: LeaveReason,
        actor: Actor,
    ) -> Result<Option<LeaveOutcome>, PresenceError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let tx = self.engine.write()?;
        let Some((agent, None)) = tx.agent(session)? else {
            return Ok(None);
        };
        let changes = departure(&*files, &*tx, &[(&agent, reason)], now)?;
        Self::conclude(&*self.host, tx, now, Some(agent.project.id), actor, changes)?;
        Ok(Some(LeaveOutcome { session: session.clone(), name: agent.name }))
    }

    /// Records that agents that died have left: once for each agent, in one entry for each project.
    pub(super) fn record_departures(&mut self) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        let (_, dead) = partition_alive(&*self.host, &*files, self.engine.read()?.present()?);
        let projects: BTreeSet<ProjectId> = dead.into_iter().map(|(agent, _)| agent.project.id).collect();
        projects.into_iter().try_for_each(|project| self.record_departures_of(project))
    }

    fn record_departures_of(&mut self, project: ProjectId) -> Result<(), StoreError> {
        let (now, files) = (self.host.now(), self.engine.side_files());
        let tx = self.engine.write()?;
        let mut present = tx.present()?;
        present.retain(|agent| agent.project.id == project);
        let (_, dead) = partition_alive(&*self.host, &*files, present);
        let dead: Vec<(&Agent, LeaveReason)> = dead.iter().map(|(agent, reason)| (agent, *reason)).collect();
        let changes = departure(&*files, &*tx, &dead, now)?;
        Self::conclude(&*self.host, tx, now, Some(project), Actor::Consort, changes).map(drop)
    }
}

/// Returns the changes by which agents of one project leave: their holds and tasks are freed, and predictions
/// about them are closed.
fn departure(
    files: &dyn SideFiles,
    tx: &dyn Tx,
    leaving: &[(&Agent, LeaveReason)],
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let mut changes = Vec::new();
    for (agent, reason) in leaving {
        changes.extend(belongings(tx, &agent.session)?.freed(*reason));
    }
    let leaving: Vec<&Agent> = leaving.iter().map(|(agent, _)| *agent).collect();
    // A failure to close predictions must not keep an agent from leaving.
    changes.extend(convergence::close_predictions(files, tx, &leaving, now).unwrap_or_default());
    Ok(changes)
}
