//! Data of the journal: entries, their numbers, and the changes inside them.

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
use crate::dispatch::DispatchChange;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::knowledge::KnowledgeChange;
use crate::messages::MessageChange;
use crate::monitor::MonitorChange;
use crate::policy::PolicyChange;
use crate::presence::PresenceChange;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::tasks::TaskChange;

/// The place of an entry in the journal: 1, 2, 3, … with gaps only where retention dropped entries.
pub type Seq = i64;

/// The author of an entry, or the owner of a mailbox or a hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    Agent(SessionId),
    /// The human at the keyboard.
    Person,
    /// Consort itself, tidying up.
    Consort,
}

impl Actor {
    /// Returns the session, if the actor is an agent.
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

    /// Parses an actor; a kind of actor that only a newer consort knows counts as [`Actor::Consort`].
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

/// The format of the entries that this version writes. An entry of a newer format is kept and
/// shown, and not applied.
pub const FORMAT: u32 = 2;

/// An entry of the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub seq: Seq,
    pub id: EntryId,
    pub format: u32,
    pub at: Timestamp,
    pub project: Option<ProjectId>,
    pub actor: Actor,
    pub changes: Vec<KeptChange>,
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
    /// Turns a new entry into the entry that was recorded.
    pub fn kept(self, recorded: &Recorded) -> Entry {
        let Self { id, at, project, actor, changes } = self;
        let numbers = recorded.numbers.iter().copied().chain(std::iter::repeat(None));
        let changes =
            changes.into_iter().zip(numbers).map(|(change, number)| KeptChange { number, change }).collect();
        Entry { seq: recorded.seq, id, format: FORMAT, at, project, actor, changes }
    }

    /// Returns the id of the change in that place.
    pub fn change_id(&self, place: usize) -> ChangeId {
        ChangeId { entry: self.id, place: u16::try_from(place).unwrap_or(u16::MAX) }
    }
}

/// The place of a recorded entry, and the numbers of its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub seq: Seq,
    /// The number of each change, where it has one.
    pub numbers: Vec<Option<Number>>,
}

/// The number by which people refer to a message, a reservation, a task's turn or a prediction:
/// 1, 2, 3, … within its project and kind.
pub type Number = i64;

/// The project and kind within which things are numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberSeries {
    pub kind: &'static str,
    pub project: Option<ProjectId>,
}

/// A change in the journal, with the number that it was given.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptChange {
    pub number: Option<Number>,
    pub change: Change,
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
    Monitor(MonitorChange),
    Policy(PolicyChange),
    Dispatch(DispatchChange),
    /// A change that retention has dropped, since nothing depends on it. It keeps the places of
    /// the changes after it.
    Dropped,
    /// A change by a newer consort: kept and shown as it is, never applied.
    Unknown(UnknownChange),
}

/// A change that this version does not understand, in the parts that every version can read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnknownChange {
    #[serde(default)]
    pub room: String,
    /// The subjects that it changes. A version that does not understand the change must not change them.
    #[serde(default)]
    pub about: Vec<String>,
    #[serde(default)]
    pub change: serde_json::Value,
}

impl Change {
    /// Lists the subjects that the change is about, in a form that every version can read. A
    /// thing that it creates is known by the change's own id and is not listed.
    pub fn about(&self) -> Vec<String> {
        match self {
            Self::Presence(change) => change.about(),
            Self::Messages(change) => change.about(),
            Self::Claims(change) => change.about(),
            Self::Tasks(change) => change.about(),
            Self::Convergence(change) => change.about(),
            Self::Knowledge(change) => change.about(),
            Self::Monitor(change) => change.about(),
            Self::Policy(change) => change.about(),
            Self::Dispatch(change) => change.about(),
            Self::Unknown(unknown) => unknown.about.clone(),
            Self::Journal(_) | Self::Dropped => Vec::new(),
        }
    }

    /// Returns the counter that numbers the change, in an entry of that project.
    pub fn counter(&self, project: Option<&ProjectId>) -> Option<NumberSeries> {
        let counter =
            |kind, project: Option<&ProjectId>| Some(NumberSeries { kind, project: project.cloned() });
        match self {
            Self::Messages(MessageChange::Sent(_)) => counter("message", project),
            Self::Convergence(ConvergenceChange::Predicted { again: None, .. }) => {
                counter("prediction", project)
            }
            Self::Claims(ClaimChange::Held(hold)) if hold.generation == 0 => {
                counter("reservation", hold.project.as_ref())
            }
            Self::Knowledge(_) => counter("knowledge", project),
            Self::Monitor(MonitorChange::Opened(_)) => counter("pane", None),
            Self::Policy(PolicyChange::Added(_)) => counter("rule", None),
            Self::Policy(PolicyChange::Asked(_)) => counter("ask", None),
            Self::Dispatch(DispatchChange::Asked { .. }) => counter("run", project),
            Self::Tasks(TaskChange::Claimed { key, .. } | TaskChange::Freed { key, .. }) => {
                counter("task", key.spec.project.as_ref())
            }
            _ => None,
        }
    }
}

