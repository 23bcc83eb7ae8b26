//! SQL of the messages room: messages and letters. Texts are read from the journal.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::journal::EntryId;
use consort_core::journal::Number;
use consort_core::journal::Seq;
use consort_core::messages::Delivery;
use consort_core::messages::DeliveryReceipt;
use consort_core::messages::Letter;
use consort_core::messages::LetterState;
use consort_core::messages::MailFlags;
use consort_core::messages::Message;
use consort_core::messages::MessageChange;
use consort_core::messages::MessageStore;
use consort_core::messages::RecordedMessage;
use consort_core::messages::SentMessage;
use consort_core::presence::SessionId;
use consort_core::project::ProjectId;
use consort_core::side_files::SideFiles;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Params;
use rusqlite::Row;
use rusqlite::params;
use serde::Deserialize;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &MessageChange,
) -> rusqlite::Result<()> {
    let at = origin.at;
    // Letters that are not there (any more) are skipped: entries about a message outlive it.
    let each = |sql: &str, messages: &[ChangeId], values: &[&dyn rusqlite::ToSql]| {
        let mut statement = connection.prepare_cached(sql)?;
        for (n, value) in values.iter().enumerate() {
            statement.raw_bind_parameter(n + 2, value)?;
        }
        messages.iter().try_for_each(|id| {
            statement.raw_bind_parameter(1, blob(*id))?;
            statement.raw_execute().map(drop)
        })
    };
    match change {
        MessageChange::Sent(sent) => put(connection, origin, sent),
        MessageChange::Delivered { to, messages, by } => {
            let (to, is_delivered) = (to.to_string(), among(messages));
            let sql = "SELECT 1 FROM letters WHERE message = ?1 AND recipient = ?2 AND read_at IS NULL";
            let mut is_unread = connection.prepare_cached(sql)?;
            let mut unread = Vec::new();
            for id in messages {
                if is_unread.exists(params![blob(*id), to])? {
                    unread.push(*id);
                }
            }
            unread.sort_unstable();
            unread.dedup();
            let delivery = Delivery { at, by: by.clone(), messages: unread };
            redeliver(connection, &to, is_delivered, Some(delivery))
        }
        MessageChange::Read { to, messages } => {
            let to = to.to_string();
            each(
                "UPDATE letters SET read_at = ?3 WHERE message = ?1 AND recipient = ?2 AND read_at IS NULL",
                messages,
                &[&to, &at.0],
            )?;
            redeliver(connection, &to, among(messages), None)
        }
        MessageChange::Inherited { from, to, messages } => {
            // A session that has a letter of its own for the message keeps that one.
            let (from, to) = (from.to_string(), to.to_string());
            each(
                "UPDATE OR IGNORE letters SET recipient = ?3 WHERE message = ?1 AND recipient = ?2",
                messages,
                &[&from, &to],
            )?;
            each("DELETE FROM letters WHERE message = ?1 AND recipient = ?2", messages, &[&from])?;
            redeliver(connection, &from, among(messages), None)
        }
        MessageChange::Dropped { to, messages } => {
            let to = to.to_string();
            each("DELETE FROM letters WHERE message = ?1 AND recipient = ?2", messages, &[&to])?;
            redeliver(connection, &to, among(messages), None)
        }
        // A letter that another session has inherited since the messages were chosen stays until it is
        // read.
        MessageChange::Forgotten { messages } => {
            each("DELETE FROM letters WHERE message = ?1 AND read_at IS NOT NULL", messages, &[])
        }
    }
}

/// Inserts a letter for each recipient.
fn put(connection: &Connection, origin: &ChangeOrigin<'_>, sent: &RecordedMessage) -> rusqlite::Result<()> {
    let mut insert = connection
        .prepare_cached("INSERT OR IGNORE INTO letters VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, NULL)")?;
    let (id, sender) = (blob(origin.id), sent.from.who.to_string());
    let (number, thread) = (origin.number.unwrap_or(0), blob(sent.thread.unwrap_or(origin.id)));
    sent.to.iter().try_for_each(|to| {
        let (to, urgency) = (to.who.to_string(), sent.priority as u8);
        insert.execute(params![id, to, origin.seq, number, sender, thread, urgency, sent.key]).map(drop)
    })
}

