//! What the screen shows, as plain data: a door gathers it from the rooms.

use consort_core::Timestamp;
use consort_core::presence::Status;

/// An agent, in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its session: what tells it from all others.
    pub key: String,
    pub name: String,
    pub cli: String,
    pub project: String,
    /// Without one it is listed last.
    pub spec: Option<String>,
    pub status: Status,
    /// The tool in use, or what it waits for.
    pub doing: String,
    pub task: Option<String>,
    /// Why it has that task.
    pub task_why: Option<String>,
    /// Lines that it has added and removed since its last commit, where that is known.
    pub lines: Option<(u32, u32)>,
    pub unread: usize,
    /// In millionths of a dollar, where that is known.
    pub cost: Option<u64>,
    pub last_active: Timestamp,
    pub branch: Option<String>,
    pub model: Option<String>,
    pub worktree: String,
    /// Where its screen is: `%3 top-left`.
    pub place: String,
    pub has_pane: bool,
    /// The machine, where it is another one.
    pub machine: Option<String>,
    pub subagents: Vec<String>,
    pub is_you: bool,
}

/// How long an agent may work without a tool before that is marked.
const QUIET: i64 = 10 * Timestamp::MINUTE;

impl Agent {
    /// Whether it seems to work, and has used no tool for long.
    pub fn is_quiet(&self, now: Timestamp) -> bool {
        self.status == Status::Working && now.since(self.last_active) >= QUIET
    }
}

/// Why something needs the person. The order is the order of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemKind {
    Permission,
    Question,
    Plan,
    Dialog,
    Error,
    Stalled,
    Unconfirmed,
    Limit,
    Contest,
    Mail,
    Collision,
    Review,
}

impl ItemKind {
    pub const ALL: [Self; 12] = [
        Self::Permission,
        Self::Question,
        Self::Plan,
        Self::Dialog,
        Self::Error,
        Self::Stalled,
        Self::Unconfirmed,
        Self::Limit,
        Self::Contest,
        Self::Mail,
        Self::Collision,
        Self::Review,
    ];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Dialog => "dialog",
            Self::Error => "error",
            Self::Stalled => "stalled",
            Self::Unconfirmed => "not confirmed",
            Self::Limit => "limit",
            Self::Contest => "contest",
            Self::Mail => "message",
            Self::Collision => "collision",
            Self::Review => "to review",
        }
    }

    /// The one of this name, as `consort waiting` calls it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "unconfirmed" => Some(Self::Unconfirmed),
            name => Self::ALL.into_iter().find(|kind| kind.words() == name),
        }
    }

    /// Whether an agent stands still until it is answered.
    pub fn is_asking(self) -> bool {
        matches!(self, Self::Permission | Self::Question | Self::Plan | Self::Dialog)
    }

    /// Whether something went wrong.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::Stalled | Self::Unconfirmed)
    }
}

/// Something that needs the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What tells it from all others.
    pub key: String,
    /// By which it is answered; 0 where it is not answered but dealt with.
    pub number: i64,
    pub kind: ItemKind,
    pub agent: String,
    pub cli: Option<String>,
    /// `Bash`, where a tool is asked about.
    pub tool: Option<String>,
    /// The very question, the error, the text of a message.
    pub text: String,
    /// Several questions that are put at once, each with its options.
    pub questions: Vec<(String, Vec<String>)>,
    pub options: Vec<String>,
    pub since: Option<Timestamp>,
    /// When a limit ends or a contest runs out.
    pub until: Option<Timestamp>,
    pub about: About,
}

/// What an item is about besides its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    #[default]
    Nothing,
    /// A message, as replies name it: `41`, `web#41`.
    Message(String),
    Reservation {
        path: String,
        worktree: String,
    },
    /// Two agents that are likely to collide; the first is the item's.
    Pair {
        other: String,
        number: i64,
    },
    Run(i64),
}

/// A message between the person and agents, or among agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    /// As replies name it: `41`.
    pub called: String,
    pub at: Timestamp,
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    /// `question`, `handoff`; nothing for what is only said.
    pub kind: Option<String>,
    /// Whether the person wrote it.
    pub is_mine: bool,
    /// Whether the person has not read it yet.
    pub is_unread: bool,
    /// How far it has come, of one's own: `read`, `delivered`, `waiting`.
    pub receipt: Option<String>,
}

