//! Derives the effects of a journal entry outside of the tables: mail flags to raise, sessions to
//! end, processes to notify.
//!
//! `record` derives them from the changes, and so does any code that brings entries in. **No verb
//! raises a flag, ends a session's notes or notifies anyone by itself.** The published lines
//! follow from the changes too, where the tables are at hand (`sqlite/src/published_lines.rs`);
//! so do digests and the index of the knowledge, when a reader takes the entries in
//! (`knowledge/ops/index.rs`).

use super::Change;
use crate::claims::ClaimChange;
use crate::claims::Strength;
use crate::host::NewsTopic;
use crate::journal::Actor;
use crate::messages::MessageChange;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// Most recipients of a message that still counts as personal, so that sender and recipient have met.
const FEW: usize = 3;

/// The effects of an entry outside of the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Sessions whose mail flag is raised before the commit, so that their hooks learn of mail.
    pub mail: Vec<SessionId>,
    /// Sessions that have joined: their mail flag is raised before the commit, if they have mail; after it,
    /// everyone looks who has come, unless they were present before.
    pub arrived: Vec<SessionId>,
    /// Sessions that have reserved paths: noted as holders before the commit, so that they are
    /// told of changes to those paths.
    pub holders: Vec<SessionId>,
    /// Pairs of sessions that have dealt with each other: each hears of the other's departure.
    pub met: Vec<(SessionId, SessionId)>,
    /// The project whose knowledge has changed: the digest for its starting sessions is out of date.
    pub learned: Option<ProjectId>,
    /// Sessions that are over: after the commit, their notes beside the database are removed.
    pub ended: Vec<SessionId>,
    /// Topics whose waiting processes are notified last.
    pub topics: Vec<NewsTopic>,
}

impl Effects {
    /// Derives the effects of the changes of one entry.
    pub fn of(project: Option<&ProjectId>, changes: &[Change]) -> Self {
        let mut effects = Self {
            topics: project.cloned().map(NewsTopic::Project).into_iter().collect(),
            ..Self::default()
        };
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
            Change::Presence(PresenceChange::Joined(agent)) => self.arrived.push(agent.session.clone()),
            Change::Knowledge(_) => self.learned = project.cloned(),
            Change::Presence(PresenceChange::Left { session, .. }) => self.ended.push(session.clone()),
            _ => {}
        }
        // A change of no project concerns everyone, unless it is somebody's mail.
        if project.is_none() && !matches!(change, Change::Messages(_)) {
            self.topics.push(NewsTopic::Everyone);
        }
    }

    fn meet(&mut self, one: &Actor, other: &Actor) {
        self.met.extend(one.session().cloned().zip(other.session().cloned()));
    }

    fn tell(&mut self, mailbox: &Actor, has_mail: bool) {
        self.topics.push(NewsTopic::Mailbox(mailbox.clone()));
        if has_mail {
            self.mail.extend(mailbox.session().cloned());
        }
    }
}
