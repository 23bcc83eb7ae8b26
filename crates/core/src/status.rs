//! The verb `status`, a project at a glance from all rooms: the caller, the agents present, the
//! holds, unread messages.

use serde::Serialize;

use crate::App;
use crate::claims::HoldsSummary;
use crate::journal::Actor;
use crate::journal::Seq;
use crate::presence::Agent;
use crate::presence::Caller;
use crate::presence::CallerFacts;
use crate::presence::Observed;
use crate::presence::PresenceError;
use crate::presence::WhoOutcome;
use crate::presence::WhoScope;
use crate::project::Project;
use crate::tasks::TaskRecord;

/// Most holds that a status shows.
const SHOWN: usize = 4;

/// The status of a project, as the caller sees it.
#[derive(Serialize)]
pub struct StatusOutcome {
    pub you: Caller,
    pub project: Project,
    /// The number of messages that the caller has not read.
    pub unread: usize,
    /// The task that the caller has claimed.
    pub task: Option<TaskRecord>,
    pub here: WhoOutcome,
    /// The number of holds in this project, and the first of them.
    pub held: HoldsSummary,
    pub entries: Seq,
}

impl App {
    /// Gathers the status of a project, as the caller sees it.
    pub fn status(
        &mut self,
        caller: &CallerFacts,
        project: &Project,
        look: impl FnOnce(&[Agent]) -> Vec<Observed>,
    ) -> Result<StatusOutcome, PresenceError> {
        let you = self.caller(caller)?;
        let (session, mailbox) = match &you {
            Caller::Agent(agent) => (Some(agent.session.clone()), Some(Actor::Agent(agent.session.clone()))),
            Caller::Person => (None, Some(Actor::Person)),
            Caller::Anonymous(_) => (None, None),
        };
        Ok(StatusOutcome {
            unread: mailbox.map_or(Ok(0), |mailbox| self.unread_count(&mailbox))?,
            task: session.as_ref().map(|session| self.claimed_task(session)).transpose()?.flatten(),
            here: self.who(&WhoScope::Project(project.clone()), session.as_ref(), look)?,
            held: self.holds_summary(caller, &project.id, SHOWN)?,
            entries: self.journal_last_seq()?,
            project: project.clone(),
            you,
        })
    }
}
