//! Presence verb for a session that replaces another in the same process, after
//! `/clear`, `/new`, a resume or a fork: it inherits all that was the other's.

use crate::App;
use crate::Timestamp;
use crate::claims;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::Process;
use crate::journal::Change;
use crate::messages;
use crate::presence::ActivityUpdate;
use crate::presence::Agent;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::tasks;

/// What a session does whose CLI has announced another one in its place.
const BEING_REPLACED: &str = "being replaced";

impl App {
    /// Notes that another session of its process is about to take its place.
    pub fn note_replacement(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let update =
            ActivityUpdate { doing: Some(BEING_REPLACED.into()), ..ActivityUpdate::of(Status::Idle) };
        self.note_activity(session, &update).map(drop)
    }

    /// The session in that process whose place a new one takes: the one that was
    /// announced, or the only one there is.
    pub fn predecessor(
        &mut self,
        kind: &str,
        process: &Process,
        successor: &SessionId,
    ) -> Result<Option<SessionId>, StoreError> {
        let files = self.engine.side_files();
        let mut there = self.engine.read()?.present()?;
        there.retain(|agent| {
            agent.kind == kind && agent.location.process.is(process) && agent.session != *successor
        });
        let is_announced = |agent: &&Agent| {
            let activity = files.activity(&agent.session);
            activity.is_some_and(|activity| activity.doing.as_deref() == Some(BEING_REPLACED))
        };
        let announced = there.iter().find(is_announced).or(match there.as_slice() {
            [only] => Some(only),
            _ => None,
        });
        Ok(announced.map(|agent| agent.session.clone()))
    }
}

/// What it takes for one session to have all that was another's.
pub(super) fn succeed(
    host: &dyn Host,
    tx: &dyn Tx,
    from: &Agent,
    to: &Agent,
    now: Timestamp,
) -> Result<Vec<Change>, StoreError> {
    let mut changes = claims::transfer(host, tx, &from.session, to)?;
    changes.extend(tasks::transfer(tx, &from.session, to, now)?);
    changes.extend(messages::transfer(tx, &from.session, &to.session)?);
    let left = PresenceChange::Left { session: from.session.clone(), reason: LeaveReason::Replaced };
    changes.push(Change::Presence(left));
    Ok(changes)
}
