//! Entries and the changes inside them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;
use serde::de::Visitor;

use crate::Timestamp;
use crate::claims::ClaimChange;
use crate::convergence::ConvergenceChange;
use crate::knowledge::KnowledgeChange;
use crate::messages::MessageChange;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::tasks::TaskChange;

/// The place of an entry in the journal: 1, 2, 3, … without gaps.
pub type Seq = i64;

/// Names an entry everywhere, whoever ordered it. Ids sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub [u8; 16]);

impl EntryId {
    /// An id for that moment.
    pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
        let millis = u64::try_from(at.0).unwrap_or(0);
        let mut id = [0; 16];
        id[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        id[6..].copy_from_slice(&random);
        // A UUID of version 7 and of the usual variant.
        id[6] = 0x70 | id[6] & 0x0f;
        id[8] = 0x80 | id[8] & 0x3f;
        Self(id)
    }
}

impl EntryId {
    /// When it was made.
    pub fn at(self) -> Timestamp {
        let millis = self.0[..6].iter().fold(0, |millis, byte| millis << 8 | i64::from(*byte));
        Timestamp(millis)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", u128::from_be_bytes(self.0));
        let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
        f.write_str(&parts.join("-"))
    }
}

impl Serialize for EntryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Who did it, or for whom it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    Agent(SessionId),
    /// The human at the keyboard.
    Person,
    /// Consort itself, tidying up.
    Consort,
}

impl Actor {
    /// The session, if it is an agent.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Agent(session) => Some(session),
            Self::Person | Self::Consort => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(session) => write!(f, "agent:{session}"),
            Self::Person => f.write_str("person"),
            Self::Consort => f.write_str("consort"),
        }
    }
}

impl FromStr for Actor {
    type Err = std::convert::Infallible;

    /// Actors that a newer consort may know count as its own doing.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.split_once(':') {
            Some(("agent", session)) => Self::Agent(session.into()),
            _ if text == "person" => Self::Person,
            _ => Self::Consort,
        })
    }
}

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Actor;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an actor")
            }

            fn visit_str<E>(self, text: &str) -> Result<Actor, E> {
                let Ok(actor) = text.parse();
                Ok(actor)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// An entry as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub seq: Seq,
    pub id: EntryId,
    pub at: Timestamp,
    pub project: Option<ProjectId>,
    pub actor: Actor,
    pub changes: Vec<Change>,
}

/// An entry about to be recorded; the engine gives it its place.
#[derive(Clone, Debug)]
pub struct NewEntry {
    pub id: EntryId,
    pub at: Timestamp,
    pub project: Option<ProjectId>,
    pub actor: Actor,
    pub changes: Vec<Change>,
}

impl NewEntry {
    /// As it is kept in its place.
    pub fn kept_as(self, seq: Seq) -> Entry {
        let Self { id, at, project, actor, changes } = self;
        Entry { seq, id, at, project, actor, changes }
    }
}

/// One change of shared state, by the room it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Journal(JournalChange),
    Presence(PresenceChange),
    Messages(MessageChange),
    Claims(ClaimChange),
    Tasks(TaskChange),
    Convergence(ConvergenceChange),
    Knowledge(KnowledgeChange),
    /// Written by a newer consort: shown as it is, never applied.
    Unknown(serde_json::Value),
}

/// A change of the journal itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalChange {
    /// Entries before `before` that nothing needs any more were dropped, so
    /// gaps up to `through` are no damage.
    Pruned { before: Timestamp, through: Seq },
}

/// The wire form: `{"presence":{"joined":{…}}}`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KnownChange<J, P, M, C, T, V, K> {
    Journal(J),
    Presence(P),
    Messages(M),
    Claims(C),
    Tasks(T),
    Convergence(V),
    Knowledge(K),
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        type Known<'a> = KnownChange<
            &'a JournalChange,
            &'a PresenceChange,
            &'a MessageChange,
            &'a ClaimChange,
            &'a TaskChange,
            &'a ConvergenceChange,
            &'a KnowledgeChange,
        >;
        match self {
            Self::Journal(change) => Known::Journal(change),
            Self::Presence(change) => Known::Presence(change),
            Self::Messages(change) => Known::Messages(change),
            Self::Claims(change) => Known::Claims(change),
            Self::Tasks(change) => Known::Tasks(change),
            Self::Convergence(change) => Known::Convergence(change),
            Self::Knowledge(change) => Known::Knowledge(change),
            Self::Unknown(value) => return value.serialize(serializer),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(match KnownChange::deserialize(&value) {
            Ok(KnownChange::Journal(change)) => Self::Journal(change),
            Ok(KnownChange::Presence(change)) => Self::Presence(change),
            Ok(KnownChange::Messages(change)) => Self::Messages(change),
            Ok(KnownChange::Claims(change)) => Self::Claims(change),
            Ok(KnownChange::Tasks(change)) => Self::Tasks(change),
            Ok(KnownChange::Convergence(change)) => Self::Convergence(change),
            Ok(KnownChange::Knowledge(change)) => Self::Knowledge(change),
            Err(_) => Self::Unknown(value),
        })
    }
}

/// Which part of the journal to read.
#[derive(Clone, Debug, Default)]
pub struct TailRequest {
    /// Entries after this one; without it, the last `limit`.
    pub after: Option<Seq>,
    /// Entries from this moment on.
    pub since: Option<Timestamp>,
    pub project: Option<ProjectId>,
    pub limit: usize,
}

/// What `verify` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub entries: usize,
    pub last_seq: Seq,
    /// Sequence numbers that should be there and are not (the first few).
    pub missing: Vec<Seq>,
    /// Entries that this version cannot apply (the first few).
    pub unknown: Vec<Seq>,
    /// Entries that nobody can read (the first few).
    pub unreadable: Vec<Seq>,
    /// Rows that differ between the tables and the journal replayed.
    pub differences: Vec<String>,
    /// What the engine's own integrity check complains about.
    pub integrity: Vec<String>,
    /// Whether what hooks read beside the store was made from it as it is now.
    pub is_published: bool,
}

impl Verification {
    /// Whether nothing was found wrong.
    pub fn is_sound(&self) -> bool {
        self.missing.is_empty()
            && self.unreadable.is_empty()
            && self.differences.is_empty()
            && self.integrity.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_that_tells_its_time() {
        let at = Timestamp(1_794_746_513_813);
        let id = EntryId::new(at, [0xff; 10]);
        assert_eq!(id.to_string(), "01a1df3a-7995-7fff-bfff-ffffffffffff");
        assert_eq!(id.at(), at);
    }
}
