//! Messages and letters. Texts are read from the journal.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::host::Process;
use consort_core::journal::Actor;
use consort_core::journal::Seq;
use consort_core::messages::Flag;
use consort_core::messages::Letter;
use consort_core::messages::Message;
use consort_core::messages::MessageChange;
use consort_core::messages::MessageStore;
use consort_core::messages::Receipt;
use consort_core::messages::SentMessage;
use consort_core::messages::State;
use consort_core::presence::SessionId;
use consort_core::side_files::SideFiles;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Params;
use rusqlite::Row;
use rusqlite::params;
use serde::Deserialize;
use serde::Serialize;

use crate::SqliteTx;
use crate::apply::Keep;
use crate::apply::json;

pub(crate) fn apply(
    connection: &Connection,
    seq: Seq,
    at: Timestamp,
    change: &MessageChange,
) -> rusqlite::Result<()> {
    // Whatever is not there (any more) is passed over: entries about a message
    // outlive it.
    let each = |sql: &str, numbers: &[Seq], values: &[&dyn rusqlite::ToSql]| {
        let mut statement = connection.prepare_cached(sql)?;
        for (n, value) in values.iter().enumerate() {
            statement.raw_bind_parameter(n + 2, value)?;
        }
        numbers.iter().try_for_each(|number| {
            statement.raw_bind_parameter(1, number)?;
            statement.raw_execute().map(drop)
        })
    };
    match change {
        MessageChange::Sent(sent) => {
            let mut insert =
                connection.prepare_cached("REPLACE INTO letters VALUES (?1, ?2, ?3, ?4, ?5, NULL)")?;
            let (sender, thread) = (sent.from.who.to_string(), sent.thread.unwrap_or(seq));
            sent.to.iter().try_for_each(|to| {
                insert.execute(params![seq, to.who.to_string(), sender, thread, sent.key]).map(drop)
            })
        }
        MessageChange::Delivered { to, numbers, hand } => {
            let (to, is_handed) = (to.to_string(), among(numbers));
            let mut numbers = unread_numbers(connection, &to)?;
            numbers.retain(&is_handed);
            change_hands(connection, &to, is_handed, Some(HandOver { at, hand: hand.clone(), numbers }))
        }
        MessageChange::Read { to, numbers } => {
            let to = to.to_string();
            each(
                "UPDATE letters SET read_at = ?3 WHERE number = ?1 AND recipient = ?2 AND read_at IS NULL",
                numbers,
                &[&to, &at.0],
            )?;
            change_hands(connection, &to, among(numbers), None)
        }
        MessageChange::Inherited { from, to, numbers } => {
            // Whoever has a copy of its own keeps that one.
            let (from, to) = (from.to_string(), to.to_string());
            each(
                "UPDATE OR IGNORE letters SET recipient = ?3 WHERE number = ?1 AND recipient = ?2",
                numbers,
                &[&from, &to],
            )?;
            each("DELETE FROM letters WHERE number = ?1 AND recipient = ?2", numbers, &[&from])?;
            change_hands(connection, &from, among(numbers), None)
        }
        MessageChange::Dropped { to, numbers } => {
            let to = to.to_string();
            each("DELETE FROM letters WHERE number = ?1 AND recipient = ?2", numbers, &[&to])?;
            change_hands(connection, &to, among(numbers), None)
        }
        // One that has changed hands since somebody looked stays until it is read.
        MessageChange::Forgotten { numbers } => {
            each("DELETE FROM letters WHERE number = ?1 AND read_at IS NOT NULL", numbers, &[])
        }
    }
}

/// What one process handed over at once to one recipient, as far as that has not
/// read it.
#[derive(Serialize, Deserialize)]
struct HandOver {
    at: Timestamp,
    hand: Process,
    /// In order.
    numbers: Vec<Seq>,
}

/// Every letter is in one hand at most.
fn hands(connection: &Connection, recipient: &str) -> rusqlite::Result<Vec<HandOver>> {
    let sql = "SELECT value FROM facts WHERE kind = 'hand' AND key = ?1 AND owner = ''";
    let hands =
        connection.prepare_cached(sql)?.query_row([recipient], |row| read_hands(row, 0)).optional()?;
    Ok(hands.unwrap_or_default())
}

