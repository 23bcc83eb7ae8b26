//! Data of the messages room: messages, letters, recipients, receipts, and the requests
//! and outcomes of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::MessageRefusal;
use super::MessageType;
use super::Priority;
use crate::Timestamp;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::ChangeId;
use crate::journal::Number;
use crate::journal::Seq;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::text;

/// The sender of a message, as it was at the time of writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub who: Actor,
    /// The sender's name; `you` for the person.
    pub name: String,
    /// The sender's agent CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The sender's model and directory, shown to a recipient that meets it for the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// The contents of a message, as its journal entry records them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedMessage {
    pub from: Sender,
    pub to: Vec<Recipient>,
    #[serde(rename = "type")]
    pub kind: MessageType,
    pub priority: Priority,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<RepliedTo>,
    /// The first message of the thread, unless this message is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ChangeId>,
    /// The sender's key for this message, under which it is sent only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// The message that another message replies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepliedTo {
    pub id: ChangeId,
    pub number: Number,
    /// The project that the number counts in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

/// A change of messages and letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageChange {
    Sent(Box<RecordedMessage>),
    /// The process `by` delivered these letters.
    Delivered {
        to: Actor,
        messages: Vec<ChangeId>,
        by: MachineProcess,
    },
    Read {
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// The waiting letters of a gone agent go to its successor, or to an agent that took its name.
    Inherited {
        from: Actor,
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// These letters will never be read: their recipient is gone for good, or Consort took its remark back.
    Dropped {
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// Old messages that nobody has to read any more are removed.
    Forgotten {
        messages: Vec<ChangeId>,
    },
}

impl MessageChange {
    /// Lists the subjects of the change, for the journal.
    pub(crate) fn about(&self) -> Vec<String> {
        let mailbox = |who: &Actor| format!("mailbox:{who}");
        match self {
            Self::Sent(_) => Vec::new(),
            Self::Delivered { to, .. } | Self::Read { to, .. } | Self::Dropped { to, .. } => {
                vec![mailbox(to)]
            }
            Self::Inherited { from, to, .. } => vec![mailbox(from), mailbox(to)],
            Self::Forgotten { messages } => messages.iter().map(|id| format!("message:{id}")).collect(),
        }
    }
}

/// A stored message, with its number in its project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub id: ChangeId,
    pub number: Number,
    /// The project that the message is numbered in.
    pub project: Option<ProjectId>,
    /// The name of that project, if it is not the reader's and was looked up.
    #[serde(skip)]
    pub project_name: Option<String>,
    /// The journal position of the entry that the message was sent in.
    #[serde(skip)]
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(flatten)]
    pub sent: RecordedMessage,
}

impl Message {
    /// Returns the first message of this message's thread.
    pub fn thread(&self) -> ChangeId {
        self.sent.thread.unwrap_or(self.id)
    }

    /// Returns the message's name for a reader in the project `here`: `#7`, or `web#7` if the message belongs
    /// to another project.
    pub fn message_name(&self, here: Option<&ProjectId>) -> String {
        called(self.project.as_ref(), self.project_name.as_deref(), self.number, here)
    }

    /// Names the message that this one replies to, for a reader in the project `here`.
    pub(super) fn called_reply(&self, answered: &RepliedTo, here: Option<&ProjectId>) -> String {
        let name = self.project_name.as_deref().filter(|_| answered.project == self.project);
        called(answered.project.as_ref(), name, answered.number, here)
    }
}

/// One recipient's copy of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Letter {
    #[serde(flatten)]
    pub message: Message,
    pub delivered_at: Option<Timestamp>,
    #[serde(skip)]
    pub delivered_by: Option<MachineProcess>,
    /// Whether the letter was shown before and may have been seen.
    pub again: bool,
}

/// The letters that one process delivered at once to one recipient, as far as they are not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub at: Timestamp,
    pub by: MachineProcess,
    /// The ids in ascending order.
    pub messages: Vec<ChangeId>,
}

impl Letter {
    /// Makes the letter of a message that was read.
    pub fn of_read_message(message: Message) -> Self {
        Self { message, delivered_at: None, delivered_by: None, again: true }
    }
}

/// A conversation that waits for an answer: a question, a proposal or a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenThread {
    /// The name of the message for the reader: `#7`.
    pub called: String,
    /// The name of the other side.
    pub with: String,
    /// Whether the reader is the one that asked.
    pub is_mine: bool,
}

/// The delivery state of one recipient's letter, as the sender sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliveryReceipt {
    pub to: Actor,
    pub name: String,
    pub state: LetterState,
    /// The time when the letter reached that state.
    pub at: Option<Timestamp>,
}

/// The delivery state of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterState {
    Waiting,
    Delivered,
    Read,
}

/// A message with the receipts of its recipients.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentMessage {
    #[serde(flatten)]
    pub message: Message,
    pub receipts: Vec<DeliveryReceipt>,
}