/// Encodes a message's id as it is stored: sixteen bytes, and two more unless the message is its entry's
/// first change.
fn blob(id: ChangeId) -> Vec<u8> {
    let mut bytes = id.entry.0.to_vec();
    if id.place > 0 {
        bytes.extend(id.place.to_be_bytes());
    }
    bytes
}

/// Returns the smallest id that a message since then can have: ids sort by time.
fn first_id(since: Timestamp) -> [u8; 16] {
    EntryId::new(since, [0; 10]).0
}

fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<ChangeId> {
    let bytes = row.get_ref(column)?.as_blob()?;
    let place = bytes.get(16..18).map_or(0, |place| u16::from_be_bytes([place[0], place[1]]));
    let entry = bytes.first_chunk().copied().unwrap_or_default();
    Ok(ChangeId { entry: EntryId(entry), place })
}

const DELIVERY: &str = "delivery";

/// Reads the deliveries to a recipient. Every letter is part of one delivery at most.
fn deliveries(connection: &Connection, recipient: &str) -> rusqlite::Result<Vec<Delivery>> {
    Ok(facts::get(connection, DELIVERY, recipient, "")?.map_or_else(Vec::new, |text| parse_deliveries(&text)))
}

/// Parses deliveries. Letters of a value that cannot be parsed count as not delivered: shown twice is
/// better than never.
fn parse_deliveries(text: &str) -> Vec<Delivery> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Finds the delivery that a letter is part of.
fn delivery_of(deliveries: &[Delivery], id: ChangeId) -> Option<&Delivery> {
    deliveries.iter().find(|delivery| delivery.messages.binary_search(&id).is_ok())
}

/// Takes letters out of all deliveries to a recipient, and adds the delivery `into`.
fn redeliver(
    connection: &Connection,
    recipient: &str,
    is_taken: impl Fn(&ChangeId) -> bool,
    into: Option<Delivery>,
) -> rusqlite::Result<()> {
    let mut deliveries = deliveries(connection, recipient)?;
    if deliveries.is_empty() && into.is_none() {
        return Ok(());
    }
    deliveries.iter_mut().for_each(|delivery| delivery.messages.retain(|id| !is_taken(id)));
    deliveries.extend(into);
    deliveries.retain(|delivery| !delivery.messages.is_empty());
    deliveries.sort_by_key(|delivery| (delivery.at, delivery.messages.first().copied()));
    if deliveries.is_empty() {
        return facts::remove_key(connection, DELIVERY, recipient);
    }
    facts::put(connection, DELIVERY, recipient, "", &json(&deliveries)?)
}

/// Returns a test whether an id is one of these, which may be thousands in any order.
fn among(messages: &[ChangeId]) -> impl Fn(&ChangeId) -> bool {
    let mut messages = messages.to_vec();
    messages.sort_unstable();
    move |id| messages.binary_search(id).is_ok()
}

/// A message that its recipient has not read.
struct Unread {
    id: ChangeId,
    seq: Seq,
    number: Number,
}

fn read_unread(row: &Row<'_>) -> rusqlite::Result<Unread> {
    Ok(Unread { id: read_id(row, 0)?, seq: row.get(1)?, number: row.get(2)? })
}

/// Lists a recipient's unread messages, in the order they were sent.
fn unread_messages(connection: &Connection, recipient: &str) -> rusqlite::Result<Vec<Unread>> {
    let sql = "SELECT message, seq, number FROM letters WHERE recipient = ?1 AND read_at IS NULL
               ORDER BY seq, message";
    connection.prepare_cached(sql)?.query_map([recipient], read_unread)?.collect()
}