impl Message {
    /// What it is called in a text: `#41`, or `web#41` if it is another project's.
    pub fn shown(&self) -> String {
        shown_number(&self.called)
    }

    /// Whether it went to several.
    pub fn is_broadcast(&self) -> bool {
        self.to.len() > 1
    }
}

/// A message by what replies call it.
pub fn shown_number(called: &str) -> String {
    if called.contains('#') { called.to_owned() } else { format!("#{called}") }
}

/// Something that is reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub path: String,
    pub project: Option<String>,
    pub holder: String,
    /// Others are refused to write it.
    pub is_enforced: bool,
    /// The person lets everyone write it.
    pub is_overridden: bool,
    pub is_shared: bool,
    pub reason: Option<String>,
    pub since: Timestamp,
    pub until: Option<Timestamp>,
    /// Who wants it, until when that is decided, and why.
    pub contest: Option<(String, Timestamp, Option<String>)>,
    /// Where commands about it are run.
    pub worktree: String,
    pub is_yours: bool,
}

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskState {
    Ready,
    Claimed,
    Blocked,
    Done,
}

impl TaskState {
    pub const ALL: [Self; 4] = [Self::Ready, Self::Claimed, Self::Blocked, Self::Done];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Claimed => "In work",
            Self::Blocked => "Waiting",
            Self::Done => "Done",
        }
    }
}

/// A task of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub spec: String,
    /// Where that is.
    pub file: String,
    pub id: String,
    pub title: String,
    pub state: TaskState,
    /// Who has it, or has done it, and when.
    pub who: Option<String>,
    pub at: Option<Timestamp>,
    /// Why it was taken, or what came of it.
    pub words: Option<String>,
    pub waits_for: Vec<String>,
}

/// Two agents and how near they are to each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub one: String,
    pub other: String,
    /// From 0 to 1.
    pub confidence: f64,
    /// `approaching`.
    pub kind: String,
    /// `rising`.
    pub trend: String,
    pub about: Vec<String>,
    /// Of the prediction, if there is one.
    pub number: Option<i64>,
}

/// Where an agent heads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub name: String,
    pub deepening: Vec<String>,
    pub emerging: Vec<String>,
    pub stable: Vec<String>,
    pub fading: Vec<String>,
}

/// A run, in one card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub number: i64,
    /// `●`, and `running` in words.
    pub mark: String,
    pub state: String,
    pub has_ended: bool,
    pub is_well: bool,
    pub name: String,
    pub role: String,
    pub cli: String,
    pub model: Option<String>,
    pub title: String,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub turns: Option<u32>,
    pub tokens: Option<u64>,
    /// In millionths of a dollar.
    pub cost: Option<u64>,
    /// The tool in use; what went wrong.
    pub doing: String,
    /// When anything was last heard of it.
    pub heard_at: Option<Timestamp>,
}

/// An entry of the journal, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLine {
    pub seq: i64,
    pub at: Timestamp,
    pub text: String,
}

/// A setting, its value, and where that is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
    /// `user`, `project`, `default`, `environment`, `command line`.
    pub tier: String,
    pub source: String,
    pub about: String,
}

/// What a tab about an agent shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DetailText {
    /// Of which agent, by its key, and in which tab.
    pub agent: String,
    pub tab: usize,
    pub lines: Vec<String>,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub agents: Vec<Agent>,
    pub queue: Vec<Item>,
    pub messages: Vec<Message>,
    pub reservations: Vec<Reservation>,
    pub tasks: Vec<Task>,
    pub pairs: Vec<Pair>,
    pub headings: Vec<Heading>,
    pub runs: Vec<Run>,
    pub feed: std::collections::VecDeque<FeedLine>,
    pub settings: Vec<Setting>,
    pub detail: DetailText,
    /// What was found of what was asked, and what was asked.
    pub found: (String, Vec<String>),
}
