//! Pure rules for a session's holds, task and unread letters when the session ends or has a successor. No
//! store, no clock, no machine.

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

/// The holds, task and unread letters of a session.
#[derive(Clone, Debug)]
pub(super) struct Belongings {
    pub(super) owner: SessionId,
    pub(super) holds: Vec<Hold>,
    pub(super) task: Option<TaskRecord>,
    pub(super) unread: Vec<ChangeId>,
}

impl Belongings {
    /// Returns the changes when the owner leaves: its holds and its task are freed.
    pub(super) fn freed(&self, reason: LeaveReason) -> Vec<Change> {
        let mut changes = claims::freed(&self.holds);
        changes.extend(self.task.as_ref().map(tasks::left_behind));
        changes.push(left(&self.owner, reason));
        changes
    }

    /// Returns the changes when the session `by` takes the owner's place. `label` is its name as a holder.
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