/// Lists the most urgent unread messages but those of `without`; and whether there are more.
fn most_urgent(
    connection: &Connection,
    recipient: &str,
    without: &[ChangeId],
    most: usize,
) -> rusqlite::Result<(Vec<Unread>, bool)> {
    let sql = "SELECT message, seq, number FROM letters WHERE recipient = ?1 AND read_at IS NULL
               ORDER BY priority DESC, seq";
    let mut statement = connection.prepare_cached(sql)?;
    let (mut rows, mut unread) = (statement.query([recipient])?, Vec::new());
    while let Some(row) = rows.next()? {
        let one = read_unread(row)?;
        if without.binary_search(&one.id).is_ok() {
            continue;
        }
        if unread.len() == most {
            return Ok((unread, true));
        }
        unread.push(one);
    }
    Ok((unread, false))
}

/// Tells how long a change is kept: while one of the messages it is about has a letter.
pub(crate) fn keep(id: ChangeId, change: &MessageChange) -> Keep {
    let subject = |id: &ChangeId| ("letters", blob(*id).iter().map(|byte| format!("{byte:02X}")).collect());
    match change {
        MessageChange::Sent(_) => Keep::Story(subject(&id)),
        MessageChange::Delivered { messages, .. }
        | MessageChange::Read { messages, .. }
        | MessageChange::Inherited { messages, .. }
        | MessageChange::Dropped { messages, .. }
        | MessageChange::Forgotten { messages } => Keep::WhileAny(messages.iter().map(subject).collect()),
    }
}

impl MessageStore for SqliteTx<'_> {
    fn unread(&self, mailbox: &Actor) -> Result<Vec<Letter>, StoreError> {
        let mailbox = mailbox.to_string();
        let deliveries = self.ask(|tx| deliveries(tx, &mailbox))?;
        self.letters(self.ask(|tx| unread_messages(tx, &mailbox))?, &deliveries)
    }

    fn deliveries(&self, mailbox: &Actor) -> Result<Vec<Delivery>, StoreError> {
        self.ask(|tx| deliveries(tx, &mailbox.to_string()))
    }

    fn most_urgent(
        &self,
        mailbox: &Actor,
        without: &[ChangeId],
        most: usize,
    ) -> Result<(Vec<Letter>, bool), StoreError> {
        let (mut unread, is_more) = self.ask(|tx| most_urgent(tx, &mailbox.to_string(), without, most))?;
        unread.sort_by_key(|one| (one.seq, one.id));
        Ok((self.letters(unread, &[])?, is_more))
    }

    fn has_unread(&self, mailbox: &Actor) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM letters WHERE recipient = ?1 AND read_at IS NULL";
        self.ask(|tx| tx.prepare_cached(sql)?.exists([mailbox.to_string()]))
    }

    fn has_correspondence(&self, who: &Actor, since: Timestamp) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM letters WHERE message >= ?2 AND ?1 IN (recipient, sender)";
        self.ask(|tx| tx.prepare_cached(sql)?.exists(params![who.to_string(), first_id(since)]))
    }

    fn unread_counts(&self) -> Result<BTreeMap<Actor, usize>, StoreError> {
        let sql = "SELECT recipient, count(*) FROM letters WHERE read_at IS NULL GROUP BY recipient";
        let read = |row: &Row<'_>| {
            let Ok(who) = Actor::from_str(row.get_ref(0)?.as_str()?);
            Ok((who, row.get::<_, u32>(1)? as usize))
        };
        self.ask(|tx| tx.prepare(sql)?.query_map([], read)?.collect())
    }

    fn message(&self, id: ChangeId) -> Result<Option<Message>, StoreError> {
        Ok(self.messages("message = ?1", [blob(id)])?.pop())
    }

    fn numbered(&self, number: Number) -> Result<Vec<Message>, StoreError> {
        self.messages("number = ?1", [number])
    }

    fn by_key(&self, from: &Actor, key: &str) -> Result<Option<Message>, StoreError> {
        Ok(self.messages("key = ?1 AND sender = ?2", [key, &from.to_string()])?.pop())
    }

    fn sent_by(&self, from: &Actor, since: Timestamp, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let latest = "SELECT DISTINCT message FROM letters WHERE message >= ?3 AND sender = ?1
            ORDER BY seq DESC, message DESC LIMIT ?2";
        let parameters = params![from.to_string(), count(limit), first_id(since)];
        self.posts(&format!("message IN ({latest})"), parameters)
    }

    fn received(
        &self,
        mailbox: &Actor,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<SentMessage>, StoreError> {
        let latest = "SELECT message FROM letters WHERE message >= ?3 AND recipient = ?1
            ORDER BY seq DESC, message DESC LIMIT ?2";
        let parameters = params![mailbox.to_string(), count(limit), first_id(since)];
        self.posts(&format!("message IN ({latest})"), parameters)
    }

    fn thread(&self, first: ChangeId) -> Result<Vec<SentMessage>, StoreError> {
        self.posts("thread = ?1", [blob(first)])
    }

    fn between(&self, one: &Actor, other: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let latest = "SELECT message FROM letters
            WHERE (sender = ?1 AND recipient = ?2) OR (sender = ?2 AND recipient = ?1)
            ORDER BY seq DESC, message DESC LIMIT ?3";
        let parameters = params![one.to_string(), other.to_string(), count(limit)];
        self.posts(&format!("message IN ({latest})"), parameters)
    }

    fn sent_before(&self, before: Timestamp) -> Result<Vec<SentMessage>, StoreError> {
        self.posts("journal.at < ?1", [before.0])
    }

    fn set_mail_flags(&mut self, session: &SessionId, flag: MailFlags) {
        self.after.flags.push((session.clone(), flag));
    }
}

