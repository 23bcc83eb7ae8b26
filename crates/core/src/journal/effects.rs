//! What follows from a journal entry outside of the tables: mail flags to raise,
//! sessions to end, processes to notify.
//!
//! `record` derives it from the changes, and so does any code that brings entries in.
//! **No verb raises a flag, ends a session's notes or notifies anyone by itself.** What
//! is published for hooks follows from the changes too, where the tables are at hand
//! (`sqlite/src/published_lines.rs`), and digests and the index of what is known when
//! somebody takes the entries in (`knowledge/ops/index.rs`).

use super::Change;
use crate::claims::ClaimChange;
use crate::claims::Strength;
use crate::host::Topic;
use crate::journal::Actor;
use crate::messages::MessageChange;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// A message to more than this many is said to nobody in particular.
const FEW: usize = 3;

/// What is to be done for an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Before the commit: the hooks of these sessions learn that there is mail.
    pub mail: Vec<SessionId>,
    /// The same, if they have any: they have just come.
    pub arrived: Vec<SessionId>,
    /// The same for those who have reserved paths, and hear of what becomes of those.
    pub holders: Vec<SessionId>,
    /// These have dealt with each other, and hear of each other's departure.
    pub met: Vec<(SessionId, SessionId)>,
    /// What this project knows has changed: what its sessions are told at their start is behind.
    pub learned: Option<ProjectId>,
    /// After the commit: the others in these projects look who has come.
    pub came: Vec<(ProjectId, SessionId)>,
    /// These sessions are over, and what is kept beside the database for them goes.
    pub ended: Vec<SessionId>,
    /// After that: who waits for any of these is notified.
    pub topics: Vec<Topic>,
}

impl Effects {
    /// What follows from these changes of one entry.
    pub fn of(project: Option<&ProjectId>, changes: &[Change]) -> Self {
        let mut effects =
            Self { topics: project.cloned().map(Topic::Project).into_iter().collect(), ..Self::default() };
        changes.iter().for_each(|change| effects.add(project, change));
        effects
    }

    fn add(&mut self, project: Option<&ProjectId>, change: &Change) {
        match change {
            Change::Messages(MessageChange::Sent(sent)) => {
                sent.to.iter().for_each(|to| self.tell(&to.who, true));
                if sent.to.len() <= FEW {
                    sent.to.iter().for_each(|to| self.meet(&sent.from.who, &to.who));
                }
            }
            Change::Claims(ClaimChange::Contested { key, contest }) => self.meet(&contest.by, &key.holder),
            Change::Messages(MessageChange::Inherited { to, .. }) => self.tell(to, true),
            Change::Messages(MessageChange::Delivered { to, .. } | MessageChange::Read { to, .. }) => {
                self.tell(to, false);
            }
            Change::Claims(ClaimChange::Held(hold))
                if hold.strength == Strength::Blocking && hold.resource.pattern().is_some() =>
            {
                self.holders.extend(hold.holder.session().cloned());
            }
            Change::Presence(PresenceChange::Joined(agent)) => {
                self.arrived.push(agent.session.clone());
                self.came.push((agent.project.id.clone(), agent.session.clone()));
            }
            Change::Knowledge(_) => self.learned = project.cloned(),
            Change::Presence(PresenceChange::Left { session, .. }) => self.ended.push(session.clone()),
            _ => {}
        }
        // What belongs to no project concerns everyone, unless it is somebody's mail.
        if project.is_none() && !matches!(change, Change::Messages(_)) {
            self.topics.push(Topic::Everyone);
        }
    }

    fn meet(&mut self, one: &Actor, other: &Actor) {
        self.met.extend(one.session().cloned().zip(other.session().cloned()));
    }

    fn tell(&mut self, mailbox: &Actor, has_mail: bool) {
        self.topics.push(Topic::Mailbox(mailbox.clone()));
        if has_mail {
            self.mail.extend(mailbox.session().cloned());
        }
    }
}
