//! Presence verbs that find the session which a new one replaces in the same process, after `/clear`, `/new`,
//! a resume or a fork.

use crate::App;
use crate::engine::StoreError;
use crate::host::Process;
use crate::presence::ActivityUpdate;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::presence::Status;

/// Activity of a session whose CLI has announced that another session replaces it.
const BEING_REPLACED: &str = "being replaced";

impl App {
    /// Notes that another session of the same process is about to replace this one.
    pub fn note_replacement(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let update =
            ActivityUpdate { doing: Some(BEING_REPLACED.into()), ..ActivityUpdate::of(Status::Idle) };
        self.note_activity(session, &update).map(drop)
    }

    /// Finds the session in a process that a new session replaces: the session that was announced as being
    /// replaced, else the only session of that process.
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