impl SqliteTx<'_> {
    /// Reads the texts of unread messages, and makes letters of them.
    fn letters(&self, unread: Vec<Unread>, deliveries: &[Delivery]) -> Result<Vec<Letter>, StoreError> {
        // Two short statements are compiled sooner than one that joins.
        let sql = "SELECT at, project, changes FROM journal WHERE seq = ?1";
        self.ask(|tx| {
            let mut entry = tx.prepare_cached(sql)?;
            let read = |Unread { id, seq, number }| {
                let message = entry
                    .query_row([seq], |row| {
                        let (at, project) = (Timestamp(row.get(0)?), read_project(row, 1)?);
                        let sent = read_sent(row.get_ref(2)?.as_str()?, id.place);
                        Ok(sent.map(|sent| Message {
                            id,
                            number,
                            project,
                            project_name: None,
                            seq,
                            at,
                            sent,
                        }))
                    })
                    .optional()?;
                let letter = |message| {
                    let delivery = delivery_of(deliveries, id);
                    let (delivered_at, delivered_by) =
                        delivery.map(|delivery| (delivery.at, delivery.by.clone())).unzip();
                    Letter { message, delivered_at, delivered_by, again: false }
                };
                Ok(message
                    .map(|message| message.map(letter).map_err(|source| StoreError::Entry { seq, source })))
            };
            let letters = unread.into_iter().map(read);
            letters.filter_map(Result::transpose).collect::<rusqlite::Result<Result<Vec<_>, _>>>()
        })?
    }

    /// Tells a session's hooks, before the commit, that there is mail.
    pub(crate) fn raise_flag(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if self.raised.contains(session) {
            return Ok(());
        }
        let flag = (&self.files as &dyn SideFiles).mail_flags(session);
        if !flag.new {
            (&self.files as &dyn SideFiles).set_mail_flags(session, MailFlags { new: true, ..flag })?;
        }
        self.raised.push(session.clone());
        Ok(())
    }

    /// Raises the flags of all sessions that have unread mail.
    pub(crate) fn raise_all_flags(&mut self) -> Result<(), StoreError> {
        let mailboxes = self.unread_counts()?;
        mailboxes.keys().filter_map(Actor::session).try_for_each(|session| self.raise_flag(session))
    }

    /// Reads messages in order, each once; an error if one of them cannot be parsed.
    fn messages(&self, which: &str, parameters: impl Params) -> Result<Vec<Message>, StoreError> {
        let sql = format!(
            "SELECT message, number, journal.seq, journal.at, project, changes
             FROM letters JOIN journal ON journal.seq = letters.seq
             WHERE {which} GROUP BY message ORDER BY journal.seq, message"
        );
        let read = |row: &Row<'_>| {
            let (id, number, seq) = (read_id(row, 0)?, row.get(1)?, row.get(2)?);
            let (at, project) = (Timestamp(row.get(3)?), read_project(row, 4)?);
            let sent = read_sent(row.get_ref(5)?.as_str()?, id.place);
            Ok(sent
                .map(|sent| Message { id, number, project, project_name: None, seq, at, sent })
                .map_err(|source| StoreError::Entry { seq, source }))
        };
        self.ask(|tx| tx.prepare_cached(&sql)?.query_map(parameters, read)?.collect::<rusqlite::Result<_>>())?
    }

    fn posts(&self, which: &str, parameters: impl Params) -> Result<Vec<SentMessage>, StoreError> {
        let deliveries: BTreeMap<String, Vec<Delivery>> = self.ask(|tx| {
            let read = |fact: &Fact<'_>| Ok(Some((fact.key()?.to_owned(), parse_deliveries(fact.value()?))));
            Ok(facts::list(tx, DELIVERY, Keys::All, read)?.into_iter().collect())
        })?;
        let sql = "SELECT recipient, read_at FROM letters WHERE message = ?1 ORDER BY recipient";
        let post = |message: Message| {
            let read = |row: &Row<'_>| {
                let recipient = row.get_ref(0)?.as_str()?;
                let read_at: Option<i64> = row.get(1)?;
                let delivery = deliveries.get(recipient).and_then(|all| delivery_of(all, message.id));
                let (state, at) = match (read_at, delivery) {
                    (Some(read_at), _) => (LetterState::Read, Some(Timestamp(read_at))),
                    (None, Some(delivery)) => (LetterState::Delivered, Some(delivery.at)),
                    (None, None) => (LetterState::Waiting, None),
                };
                let Ok(to) = Actor::from_str(recipient);
                Ok(DeliveryReceipt { name: to.to_string(), to, state, at })
            };
            let receipts =
                self.ask(|tx| tx.prepare_cached(sql)?.query_map([blob(message.id)], read)?.collect())?;
            Ok(SentMessage { message, receipts })
        };
        self.messages(which, parameters)?.into_iter().map(post).collect()
    }
}

/// Parses the message among an entry's changes. Most messages are the only change of their entry, so that
/// form is tried first: a hook reads dozens.
fn read_sent(changes: &str, place: u16) -> serde_json::Result<RecordedMessage> {
    #[derive(Deserialize)]
    struct Kept {
        change: MessageChange,
    }
    let kept = match serde_json::from_str::<[Kept; 1]>(changes) {
        Ok([only]) if place == 0 => only,
        _ => {
            let mut all: Vec<serde_json::Value> = serde_json::from_str(changes)?;
            let value = all.get_mut(usize::from(place)).map(serde_json::Value::take).unwrap_or_default();
            serde_json::from_value(value)?
        }
    };
    match kept.change {
        MessageChange::Sent(sent) => Ok(*sent),
        _ => Err(serde::de::Error::custom("it sent no message")),
    }
}

fn read_project(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<ProjectId>> {
    Ok(row.get::<_, Option<String>>(column)?.map(Into::into))
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
