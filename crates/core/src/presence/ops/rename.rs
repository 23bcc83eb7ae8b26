//! Presence verb that gives an agent another name.

use super::partition_alive;
use crate::App;
use crate::claims;
use crate::journal::Actor;
use crate::journal::Change;
use crate::messages;
use crate::presence::Agent;
use crate::presence::NameWish;
use crate::presence::PresenceChange;
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
        if me.name.as_str() == name {
            return Err(PresenceError::SameName { name: me.name });
        }
        let holder = tx.by_name(name)?.filter(|holder| holder.session != *session);
        if holder
            .clone()
            .is_some_and(|holder| !partition_alive(&*self.host, &*files, vec![holder]).1.is_empty())
        {
            drop(tx);
            self.record_departures()?;
            return self.rename(session, name, actor);
        }
        let taken: Vec<&str> = holder.iter().map(|holder| holder.name.as_str()).collect();
        let to = rules::settle_name(&NameWish::Insist(name.to_owned()), None, 0, &taken)?;
        let renamed = PresenceChange::Renamed {
            session: session.clone(),
            from: me.name.clone(),
            name: to.clone().into(),
        };
        let mut changes = vec![Change::Presence(renamed)];
        // What waited for the last one of that name is its own now.
        let renamed = Agent { name: to.clone().into(), ..me.clone() };
        changes.extend(messages::bequeath(&*tx, &renamed, true)?);
        changes.extend(claims::relabel(&*self.host, &*tx, &renamed)?);
        Self::conclude(&*self.host, tx, now, Some(me.project.id), actor, changes)?;
        Ok(RenameOutcome { session: session.clone(), from: me.name, to: to.into() })
    }
}
