//! The data that the screen shows, as plain types; a door gathers it from the rooms.

use consort_core::Timestamp;
use consort_core::presence::Status;

/// An agent, as a row of the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInfo {
    /// The id of the agent's session, which is unique.
    pub key: String,
    pub name: String,
    pub cli: String,
    pub project: String,
    /// The spec that the agent works from; agents without a spec are listed last.
    pub spec: Option<String>,
    pub status: Status,
    /// The tool in use, or the thing that the agent waits for.
    pub doing: String,
    pub task: Option<String>,
    /// The reason why the agent has that task.
    pub task_why: Option<String>,
    /// The lines added and removed since the agent's last commit, if known.
    pub lines: Option<(u32, u32)>,
    pub unread: usize,
    /// The cost in millionths of a dollar, if known.
    pub cost: Option<u64>,
    pub last_active: Timestamp,
    pub branch: Option<String>,
    pub model: Option<String>,
    pub worktree: String,
    /// The place of the agent's terminal: `%3 top-left`.
    pub place: String,
    pub has_pane: bool,
    /// The machine, if it is not this one.
    pub machine: Option<String>,
    pub subagents: Vec<String>,
    pub is_you: bool,
}

/// The time for which an agent may work without a tool before its row is marked.
const QUIET: i64 = 10 * Timestamp::MINUTE;

impl AgentInfo {
    /// Tells whether the agent seems to work, but has used no tool for 10 minutes.
    pub fn seems_stalled(&self, now: Timestamp) -> bool {
        self.status == Status::Working && now.since(self.last_active) >= QUIET
    }
}

/// The reason why an item needs the person. The order of the variants is the order of the queue.
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

    /// Returns the kind in words.
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

    /// Finds the kind with this name, as `consort waiting` writes it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "unconfirmed" => Some(Self::Unconfirmed),
            name => Self::ALL.into_iter().find(|kind| kind.words() == name),
        }
    }

    /// Tells whether the agent is blocked until the person answers.
    pub fn is_asking(self) -> bool {
        matches!(self, Self::Permission | Self::Question | Self::Plan | Self::Dialog)
    }

    /// Tells whether the item is about a failure.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::Stalled | Self::Unconfirmed)
    }
}

/// An item of the queue: something that needs the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The item's unique key.
    pub key: String,
    /// The number by which the item is answered; 0 if it cannot be answered, only dealt with.
    pub number: i64,
    pub kind: ItemKind,
    pub agent: String,
    pub cli: Option<String>,
    /// The tool that the agent asks about, such as `Bash`.
    pub tool: Option<String>,
    /// The full text of the question, the error or the message.
    pub text: String,
    /// Questions that are asked together, each with its options.
    pub questions: Vec<(String, Vec<String>)>,
    pub options: Vec<String>,
    pub since: Option<Timestamp>,
    /// The time at which a limit ends or a contest runs out.
    pub until: Option<Timestamp>,
    pub about: About,
}

/// The subject of an item, besides its agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum About {
    #[default]
    Nothing,
    /// A message, by its number in replies: `41`, `web#41`.
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
pub struct MessageInfo {
    pub id: String,
    /// The number of the message in replies: `41`, or `web#41` for another project's.
    pub called: String,
    pub at: Timestamp,
    pub from: String,
    pub to: Vec<String>,
    pub text: String,
    /// The kind, such as `question` or `handoff`; `None` for plain information.
    pub kind: Option<String>,
    /// Whether the person wrote it.
    pub is_mine: bool,
    /// Whether the person has not read it yet.
    pub is_unread: bool,
    /// The progress of a message from the person: `read`, `delivered`, `waiting`.
    pub receipt: Option<String>,
}

impl MessageInfo {
    /// Returns the message's number as it is shown: `#41`, or `web#41` if it is another project's.
    pub fn shown(&self) -> String {
        shown_number(&self.called)
    }

    /// Tells whether the message has several recipients.
    pub fn is_broadcast(&self) -> bool {
        self.to.len() > 1
    }
}

/// Returns a message's number as it is shown, from its number in replies.
pub fn shown_number(called: &str) -> String {
    if called.contains('#') { called.to_owned() } else { format!("#{called}") }
}

/// A reservation of a path or a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservationInfo {
    pub path: String,
    pub project: Option<String>,
    pub holder: String,
    /// Whether others' writes are refused.
    pub is_enforced: bool,
    /// Whether this is an override, by which the person lets everyone write the path.
    pub is_overridden: bool,
    pub is_shared: bool,
    pub reason: Option<String>,
    pub since: Timestamp,
    pub until: Option<Timestamp>,
    /// The agent that contests the hold, the deadline, and the reason.
    pub contest: Option<(String, Timestamp, Option<String>)>,
    /// The directory that commands about this reservation run in.
    pub worktree: String,
    pub is_yours: bool,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskColumn {
    Ready,
    Claimed,
    Blocked,
    Done,
}

impl TaskColumn {
    pub const ALL: [Self; 4] = [Self::Ready, Self::Claimed, Self::Blocked, Self::Done];

    /// Returns the state in words.
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
pub struct TaskInfo {
    pub spec: String,
    /// The path of the spec.
    pub file: String,
    pub id: String,
    pub title: String,
    pub state: TaskColumn,
    /// The agent that has the task or has done it; `at` is the time of that.
    pub who: Option<String>,
    pub at: Option<Timestamp>,
    /// The reason why the task was taken, or its result.
    pub words: Option<String>,
    pub waits_for: Vec<String>,
}

/// Two agents that may collide.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub one: String,
    pub other: String,
    /// The confidence that the agents will collide, from 0 to 1.
    pub confidence: f64,
    /// The kind of the collision, such as `approaching`.
    pub kind: String,
    /// The trend of the confidence, such as `rising`.
    pub trend: String,
    pub about: Vec<String>,
    /// The number of the prediction, if there is one.
    pub number: Option<i64>,
}

/// The topics that an agent heads for, by their trend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTopicsInfo {
    pub name: String,
    pub deepening: Vec<String>,
    pub emerging: Vec<String>,
    pub stable: Vec<String>,
    pub fading: Vec<String>,
}

/// A run, as its card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    pub number: i64,
    /// The mark of the state, such as `●`; `state` is the word, such as `running`.
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
    /// The cost in millionths of a dollar.
    pub cost: Option<u64>,
    /// The tool in use, or the error.
    pub doing: String,
    /// The time of the last output of the run.
    pub heard_at: Option<Timestamp>,
}

/// An entry of the journal, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLine {
    pub seq: i64,
    pub at: Timestamp,
    pub text: String,
}

/// A setting with its value and the source of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingInfo {
    pub key: String,
    pub value: String,
    /// The tier of the value: `user`, `project`, `default`, `environment` or `command line`.
    pub tier: String,
    pub source: String,
    pub about: String,
}

/// The text of a tab about an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTabText {
    /// The key of the agent; `tab` is the index of the tab.
    pub agent: String,
    pub tab: usize,
    pub lines: Vec<String>,
}

/// All data that the screen shows.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub agents: Vec<AgentInfo>,
    pub queue: Vec<Item>,
    pub messages: Vec<MessageInfo>,
    pub reservations: Vec<ReservationInfo>,
    pub tasks: Vec<TaskInfo>,
    pub pairs: Vec<Pair>,
    pub headings: Vec<AgentTopicsInfo>,
    pub runs: Vec<RunInfo>,
    pub feed: std::collections::VecDeque<FeedLine>,
    pub settings: Vec<SettingInfo>,
    pub detail: AgentTabText,
    /// The last question to the knowledge, and the lines that were found.
    pub found: (String, Vec<String>),
}
