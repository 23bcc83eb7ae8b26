//! Presence verb that finds the agent whose session a hook speaks for, and refuses
//! impersonation.

use crate::App;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::Process;
use crate::presence::SessionId;

impl App {
    /// The session that a call in its name belongs to. **A session belongs to the
    /// process that hosts it**: if that process lives and is not above the caller,
    /// the call is of a second life of the session, which has nothing of the first.
    /// Without a hosting process of its own it is nobody's.
    pub fn session_of_hook(
        &mut self,
        session: &SessionId,
        hosting: &dyn Fn(&dyn Host) -> Option<Process>,
    ) -> Result<Option<SessionId>, StoreError> {
        let noted = self.engine.side_files().host_of(session);
        let hosted = match noted {
            Some(hosted) => Some(hosted),
            // Never seen, or its note was lost.
            None => match self.engine.read()?.agent(session)? {
                Some((agent, None)) => Some((agent.location.machine, agent.location.process)),
                _ => None,
            },
        };
        let Some((place, process)) = hosted else { return Ok(Some(session.clone())) };
        if self.host.is_ancestor(&process) {
            return Ok(Some(session.clone()));
        }
        let lives = match self.host.is_here(&place) {
            true => self.host.is_alive(&process),
            false => self.host.is_alive_elsewhere(&place, &process).unwrap_or(true),
        };
        Ok(match lives {
            true => hosting(&*self.host).map(|process| session.second_life(&process)),
            // It goes on in another process.
            false => Some(session.clone()),
        })
    }

    /// Whether a session has not been told that; it has from now on.
    pub fn tell_once(&mut self, session: &SessionId, what: &str) -> bool {
        !self.engine.side_files().notified_before(session, what)
    }

    /// Keeps something to say to a session for its next prompt.
    pub fn keep_for_later(&mut self, session: &SessionId, text: &str) {
        self.engine.side_files().keep_for_later(session, text);
    }

    /// What was kept for it, once.
    pub fn take_kept(&mut self, session: &SessionId) -> Option<String> {
        self.engine.side_files().take_kept(session)
    }
}
