//! Presence verbs that note what an agent is doing, as its hooks tell it.

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
    /// Notes what an agent does. The hot path: it comes with every tool call,
    /// so it opens no database unless the session is not known.
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

    /// Notes that the caller has called, if it is an agent.
    pub fn note_caller(&mut self, facts: &CallerFacts) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        // Its process may host other sessions too: then a hint tells which one this is.
        let is_meant = |session: &SessionId| {
            facts.hints.is_empty() || facts.hints.iter().any(|hint| session.has_cli_id(hint))
        };
        // While it works, its hooks tell what it does, and the store need not be opened.
        if let Some(session) = &facts.hosted
            && is_meant(session)
            && files.activity(session).is_some_and(|activity| activity.status != Status::Idle)
        {
            return Ok(());
        }
        match self.caller(facts)? {
            Caller::Agent(agent) => self.note_call(&agent.session),
            Caller::Person | Caller::Anonymous(_) => Ok(()),
        }
    }

    /// Notes that an agent has called. Where hooks tell what it does, they know
    /// better: then it is at work.
    pub fn note_call(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let files = self.engine.side_files();
        if files.activity(session).is_none_or(|activity| activity.status == Status::Idle) {
            files.note_activity(session, self.host.now(), &ActivityUpdate::of(Status::Idle))?;
        }
        Ok(())
    }

    /// A subagent of a session has begun.
    pub fn subagent_started(&mut self, session: &SessionId, id: &str, kind: &str) -> Result<(), StoreError> {
        let started_at = self.host.now();
        let subagent = Subagent { id: id.into(), kind: kind.into(), started_at };
        self.engine.side_files().note_subagent(session, &subagent)
    }

    /// A subagent of a session has ended.
    pub fn subagent_stopped(&mut self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        self.engine.side_files().end_subagent(session, id)
    }
}
