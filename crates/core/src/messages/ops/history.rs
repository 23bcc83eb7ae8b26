//! Messages verbs that read past messages: sent and received ones with receipts, threads, conversations,
//! unanswered questions.

use super::LOOKED_THROUGH;
use super::name_of;
use super::name_projects;
use crate::App;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::messages::LONGEST_PROJECT;
use crate::messages::Message;
use crate::messages::MessageError;
use crate::messages::MessageName;
use crate::messages::MessageRefusal;
use crate::messages::SentMessage;
use crate::messages::rules;
use crate::project::ProjectId;
use crate::text;

impl App {
    /// Returns the last messages of a sender, with their receipts.
    pub fn sent(&mut self, from: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let tx = self.engine.read()?;
        named(&*tx, tx.sent_by(from, Timestamp(0), limit)?)
    }

    /// Returns the last messages to a mailbox, read or not; marks nothing as read.
    pub fn received(&mut self, mailbox: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let tx = self.engine.read()?;
        named(&*tx, tx.received(mailbox, Timestamp(0), limit)?)
    }

    /// Returns the questions of present agents within a day that the mailbox has read, if nothing was written
    /// to the agent since; newest first.
    pub fn unanswered(&mut self, mailbox: &Actor) -> Result<Vec<Message>, StoreError> {
        let now = self.host.now();
        let since = now.minus(Timestamp::DAY);
        let tx = self.engine.read()?;
        if !tx.has_correspondence(mailbox, since)? {
            return Ok(Vec::new());
        }
        let received = tx.received(mailbox, since, LOOKED_THROUGH)?;
        let sent = tx.sent_by(mailbox, since, LOOKED_THROUGH)?;
        let was_written_to = |message: &Message| {
            let is_to =
                |post: &SentMessage| post.message.sent.to.iter().any(|to| to.who == message.sent.from.who);
            sent.iter().any(|post| post.message.seq > message.seq && is_to(post))
        };
        let mut open = Vec::new();
        for message in rules::open_threads(mailbox, &received, &[], now) {
            let Actor::Agent(session) = &message.sent.from.who else { continue };
            if !was_written_to(message) && tx.agent(session)?.is_some_and(|(_, left)| left.is_none()) {
                open.push(message.clone());
            }
        }
        name_projects(&*tx, None, open.iter_mut())?;
        Ok(open)
    }

    /// Returns the thread of a message that a reader in the project `here` names.
    pub fn thread(
        &mut self,
        name: &MessageName,
        here: Option<&ProjectId>,
    ) -> Result<Vec<SentMessage>, MessageError> {
        let tx = self.engine.read()?;
        let message = find(&*tx, name, here)?;
        Ok(named(&*tx, tx.thread(message.thread())?)?)
    }

    /// Returns the numbers of those of these messages that still exist.
    pub fn message_numbers(&mut self, messages: &[ChangeId]) -> Result<Vec<Number>, StoreError> {
        let tx = self.engine.read()?;
        let numbers = messages.iter().map(|id| Ok(tx.message(*id)?.map(|message| message.number)));
        numbers.filter_map(Result::transpose).collect()
    }

    /// Returns the last messages between two parties.
    pub fn between(
        &mut self,
        one: &Actor,
        other: &Actor,
        limit: usize,
    ) -> Result<Vec<SentMessage>, StoreError> {
        let tx = self.engine.read()?;
        named(&*tx, tx.between(one, other, limit)?)
    }
}

/// Finds the message that a reader in the project `here` names.
pub(super) fn find(
    tx: &dyn Tx,
    name: &MessageName,
    here: Option<&ProjectId>,
) -> Result<Message, MessageError> {
    let found = match name {
        MessageName::Id(id) => tx.message(*id)?,
        MessageName::Number { project, number } => {
            let projects = tx.projects()?;
            let is_of = |message: &Message, named: &str| {
                let of = projects.iter().find(|project| Some(&project.id) == message.project.as_ref());
                let is_called = |name: &str| name == named || text::foreign(name, LONGEST_PROJECT) == named;
                of.is_some_and(|project| is_called(&project.name) || is_called(project.id.short()))
            };
            let mut found = tx.numbered(*number)?;
            match project {
                Some(named) => found.retain(|message| is_of(message, named)),
                // Prefer the reader's project; else the number must be unique.
                None if found.iter().any(|message| message.project.as_ref() == here) => {
                    found.retain(|message| message.project.as_ref() == here);
                }
                None => {}
            }
            if found.len() > 1 {
                name_projects(tx, None, found.iter_mut())?;
                let called = found.iter().map(|message| message.message_name(None)).collect();
                return Err(MessageRefusal::SeveralMessages { name: name.clone(), called }.into());
            }
            found.pop()
        }
    };
    Ok(found.ok_or_else(|| MessageRefusal::NoSuchMessage { name: name.clone() })?)
}

/// Fills in the current names of projects and recipients.
fn named(tx: &dyn Tx, mut posts: Vec<SentMessage>) -> Result<Vec<SentMessage>, StoreError> {
    name_projects(tx, None, posts.iter_mut().map(|post| &mut post.message))?;
    for receipt in posts.iter_mut().flat_map(|post| &mut post.receipts) {
        receipt.name = name_of(tx, &receipt.to)?;
    }
    Ok(posts)
}
