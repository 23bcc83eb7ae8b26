//! Data of the messages room: messages, letters, recipients, receipts, and the requests
//! and outcomes of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use super::Refusal;
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

/// What a message is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    /// Something to know.
    #[default]
    Info,
    /// An answer is wanted.
    Question,
    /// The sender works on something.
    Claim,
    /// The sender is done with something.
    Release,
    /// Work is proposed.
    Delegate,
    /// Work is handed over with all that is known of it.
    Handoff,
    /// An answer to what was asked or proposed.
    Ack,
    /// Something is stuck.
    Block,
}

/// How urgent a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Never keeps a turn going.
    Low,
    Normal,
    High,
    Urgent,
}

/// Who wrote it, as it was when it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub who: Actor,
    /// `you` for the person.
    pub name: String,
    /// Which agent CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Where it works and with which model, for those who meet it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// A message as it is recorded.
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
    /// The first message of the thread, unless this is it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ChangeId>,
    /// Sent only once by that sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What a message replies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepliedTo {
    pub id: ChangeId,
    pub number: Number,
}

/// A change of what was said, delivered or read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageChange {
    Sent(Box<RecordedMessage>),
    /// Delivered by that process.
    Delivered {
        to: Actor,
        messages: Vec<ChangeId>,
        by: MachineProcess,
    },
    Read {
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// Who took the name of one that is gone has its waiting letters.
    Inherited {
        from: Actor,
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// Never read, and given up: its recipient is gone for good.
    Dropped {
        to: Actor,
        messages: Vec<ChangeId>,
    },
    /// Read by all, and old.
    Forgotten {
        messages: Vec<ChangeId>,
    },
}

impl MessageChange {
    /// Who or what it changes.
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

/// A message as it is kept, with its number in its project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    pub id: ChangeId,
    pub number: Number,
    /// The project that it is counted in.
    pub project: Option<ProjectId>,
    /// What people call that one, where it is another than the reader's and was looked up.
    #[serde(skip)]
    pub project_name: Option<String>,
    /// The entry it was sent in.
    #[serde(skip)]
    pub seq: Seq,
    pub at: Timestamp,
    #[serde(flatten)]
    pub sent: RecordedMessage,
}

impl Message {
    /// The first message of its thread.
    pub fn thread(&self) -> ChangeId {
        self.sent.thread.unwrap_or(self.id)
    }

    /// What it is called by someone in that project: `#7`, or `web#7` if it is another's.
    pub fn called(&self, here: Option<&ProjectId>) -> String {
        called(self.project.as_ref(), self.project_name.as_deref(), self.number, here)
    }
}

/// One recipient's copy that it has not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Letter {
    #[serde(flatten)]
    pub message: Message,
    pub delivered_at: Option<Timestamp>,
    #[serde(skip)]
    pub delivered_by: Option<MachineProcess>,
    /// Whether it was shown before and may have been seen.
    pub again: bool,
}

impl Letter {
    /// One that was read.
    pub fn read(message: Message) -> Self {
        Self { message, delivered_at: None, delivered_by: None, again: true }
    }
}

/// A question that nobody has answered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenThread {
    /// What the reader calls it: `#7`.
    pub called: String,
    /// Whom it is from, or to.
    pub with: String,
    /// Whether the reader has asked it.
    pub is_mine: bool,
}

/// How far a recipient's copy has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Receipt {
    pub to: Actor,
    pub name: String,
    pub state: LetterState,
    /// When it came to that.
    pub at: Option<Timestamp>,
}

/// How far a letter has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LetterState {
    Waiting,
    Delivered,
    Read,
}

/// A message and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SentMessage {
    #[serde(flatten)]
    pub message: Message,
    pub receipts: Vec<Receipt>,
}

/// For whom a message is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipients {
    /// Names of agents; `@me` is the person, `all` the project.
    Named(Vec<String>),
    /// Every agent on this machine.
    Everywhere,
    /// The sender of what this replies to; if that is oneself, those who got it.
    #[default]
    Sender,
}

/// All that sending needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendRequest {
    pub caller: CallerFacts,
    /// The agent the person speaks for.
    pub as_agent: Option<String>,
    pub to: Recipients,
    pub kind: MessageType,
    /// Without it, the type's own.
    pub priority: Option<Priority>,
    pub text: String,
    pub reply_to: Option<MessageName>,
    pub key: Option<String>,
    /// The repository the call comes from, where `all`, a number or the project depends on it.
    pub repository: Option<PathBuf>,
    /// The project that `all` means, where it is known.
    pub project: Option<ProjectId>,
    /// The person means it, though it looks like a secret.
    pub even_so: bool,
}

/// A message as people name it: `7`, `#7`, `web#7`, or by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageName {
    /// Of that project, or of the one they are in.
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
                "`{}` is no number of a message; to write to an agent: consort send <name> '…'",
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

/// As text, or as a mere number.
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

/// To whom it was sent, and to whom not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SendOutcome {
    pub id: ChangeId,
    pub number: Number,
    /// The project that it is counted in.
    pub project: Option<ProjectId>,
    /// What people call that one, where it is another than the sender's.
    #[serde(skip)]
    pub elsewhere: Option<String>,
    /// It had been sent before under the same key; nothing was sent now.
    pub duplicate: bool,
    pub to: Vec<Recipient>,
    /// Who was named and could not be reached, and why.
    pub failed: Vec<Refusal>,
}

impl SendOutcome {
    /// What its sender calls it: see [`Message::called`].
    pub fn called(&self) -> String {
        let project = self.project.as_ref().filter(|_| self.elsewhere.is_some());
        called(project, self.elsewhere.as_deref(), self.number, None)
    }
}

/// How much of a project's name is shown before a number.
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

/// For whom, and what it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    pub who: Actor,
    pub name: String,
}

/// Which letters to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRequest {
    pub mailbox: Actor,
    pub from: Option<Correspondent>,
    /// Look without reading.
    pub peek: bool,
}

/// Whose letters are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correspondent {
    /// Of the agent that had this name when it wrote.
    Named(String),
    Only(Actor),
}

/// When a hook asks for mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// The session begins or goes on.
    Start,
    /// A turn begins.
    Prompt,
    /// A tool is called. What was delivered a while before has been seen.
    BeforeTool,
    AfterTool,
    /// The turn ends; the model has answered. It may be kept going.
    End {
        may_go_on: bool,
    },
}

/// What one who waits on behalf of an idle session finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeCheck {
    Nothing,
    /// There is mail worth waking it for.
    Mail,
    /// The session is not here any more.
    Gone,
}

/// What a hook puts before its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredBatch {
    pub text: String,
    pub session: SessionId,
    pub by: MachineProcess,
}

/// What a hook finds beside the store, so that one with nothing to do opens no
/// database. It may say too much, never too little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MailFlag {
    /// There is mail to deliver.
    pub new: bool,
    /// There is mail to deliver at the beginning of a turn only.
    pub later: bool,
    /// What was delivered has not been noted as seen.
    pub handed: bool,
}