/// What cannot be understood is in nobody's hand: shown twice is better than never.
fn read_hands(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<HandOver>> {
    Ok(serde_json::from_str(row.get_ref(column)?.as_str()?).unwrap_or_default())
}

/// In whose hand a letter is.
fn hand_of(hands: &[HandOver], number: Seq) -> Option<&HandOver> {
    hands.iter().find(|over| over.numbers.binary_search(&number).is_ok())
}

/// Takes letters out of all hands, and puts them into another.
fn change_hands(
    connection: &Connection,
    recipient: &str,
    is_taken: impl Fn(&Seq) -> bool,
    into: Option<HandOver>,
) -> rusqlite::Result<()> {
    let mut hands = hands(connection, recipient)?;
    if hands.is_empty() && into.is_none() {
        return Ok(());
    }
    hands.iter_mut().for_each(|over| over.numbers.retain(|number| !is_taken(number)));
    hands.extend(into);
    hands.retain(|over| !over.numbers.is_empty());
    hands.sort_by_key(|over| (over.at, over.numbers.first().copied()));
    if hands.is_empty() {
        let sql = "DELETE FROM facts WHERE kind = 'hand' AND key = ?1 AND owner = ''";
        return connection.prepare_cached(sql)?.execute([recipient]).map(drop);
    }
    let sql = "REPLACE INTO facts VALUES ('hand', ?1, '', ?2)";
    connection.prepare_cached(sql)?.execute([recipient, &json(&hands)?]).map(drop)
}

/// Whether a number is one of these, which may be thousands in any order.
fn among(numbers: &[Seq]) -> impl Fn(&Seq) -> bool {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    move |number| numbers.binary_search(number).is_ok()
}

fn unread_numbers(connection: &Connection, recipient: &str) -> rusqlite::Result<Vec<Seq>> {
    let sql = "SELECT number FROM letters WHERE recipient = ?1 AND read_at IS NULL ORDER BY number";
    connection.prepare_cached(sql)?.query_map([recipient], |row| row.get(0))?.collect()
}

/// An entry about messages is needed while one of them is there, or while the
/// entry that sent it is kept for something else that came about in it.
pub(crate) fn keep(seq: Seq, change: &MessageChange) -> Keep {
    let while_any = |numbers: &[Seq]| {
        Keep::WhileAny(numbers.iter().map(|number| ("letters", number.to_string())).collect())
    };
    match change {
        MessageChange::Sent(_) => Keep::Story(("letters", seq.to_string())),
        MessageChange::Delivered { numbers, .. }
        | MessageChange::Read { numbers, .. }
        | MessageChange::Inherited { numbers, .. }
        | MessageChange::Dropped { numbers, .. }
        | MessageChange::Forgotten { numbers } => while_any(numbers),
    }
}

impl MessageStore for SqliteTx<'_> {
    fn unread(&self, mailbox: &Actor) -> Result<Vec<Letter>, StoreError> {
        let mailbox = mailbox.to_string();
        let hands = self.ask(|tx| hands(tx, &mailbox))?;
        let letter = |message: Message| {
            let over = hand_of(&hands, message.number);
            let (delivered_at, hand) = over.map(|over| (over.at, over.hand.clone())).unzip();
            Letter { message, delivered_at, hand, again: false }
        };
        // Two short statements are sooner understood than one that joins.
        let sql = "SELECT seq, at, changes FROM journal WHERE seq = ?1";
        self.ask(|tx| {
            let mut entry = tx.prepare_cached(sql)?;
            let numbers = unread_numbers(tx, &mailbox)?;
            let messages = numbers.iter().map(|number| entry.query_row([number], read_message).optional());
            messages.filter_map(Result::transpose).collect::<rusqlite::Result<Result<Vec<_>, _>>>()
        })?
        .map(|messages: Vec<Message>| messages.into_iter().map(letter).collect())
    }

    fn has_unread(&self, mailbox: &Actor) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM letters WHERE recipient = ?1 AND read_at IS NULL";
        self.ask(|tx| tx.prepare_cached(sql)?.exists([mailbox.to_string()]))
    }

    fn unread_counts(&self) -> Result<BTreeMap<Actor, usize>, StoreError> {
        let sql = "SELECT recipient, count(*) FROM letters WHERE read_at IS NULL GROUP BY recipient";
        let read = |row: &Row<'_>| {
            let Ok(who) = Actor::from_str(row.get_ref(0)?.as_str()?);
            Ok((who, row.get::<_, u32>(1)? as usize))
        };
        self.ask(|tx| tx.prepare(sql)?.query_map([], read)?.collect())
    }

    fn message(&self, number: Seq) -> Result<Option<Message>, StoreError> {
        Ok(self.messages("number = ?1", [number])?.pop())
    }

    fn by_key(&self, from: &Actor, key: &str) -> Result<Option<Message>, StoreError> {
        Ok(self.messages("key = ?1 AND sender = ?2", [key, &from.to_string()])?.pop())
    }

    fn sent_by(&self, from: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let latest = "SELECT DISTINCT number FROM letters WHERE sender = ?1 ORDER BY number DESC LIMIT ?2";
        self.posts(&format!("number IN ({latest})"), params![from.to_string(), count(limit)])
    }

    fn thread(&self, first: Seq) -> Result<Vec<SentMessage>, StoreError> {
        self.posts("thread = ?1", [first])
    }

    fn between(&self, one: &Actor, other: &Actor, limit: usize) -> Result<Vec<SentMessage>, StoreError> {
        let latest = "SELECT number FROM letters
            WHERE (sender = ?1 AND recipient = ?2) OR (sender = ?2 AND recipient = ?1)
            ORDER BY number DESC LIMIT ?3";
        let parameters = params![one.to_string(), other.to_string(), count(limit)];
        self.posts(&format!("number IN ({latest})"), parameters)
    }

    fn sent_before(&self, before: Timestamp) -> Result<Vec<SentMessage>, StoreError> {
        self.posts("journal.at < ?1", [before.0])
    }

    fn set_flag(&mut self, session: &SessionId, flag: Flag) {
        self.after.flags.push((session.clone(), flag));
    }
}

