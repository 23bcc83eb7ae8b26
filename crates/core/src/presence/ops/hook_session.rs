//! Presence verbs for the session that a hook speaks for: find it, refuse impersonation, keep texts for it.

use crate::App;
use crate::engine::StoreError;
use crate::host::Host;
use crate::host::Process;
use crate::presence::SessionId;

impl App {
    /// Returns the session that a hook call in the name of `session` belongs to. **A session belongs to the
    /// process that hosts it**: if that process lives and is not above the caller, the call belongs to a
    /// second life of the session, which inherits nothing from the first. If that second life has no hosting
    /// process, returns `None`.
    pub fn session_of_hook(
        &mut self,
        session: &SessionId,
        hosting: &dyn Fn(&dyn Host) -> Option<Process>,
    ) -> Result<Option<SessionId>, StoreError> {
        let noted = self.engine.side_files().host_of(session);
        let hosted = match noted {
            Some(hosted) => Some(hosted),
            // The session was never seen, or its record beside the database was lost.
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
            // The session goes on in another process.
            false => Some(session.clone()),
        })
    }

    /// Returns whether a session has not been told `what` yet, and records that it now has.
    pub fn note_told(&mut self, session: &SessionId, what: &str) -> bool {
        !self.engine.side_files().note_notified(session, what)
    }

    /// Keeps a text to show to a session at its next prompt.
    pub fn keep_text_for_prompt(&mut self, session: &SessionId, text: &str) {
        self.engine.side_files().keep_text_for_prompt(session, text);
    }

    /// Returns and removes the text that was kept for a session.
    pub fn take_kept_texts(&mut self, session: &SessionId) -> Option<String> {
        self.engine.side_files().take_kept_texts(session)
    }
}
