//! Policy verbs that answer a question of an agent, and close it.

use crate::App;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::policy::AskAnswer;
use crate::policy::AskKind;
use crate::policy::AskRecord;
use crate::policy::DecidedBy;
use crate::policy::PolicyChange;
use crate::policy::PolicyError;
use crate::presence;
use crate::presence::ActivityUpdate;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::Status;

impl App {
    /// Returns the questions that can be answered: they have no answer, and the process that would
    /// take it to the agent is alive.
    pub fn open_asks(&mut self) -> Result<Vec<AskRecord>, StoreError> {
        let mut asks = self.engine.read()?.asks()?;
        asks.retain(|record| record.answer.is_none() && has_holder(&*self.host, record));
        Ok(asks)
    }

    /// Returns a question as it is now; `None` once it is closed.
    pub fn ask_record(&mut self, id: ChangeId) -> Result<Option<AskRecord>, StoreError> {
        self.engine.read()?.ask_of(id)
    }

    /// Answers a question, once. **A permission and a plan are the person's alone**; an agent may
    /// answer the other questions of an agent that it has opened.
    pub fn answer_ask(
        &mut self,
        caller: &CallerFacts,
        id: ChangeId,
        answer: AskAnswer,
    ) -> Result<(), PolicyError> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let tx = self.engine.write()?;
        let who = presence::who_calls(&*self.host, &*files, &*tx, caller)?;
        let record =
            tx.ask_of(id)?.filter(|record| record.answer.is_none() && has_holder(&*self.host, record));
        let Some(record) = record else {
            return Err(PolicyError::AlreadyAnswered { name: "it".into() });
        };
        let (by, actor) = match &who {
            Caller::Agent(agent)
                if record.ask.kind == AskKind::Question && has_opened(&*tx, &agent.session, &record)? =>
            {
                (DecidedBy::Opener, Actor::Agent(agent.session.clone()))
            }
            _ => {
                presence::require_person(&who)?;
                (DecidedBy::Person, Actor::Person)
            }
        };
        let changes = vec![Change::Policy(PolicyChange::Answered { ask: id, answer, by })];
        Self::conclude(&*self.host, tx, now, record.project, actor, changes)?;
        Ok(())
    }

    /// Records that the answer to a question has reached its agent.
    pub fn close_answered(&mut self, id: ChangeId) -> Result<(), StoreError> {
        self.close(id, true).map(drop)
    }

    /// Records that nobody waits for an answer any more, unless there is an answer by now: then
    /// returns that.
    pub fn close_unanswered(&mut self, id: ChangeId) -> Result<Option<AskAnswer>, StoreError> {
        self.close(id, false)
    }

    fn close(&mut self, id: ChangeId, was_answered: bool) -> Result<Option<AskAnswer>, StoreError> {
        let now = self.host.now();
        let tx = self.engine.write()?;
        let Some(record) = tx.ask_of(id)? else { return Ok(None) };
        if let Some((answer, _)) = record.answer.filter(|_| !was_answered) {
            return Ok(Some(answer));
        }
        let others = tx.asks()?.into_iter().filter(|other| other.id != id).collect();
        let mut changes = vec![Change::Policy(PolicyChange::Closed { ask: id, was_answered })];
        changes.extend(close_lost(&*self.host, others));
        Self::conclude(&*self.host, tx, now, record.project, Actor::Consort, changes)?;
        // The agent goes on, and its next hook may be a while.
        let files = self.engine.side_files();
        let waits = files.activity(&record.ask.session).is_some_and(|seen| seen.status == Status::Waiting);
        if was_answered && waits {
            files.note_activity(&record.ask.session, now, &ActivityUpdate::of(Status::Working))?;
        }
        Ok(None)
    }

    /// Tells whether the process that would take an answer to the agent is alive.
    pub fn is_awaited(&self, record: &AskRecord) -> bool {
        has_holder(&*self.host, record)
    }
}

/// Closes those of these questions whose holder was killed.
pub(super) fn close_lost(host: &dyn Host, asks: Vec<AskRecord>) -> impl Iterator<Item = Change> {
    let lost = asks.into_iter().filter(|record| !has_holder(host, record));
    lost.map(|record| Change::Policy(PolicyChange::Closed { ask: record.id, was_answered: false }))
}

fn has_holder(host: &dyn Host, record: &AskRecord) -> bool {
    record.ask.holder.as_ref().is_some_and(|holder| match host.is_here(&holder.machine) {
        true => host.is_alive(&holder.process),
        false => host.is_alive_elsewhere(&holder.machine, &holder.process).unwrap_or(true),
    })
}

/// Tells whether an agent has opened the agent that asks.
fn has_opened(tx: &dyn Tx, opener: &presence::SessionId, record: &AskRecord) -> Result<bool, StoreError> {
    let Some((asking, _)) = tx.agent(&record.ask.session)? else { return Ok(false) };
    let opened = tx.panes()?.into_iter().filter_map(|pane| pane.opened);
    Ok(opened
        .filter(|opened| opened.by == Actor::Agent(opener.clone()))
        .any(|opened| opened.place.hosts(&asking)))
}
