//! Presence verbs that note an agent's activity, as its hooks and calls report it.

use crate::App;
use crate::engine::StoreError;
use crate::presence::ActivityOutcome;
use crate::presence::ActivityUpdate;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::LeaveReason;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::presence::Subagent;

impl App {
    /// Notes an agent's activity. This is the hot path: it runs with every tool call, so it opens no database
    /// unless the session is unknown.
    pub fn note_activity(
        &mut self,
        session: &SessionId,
        update: &ActivityUpdate,
    ) -> Result<ActivityOutcome, StoreError> {
        if self.engine.side_files().note_activity(session, self.host.now(), update)? {
            return Ok(ActivityOutcome::Noted);
        }
        Ok(match self.engine.read()?.agent(session)? {
            Some((_, Some(LeaveReason::Asked))) => ActivityOutcome::Dormant,
            _ => ActivityOutcome::Stranger,
        })
    }

    /// Notes that the caller has made a call, if the caller is an agent.
    pub fn note_caller(&mut self, facts: &CallerFacts) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        // The process may host other sessions too: then a hint tells which session this is.
        let is_meant = |session: &SessionId| {
            facts.hints.is_empty() || facts.hints.iter().any(|hint| session.has_cli_id(hint))
        };
        // While the session works, its hooks report its activity, and the store need not be opened.
        if let Some(session) = &facts.hosted
            && is_meant(session)
            && files.activity(session).is_some_and(|activity| activity.status != Status::Idle)
        {
            return Ok(());
        }
        match self.caller(facts)? {
            Caller::Agent(agent) => self.note_idle_call(&agent.session),
            Caller::Person | Caller::Anonymous(_) => Ok(()),
        }
    }

    /// Notes that an idle agent has made a call. An agent that its hooks report as busy is left as it is.
    pub fn note_idle_call(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        if files.activity(session).is_none_or(|activity| activity.status == Status::Idle) {
            files.note_activity(session, self.host.now(), &ActivityUpdate::of(Status::Idle))?;
        }
        Ok(())
    }

    /// Notes that a subagent of a session has begun.
    pub fn subagent_started(&mut self, session: &SessionId, id: &str, kind: &str) -> Result<(), StoreError> {
        let started_at = self.host.now();
        let subagent = Subagent { id: id.into(), kind: kind.into(), started_at };
        self.engine.side_files().note_subagent(session, &subagent)
    }

    /// Notes that a subagent of a session has ended.
    pub fn subagent_stopped(&mut self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        self.engine.side_files().end_subagent(session, id)
    }
}
