//! Pure rules of what belongs to a session in the other rooms, and what becomes of it when
//! the session ends, is renamed or has a successor. No store, no clock, no machine.

use crate::Timestamp;
use crate::claims;
use crate::claims::Hold;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::messages;
use crate::presence::Agent;
use crate::presence::LeaveReason;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::tasks;
use crate::tasks::TaskRecord;

/// What a session has, as the store knows it.
#[derive(Clone, Debug)]
pub(super) struct Belongings {
    pub(super) owner: SessionId,
    pub(super) holds: Vec<Hold>,
    pub(super) task: Option<TaskRecord>,
    pub(super) unread: Vec<ChangeId>,
}

impl Belongings {
    /// The owner leaves: what it holds and works on is free.
    pub(super) fn freed(&self, reason: LeaveReason) -> Vec<Change> {
        let mut changes = claims::freed(&self.holds);
        changes.extend(self.task.as_ref().map(tasks::left_behind));
        changes.push(left(&self.owner, reason));
        changes
    }

    /// Another session takes the owner's place. `label` is what it is called as a holder.
    pub(super) fn taken_over(self, by: &Agent, label: &str, now: Timestamp) -> Vec<Change> {
        let mut changes = claims::taken_over(self.holds, &by.session, label);
        changes.extend(self.task.into_iter().flat_map(|task| tasks::taken_over(task, by, now)));
        let [from, to] = [&self.owner, &by.session].map(|session| Actor::Agent(session.clone()));
        changes.extend(messages::inherited(from, to, self.unread));
        changes.push(left(&self.owner, LeaveReason::Replaced));
        changes
    }
}

fn left(session: &SessionId, reason: LeaveReason) -> Change {
    Change::Presence(PresenceChange::Left { session: session.clone(), reason })
}