impl SqliteTx<'_> {
    /// Says to a session's hooks, before the commit, that there is mail.
    pub(crate) fn raise_flag(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if self.raised.contains(session) {
            return Ok(());
        }
        let flag = (&self.files as &dyn SideFiles).flag(session);
        if !flag.new {
            (&self.files as &dyn SideFiles).set_flag(session, Flag { new: true, ..flag })?;
        }
        self.raised.push(session.clone());
        Ok(())
    }

    /// The same to all who have any.
    pub(crate) fn raise_all_flags(&mut self) -> Result<(), StoreError> {
        let mailboxes = self.unread_counts()?;
        mailboxes.keys().filter_map(Actor::session).try_for_each(|session| self.raise_flag(session))
    }

    /// Messages in order, each once, unless one of them cannot be understood.
    fn messages(&self, which: &str, parameters: impl Params) -> Result<Vec<Message>, StoreError> {
        let sql = format!(
            "SELECT journal.seq, journal.at, journal.changes FROM letters JOIN journal ON seq = number
             WHERE {which} GROUP BY number ORDER BY number"
        );
        self.ask(|tx| {
            tx.prepare_cached(&sql)?.query_map(parameters, read_message)?.collect::<rusqlite::Result<_>>()
        })?
    }

    fn posts(&self, which: &str, parameters: impl Params) -> Result<Vec<SentMessage>, StoreError> {
        let hands: BTreeMap<String, Vec<HandOver>> = self.ask(|tx| {
            let mut statement = tx.prepare_cached("SELECT key, value FROM facts WHERE kind = 'hand'")?;
            statement.query_map([], |row| Ok((row.get(0)?, read_hands(row, 1)?)))?.collect()
        })?;
        let sql = "SELECT recipient, read_at, number FROM letters WHERE number = ?1 ORDER BY recipient";
        let read = |row: &Row<'_>| {
            let recipient = row.get_ref(0)?.as_str()?;
            let (read_at, number): (Option<i64>, Seq) = (row.get(1)?, row.get(2)?);
            let over = hands.get(recipient).and_then(|hands| hand_of(hands, number));
            let (state, at) = match (read_at, over) {
                (Some(read_at), _) => (State::Read, Some(Timestamp(read_at))),
                (None, Some(over)) => (State::Delivered, Some(over.at)),
                (None, None) => (State::Waiting, None),
            };
            let Ok(to) = Actor::from_str(recipient);
            Ok(Receipt { name: to.to_string(), to, state, at })
        };
        let messages = self.messages(which, parameters)?;
        let post = |message: Message| {
            let receipts =
                self.ask(|tx| tx.prepare_cached(sql)?.query_map([message.number], read)?.collect())?;
            Ok(SentMessage { message, receipts })
        };
        messages.into_iter().map(post).collect()
    }
}

/// The message that an entry has sent: its number, when, and its changes. Most have
/// an entry of their own, so it is not asked first what else it might be: a hook
/// reads dozens. A few came about with something.
fn read_message(row: &Row<'_>) -> rusqlite::Result<Result<Message, StoreError>> {
    #[derive(Deserialize)]
    struct Only {
        messages: MessageChange,
    }
    #[derive(Deserialize)]
    struct Any {
        messages: Option<MessageChange>,
    }
    let (number, at, changes) = (row.get(0)?, Timestamp(row.get(1)?), row.get_ref(2)?.as_str()?);
    let messages = match serde_json::from_str::<[Only; 1]>(changes) {
        Ok([Only { messages }]) => Ok(Some(messages)),
        Err(_) => {
            serde_json::from_str::<Vec<Any>>(changes).map(|all| all.into_iter().find_map(|any| any.messages))
        }
    };
    let sent = messages.and_then(|messages| match messages {
        Some(MessageChange::Sent(sent)) => Ok(*sent),
        _ => Err(serde::de::Error::custom("it sent no message")),
    });
    Ok(sent
        .map(|sent| Message { number, at, sent })
        .map_err(|source| StoreError::Entry { seq: number, source }))
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
