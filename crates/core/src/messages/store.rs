//! The port of the messages room: what an engine must store of messages and letters.

use std::collections::BTreeMap;

use super::Letter;
use super::MailFlag;
use super::Message;
use super::SentMessage;
use crate::Timestamp;
use crate::engine::StoreError;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::presence::SessionId;

/// The reads that messages need.
pub trait MessageStore {
    /// The letters a mailbox has not read, in the order they were sent.
    fn unread(&self, mailbox: &Actor) -> Result<Vec<Letter>, StoreError>;

    /// Those that were delivered, and so many of the others, the most urgent; in the
    /// order they were sent. And whether there are more.
    fn most_urgent(&self, mailbox: &Actor, most: usize) -> Result<(Vec<Letter>, bool), StoreError>;

    fn has_unread(&self, mailbox: &Actor) -> Result<bool, StoreError>;

    /// Whether any message since then was sent by that one, or to it.
    fn has_correspondence(&self, who: &Actor, since: Timestamp) -> Result<bool, StoreError>;

    /// How many letters each mailbox has not read.
    fn unread_counts(&self) -> Result<BTreeMap<Actor, usize>, StoreError>;

    fn message(&self, id: ChangeId) -> Result<Option<Message>, StoreError>;

    /// Those of that number, of all projects.
    fn numbered(&self, number: Number) -> Result<Vec<Message>, StoreError>;

    /// What that sender has sent under this key.
    fn by_key(&self, from: &Actor, key: &str) -> Result<Option<Message>, StoreError>;

    /// The last messages of a sender since then, oldest first.
    fn sent_by(&self, from: &Actor, since: Timestamp, limit: usize) -> Result<Vec<SentMessage>, StoreError>;

    /// The last messages to a mailbox since then, read or not, oldest first.
    fn received(
        &self,
        mailbox: &Actor,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<SentMessage>, StoreError>;

    /// A thread, by its first message.
    fn thread(&self, first: ChangeId) -> Result<Vec<SentMessage>, StoreError>;

    /// The last messages between two, oldest first.
    fn between(&self, one: &Actor, other: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError>;

    /// Messages sent before then.
    fn sent_before(&self, before: Timestamp) -> Result<Vec<SentMessage>, StoreError>;

    /// Says what is left to do, once this transaction is committed and before
    /// the next one begins.
    fn set_flag(&mut self, session: &SessionId, flag: MailFlag);
}