/// A change of the journal itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalChange {
    /// Entries before `before` that nothing needs any more were dropped, so
    /// gaps up to `through` are no damage.
    Pruned { before: Timestamp, through: Seq },
}

/// The stored form of a change:
/// `{"room":"claims","about":["hold:…"],"number":3,"change":{"held":{…}}}`. Every version can
/// read all but `change`.
#[derive(Serialize)]
struct Wire<'a, C> {
    room: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    about: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Number>,
    change: C,
}

#[derive(Deserialize)]
#[serde(tag = "room", content = "change", rename_all = "snake_case")]
enum KnownChange {
    Journal(JournalChange),
    Presence(PresenceChange),
    Messages(MessageChange),
    Claims(ClaimChange),
    Tasks(TaskChange),
    Convergence(ConvergenceChange),
    Knowledge(KnowledgeChange),
    Monitor(MonitorChange),
    Policy(PolicyChange),
    Dispatch(DispatchChange),
}

impl Serialize for KeptChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        NumberedChange { number: self.number, change: &self.change }.serialize(serializer)
    }
}

/// A change about to be stored, and its number.
pub struct NumberedChange<'a> {
    pub number: Option<Number>,
    pub change: &'a Change,
}

impl Serialize for NumberedChange<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (about, number) = (self.change.about(), self.number);
        macro_rules! kept {
            ($room:expr, $change:expr) => {
                Wire { room: $room, about, number, change: $change }.serialize(serializer)
            };
        }
        match self.change {
            Change::Journal(change) => kept!("journal", change),
            Change::Presence(change) => kept!("presence", change),
            Change::Messages(change) => kept!("messages", change),
            Change::Claims(change) => kept!("claims", change),
            Change::Tasks(change) => kept!("tasks", change),
            Change::Convergence(change) => kept!("convergence", change),
            Change::Knowledge(change) => kept!("knowledge", change),
            Change::Monitor(change) => kept!("monitor", change),
            Change::Policy(change) => kept!("policy", change),
            Change::Dispatch(change) => kept!("dispatch", change),
            Change::Unknown(unknown) => kept!(&unknown.room, &unknown.change),
            Change::Dropped => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for KeptChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let number = value.get("number").and_then(serde_json::Value::as_i64);
        let change = match KnownChange::deserialize(&value) {
            Ok(KnownChange::Journal(change)) => Change::Journal(change),
            Ok(KnownChange::Presence(change)) => Change::Presence(change),
            Ok(KnownChange::Messages(change)) => Change::Messages(change),
            Ok(KnownChange::Claims(change)) => Change::Claims(change),
            Ok(KnownChange::Tasks(change)) => Change::Tasks(change),
            Ok(KnownChange::Convergence(change)) => Change::Convergence(change),
            Ok(KnownChange::Knowledge(change)) => Change::Knowledge(change),
            Ok(KnownChange::Monitor(change)) => Change::Monitor(change),
            Ok(KnownChange::Policy(change)) => Change::Policy(change),
            Ok(KnownChange::Dispatch(change)) => Change::Dispatch(change),
            Err(_) if value.is_null() => Change::Dropped,
            Err(_) => Change::Unknown(UnknownChange::read(value)),
        };
        Ok(Self { number, change })
    }
}

impl UnknownChange {
    /// Reads the parts that every version can read, and keeps the rest as it is.
    pub fn read(value: serde_json::Value) -> Self {
        let read = Self::deserialize(&value).ok().filter(|read| !read.room.is_empty());
        read.unwrap_or_else(|| Self { room: String::new(), about: Vec::new(), change: value })
    }
}

/// The part of the journal to read.
#[derive(Clone, Debug, Default)]
pub struct TailRequest {
    /// The entry before the first to read; without it and `since`, the last `limit` entries are read.
    pub after: Option<Seq>,
    /// The moment from which on entries are read.
    pub since: Option<Timestamp>,
    pub project: Option<ProjectId>,
    pub limit: usize,
}

/// The findings of `verify`.
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
    /// Complaints of the engine's own integrity check.
    pub integrity: Vec<String>,
    /// Whether the published lines were made from the store as it is now.
    pub is_published: bool,
}

impl Verification {
    /// Tells whether no damage was found; unknown entries and outdated published lines are none.
    pub fn is_sound(&self) -> bool {
        self.missing.is_empty()
            && self.unreadable.is_empty()
            && self.differences.is_empty()
            && self.integrity.is_empty()
    }
}
