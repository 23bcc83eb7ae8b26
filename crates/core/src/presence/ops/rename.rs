//! Presence verb that gives an agent another name.

use super::left_for;
use super::partition_alive;
use crate::App;
use crate::claims;
use crate::journal::Actor;
use crate::presence::PresenceError;
use crate::presence::RenameOutcome;
use crate::presence::SessionId;
use crate::presence::rules;

impl App {
    /// Gives an agent another name.
    pub fn rename(
        &mut self,
        session: &SessionId,
        name: &str,
        actor: Actor,
    ) -> Result<RenameOutcome, PresenceError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.write()?;
        let Some((me, None)) = tx.agent(session)? else {
            return Err(PresenceError::NotRegistered);
        };
        let holder = tx.by_name(name)?.filter(|holder| holder.session != *session);
        if holder
            .clone()
            .is_some_and(|holder| !partition_alive(&*self.host, &*files, vec![holder]).1.is_empty())
        {
            drop(tx);
            self.record_departures()?;
            return self.rename(session, name, actor);
        }
        let (renamed, change) = rules::rename(&me, name, holder.as_ref())?;
        // Letters that wait for gone agents of the new name go to this agent.
        let mut changes = vec![change];
        changes.extend(left_for(&*tx, &renamed)?);
        let label = claims::label(&*self.host, Some(&renamed));
        changes.extend(claims::relabelled(tx.all_holds()?, &me.session, &label));
        Self::conclude(&*self.host, tx, now, Some(me.project.id), actor, changes)?;
        Ok(RenameOutcome { session: session.clone(), from: me.name, to: renamed.name })
    }
}