/// The recipients that a request names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipients {
    /// Names of agents; `@me` is the person, `all` the project.
    Named(Vec<String>),
    /// Every agent of every project on this machine.
    Everywhere,
    /// The sender of the message replied to; if the caller sent that message itself, its recipients.
    #[default]
    Sender,
}

/// A request to send a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendRequest {
    pub caller: CallerFacts,
    /// The agent that the person speaks for.
    pub as_agent: Option<String>,
    pub to: Recipients,
    pub kind: MessageType,
    /// The priority; `None` means the default of the type.
    pub priority: Option<Priority>,
    pub text: String,
    pub reply_to: Option<MessageName>,
    pub key: Option<String>,
    /// The repository that the call comes from, if `all`, a message number or the project depends on it.
    pub repository: Option<PathBuf>,
    /// The project that `all` stands for, if known.
    pub project: Option<ProjectId>,
    /// Whether the person wants to send the text although it looks like a secret.
    pub even_so: bool,
}

/// A message as people name it: `7`, `#7`, `web#7`, or by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageName {
    /// A number in that project, or in the reader's project.
    Number {
        project: Option<String>,
        number: Number,
    },
    Id(ChangeId),
}

impl std::str::FromStr for MessageName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(id) = ChangeId::parse(text) {
            return Ok(Self::Id(id));
        }
        let (project, number) = text.rsplit_once('#').unwrap_or(("", text));
        let number = number.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| {
            format!(
                "`{}` is not the number of a message; to write to an agent: consort send <name> '…'",
                text::one_line(text, 60)
            )
        })?;
        Ok(Self::Number { project: Some(project.to_owned()).filter(|name| !name.is_empty()), number })
    }
}

impl std::fmt::Display for MessageName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number { project, number } => {
                write!(f, "{}#{number}", project.as_deref().unwrap_or_default())
            }
            Self::Id(id) => id.fmt(f),
        }
    }
}

/// Accepts a JSON string or a bare number.
impl<'de> Deserialize<'de> for MessageName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for MessageName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The outcome of sending: the message, its recipients, and the recipients that could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SendOutcome {
    pub id: ChangeId,
    pub number: Number,
    /// The project that the message is numbered in.
    pub project: Option<ProjectId>,
    /// The name of that project, if it is not the sender's.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    /// Whether the message had been sent before under the same key, so that nothing was sent now.
    pub duplicate: bool,
    pub to: Vec<Recipient>,
    /// The named recipients that could not be reached, as refusals with the reasons.
    pub failed: Vec<MessageRefusal>,
}

impl SendOutcome {
    /// Returns the message's name for its sender: see [`Message::message_name`].
    pub fn message_name(&self) -> String {
        let project = self.project.as_ref().filter(|_| self.elsewhere.is_some());
        called(project, self.elsewhere.as_deref(), self.number, None)
    }
}

/// Most characters of a project's name that are shown before a message number.
pub(crate) const LONGEST_PROJECT: usize = 40;

fn called(
    project: Option<&ProjectId>,
    name: Option<&str>,
    number: Number,
    here: Option<&ProjectId>,
) -> String {
    match project {
        Some(project) if here != Some(project) => {
            format!("{}#{number}", text::foreign(name.unwrap_or_else(|| project.short()), LONGEST_PROJECT))
        }
        _ => format!("#{number}"),
    }
}

/// One recipient of a message, with its name at the time of sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    pub who: Actor,
    pub name: String,
}

/// A request to list unread letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadLettersRequest {
    pub mailbox: Actor,
    pub from: Option<Correspondent>,
    /// Whether the letters are only looked at, and stay undelivered and unread.
    pub peek: bool,
}

/// The sender whose letters are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correspondent {
    /// The agent that had this name when it wrote.
    Named(String),
    Only(Actor),
}

/// The moment at which a hook asks for mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// The session begins or goes on.
    Start,
    /// A turn begins.
    Prompt,
    /// A tool is about to be called; letters delivered a while before have been seen by the model.
    BeforeTool,
    AfterTool,
    /// The turn ends: the model has answered. The turn can be kept going if `may_go_on` is set.
    End {
        may_go_on: bool,
    },
}

/// The result of a check for mail on behalf of an idle session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeCheck {
    Nothing,
    /// There is mail worth waking the session for.
    Mail,
    /// The session has left.
    Gone,
}

/// The text of the letters that a hook delivers to its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredBatch {
    pub text: String,
    pub session: SessionId,
    pub by: MachineProcess,
}

/// The mail flags of a session, kept beside the database so that a hook without mail need not open it. The
/// flags may say too much, never too little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailFlags {
    /// Whether there is mail to deliver even in the middle of a turn.
    pub new: bool,
    /// Whether there is any mail left to deliver, at the latest when a turn begins.
    pub later: bool,
    /// Whether delivered letters are not yet recorded as read.
    pub handed: bool,
}

impl MailFlags {
    /// There may be mail of every kind.
    pub const UNKNOWN: Self = Self { new: true, later: true, handed: true };
}
