//! The port of the messages room: the reads of messages and letters that an engine must offer.

use std::collections::BTreeMap;

use super::Delivery;
use super::Letter;
use super::MailFlags;
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
    /// Returns the unread letters of a mailbox, in the order they were sent.
    fn unread(&self, mailbox: &Actor) -> Result<Vec<Letter>, StoreError>;

    /// Returns the deliveries to a mailbox of which letters are unread.
    fn deliveries(&self, mailbox: &Actor) -> Result<Vec<Delivery>, StoreError>;

    /// Returns the `most` most urgent unread letters, delivered or not, in the order they were sent, and
    /// whether there are more; all but those of `without`, which is sorted.
    fn most_urgent(
        &self,
        mailbox: &Actor,
        without: &[ChangeId],
        most: usize,
    ) -> Result<(Vec<Letter>, bool), StoreError>;

    fn has_unread(&self, mailbox: &Actor) -> Result<bool, StoreError>;

    /// Tells whether any message since `since` was sent by or to `who`.
    fn has_correspondence(&self, who: &Actor, since: Timestamp) -> Result<bool, StoreError>;

    /// Counts the unread letters of each mailbox.
    fn unread_counts(&self) -> Result<BTreeMap<Actor, usize>, StoreError>;

    fn message(&self, id: ChangeId) -> Result<Option<Message>, StoreError>;

    /// Returns the messages with that number, of all projects.
    fn numbered(&self, number: Number) -> Result<Vec<Message>, StoreError>;

    /// Returns the message that a sender has sent under this key.
    fn by_key(&self, from: &Actor, key: &str) -> Result<Option<Message>, StoreError>;

    /// Returns the last messages of a sender since `since`, oldest first.
    fn sent_by(&self, from: &Actor, since: Timestamp, limit: usize) -> Result<Vec<SentMessage>, StoreError>;

    /// Returns the last messages to a mailbox since `since`, read or not, oldest first.
    fn received(
        &self,
        mailbox: &Actor,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<SentMessage>, StoreError>;

    /// Returns the messages of a thread, by its first message.
    fn thread(&self, first: ChangeId) -> Result<Vec<SentMessage>, StoreError>;

    /// Returns the last messages between two parties, oldest first.
    fn between(&self, one: &Actor, other: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError>;

    /// Returns the messages sent before `before`.
    fn sent_before(&self, before: Timestamp) -> Result<Vec<SentMessage>, StoreError>;

    /// Sets the mail flags of a session once this transaction is committed, before the next one begins.
    fn set_mail_flags(&mut self, session: &SessionId, flag: MailFlags);
}
