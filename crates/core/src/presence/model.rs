//! Data of the presence room: agents, their locations, their activity, and the requests and outcomes of the
//! room's verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::claims::HoldsSummary;
use crate::host::Process;
use crate::id::id;
use crate::messages::OpenThread;
use crate::monitor::PaneGlance;
use crate::path_part;
use crate::path_part::BadId;
use crate::path_part::PathPart;
use crate::project::Project;
use crate::tasks::SpecRef;
use crate::tasks::TaskKey;
use crate::text;

/// Separates a session's id from the suffix that a second life of the session gets.
const SECOND_LIFE: char = '~';

/// One session of one agent CLI, as the CLI names it. It has files of its own,
/// so **every value can be part of a path**: see [`PathPart`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct SessionId(String);

impl SessionId {
    /// Checks an id that comes from outside, and refuses an invalid one.
    pub fn new(id: impl Into<String>) -> Result<Self, BadId> {
        let id = id.into();
        path_part::check(&id).map(|()| Self(id))
    }

    /// Takes an id as an agent CLI sends it; an id that is too long is replaced by its hash.
    pub fn from_cli(id: String) -> Result<Self, BadId> {
        match path_part::check(&id) {
            Ok(()) => Ok(Self(id)),
            Err(BadId::TooLong { .. }) => Ok(id.into()),
            Err(error) => Err(error),
        }
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id of a second life of this session: the session was resumed in that process while it
    /// still runs in another.
    pub fn second_life(&self, process: &Process) -> Self {
        let life = text::stable_hash(format!("{} {}", process.pid, process.start).as_bytes());
        let id = &self.0[..self.0.floor_char_boundary(path_part::LONGEST_ID - 18)];
        Self(format!("{id}{SECOND_LIFE}{life:016x}"))
    }

    /// Tells whether the id belongs to a second life of a session: see [`Self::second_life`].
    pub fn is_second_life(&self) -> bool {
        self.0.contains(SECOND_LIFE)
    }

    /// Tells whether the CLI means this session by `id`; a second life has the CLI id of the first.
    pub fn has_cli_id(&self, id: &SessionId) -> bool {
        self == id || self.0.rsplit_once(SECOND_LIFE).is_some_and(|(first, _)| first == id.0)
    }

    /// Returns the name of the session's files.
    pub fn path_part(&self) -> PathPart {
        PathPart::escaped_or_hashed(&self.0)
    }
}

/// Reads an id that was accepted before, from our own store or notes. Earlier versions accepted any text:
/// an invalid id is replaced by its hash.
impl<S: Into<String>> From<S> for SessionId {
    fn from(id: S) -> Self {
        let id = id.into();
        match path_part::check(&id) {
            Ok(()) => Self(id),
            Err(_) => Self(PathPart::hashed(&id).to_string()),
        }
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

id! {
    /// The name of an agent: `SwiftRaven`.
    AgentName
}

/// A registered agent: its session, name, CLI, project and location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub session: SessionId,
    pub name: AgentName,
    /// The name of the agent CLI: `claude`, `codex`, …
    pub kind: String,
    pub project: Project,
    pub branch: Option<String>,
    pub model: Option<String>,
    pub joined_at: Timestamp,
    /// The spec that the agent takes its tasks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<SpecRef>,
    pub location: Location,
}

/// The machine, process, directories and terminal of an agent. **Only the agent's own machine can use them**;
/// other machines only show them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The machine, and the process namespace on it.
    pub machine: String,
    pub process: Process,
    pub cwd: PathBuf,
    pub worktree: PathBuf,
    pub terminal: Terminal,
    /// The file in which the agent's spec was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_file: Option<PathBuf>,
}

/// The terminal of an agent, as far as the agent's environment tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// The id of the tmux pane: `%3`.
    pub pane: Option<String>,
    /// The socket of the pane's tmux server.
    pub tmux: Option<PathBuf>,
    /// The X11 window id.
    pub window: Option<String>,
    /// The terminal program, as it calls itself.
    pub program: Option<String>,
}

/// A change of the agents that are here, or of the known repositories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PresenceChange {
    /// A repository was seen for the first time; this settles its project.
    RepositorySeen {
        machine: String,
        repository: PathBuf,
        project: Project,
    },
    Joined(Box<Agent>),
    Renamed {
        session: SessionId,
        from: AgentName,
        name: AgentName,
    },
    Left {
        session: SessionId,
        reason: LeaveReason,
    },
    /// The session left long ago, and its record is dropped.
    Forgotten {
        session: SessionId,
    },
}

impl PresenceChange {
    /// Lists the subjects of the change, for the journal.
    pub(crate) fn about(&self) -> Vec<String> {
        vec![match self {
            Self::RepositorySeen { machine, repository, .. } => {
                format!("repository:{machine}:{}", repository.display())
            }
            Self::Joined(agent) => format!("agent:{}", agent.session),
            Self::Renamed { session, .. } | Self::Left { session, .. } | Self::Forgotten { session } => {
                format!("agent:{session}")
            }
        }]
    }
}

/// The reason an agent left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaveReason {
    /// The session ended.
    Ended,
    /// The agent was asked to leave, and stays away until it asks to join.
    Asked,
    /// The agent's process is gone.
    Died,
    /// The agent's process cannot be seen from here, and nothing was heard from the agent for too long.
    Silent,
    /// Another session of the same process has taken the agent's place.
    Replaced,
}

/// The kind of an agent's activity. Statuses are ordered by how much they need the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The agent waits for the person.
    Waiting,
    /// The agent has been idle for long, while it has a task or holds something that others want.
    Stuck,
    Working,
    Idle,
    /// The agent is idle, with nobody at its terminal.
    Away,
    Gone,
}

impl Status {
    /// Tells whether the agent is not working and could begin something now.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Idle | Self::Away | Self::Stuck)
    }
}

/// An update of what an agent is doing, as one of its hooks reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityUpdate {
    pub status: Status,
    /// The tool in use and its target.
    pub doing: Option<String>,
    /// The question or event that the agent waits for.
    pub waiting_for: Option<String>,
    /// Whether a new prompt caused this update.
    pub prompt: bool,
    /// The model, if known; `None` leaves the former value.
    pub model: Option<String>,
    /// Whether the agent asks the person before it acts; `None` leaves the former value.
    pub asks_first: Option<bool>,
}

impl ActivityUpdate {
    /// Returns an update with this status and nothing else.
    pub fn of(status: Status) -> Self {
        Self { status, doing: None, waiting_for: None, prompt: false, model: None, asks_first: None }
    }
}

/// Everything that an agent's hooks have reported about its activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    pub last_active: Timestamp,
    pub status: Status,
    pub doing: Option<String>,
    pub waiting_for: Option<String>,
    pub prompts: u32,
    pub model: Option<String>,
    pub asks_first: Option<bool>,
    pub subagents: Vec<Subagent>,
}

impl Activity {
    /// Milliseconds after which an idle agent counts as stuck, if others want something of it.
    pub const STUCK: i64 = 15 * Timestamp::MINUTE;

    /// Tells whether the agent has been idle for at least [`Self::STUCK`].
    pub fn is_idle_for_long(&self, now: Timestamp) -> bool {
        self.status.is_idle() && now.since(self.last_active) >= Self::STUCK
    }
}

/// The result of noting an [`ActivityUpdate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityOutcome {
    Noted,
    /// The session is unknown or has left: it would have to join.
    Stranger,
    /// The session was asked to leave.
    Dormant,
}

/// A helper agent that a session runs inside itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subagent {
    pub id: String,
    pub kind: String,
    pub started_at: Timestamp,
}

/// An agent with its current status and activity, as lists of agents show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentView {
    #[serde(flatten)]
    pub agent: Agent,
    pub status: Status,
    pub activity: Option<String>,
    pub waiting_for: Option<String>,
    pub last_active: Timestamp,
    pub prompts: u32,
    pub quadrant: Option<ScreenPart>,
    pub subagents: Vec<Subagent>,
    pub left: Option<Departure>,
    /// The number of messages that the agent has not read.
    pub unread: usize,
    /// Whether the caller is this agent.
    pub you: bool,
    /// The watcher's view of the agent's pane, while a watcher runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<PaneGlance>,
}

/// The time and the reason of an agent's leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Departure {
    pub at: Timestamp,
    pub reason: LeaveReason,
}

/// Facts about an agent that are observed from outside: its CLI's own status, and the place of its window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    pub live: Option<CliStatus>,
    pub quadrant: Option<ScreenPart>,
}

/// The status that an agent's CLI itself publishes. It overrides the hooks, because an interrupted turn fires
/// no hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliStatus {
    pub status: Status,
    pub waiting_for: Option<String>,
    /// The time of publication, if hooks may have reported something newer since.
    pub at: Option<Timestamp>,
}

/// The part of the screen that a window fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScreenPart {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
    /// The whole left half; the following three are the other halves.
    Left,
    Right,
    Top,
    Bottom,
}

impl ScreenPart {
    /// All parts of the screen.
    pub const ALL: [Self; 8] = [
        Self::TopLeft,
        Self::TopRight,
        Self::BottomLeft,
        Self::BottomRight,
        Self::Left,
        Self::Right,
        Self::Top,
        Self::Bottom,
    ];

    /// Finds the part of the screen with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quadrant| quadrant.as_str() == name)
    }

    /// Returns the name in messages and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TopLeft => "top-left",
            Self::TopRight => "top-right",
            Self::BottomLeft => "bottom-left",
            Self::BottomRight => "bottom-right",
            Self::Left => "left",
            Self::Right => "right",
            Self::Top => "top",
            Self::Bottom => "bottom",
        }
    }
}

/// A position on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// The position and size of a window or a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub origin: Point,
    pub width: i32,
    pub height: i32,
}

/// The name that a session wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameWish {
    /// The session's former name if it is free, else a generated one.
    Any,
    /// This name, or the name with a number if it is taken.
    Prefer(String),
    /// Exactly this name, or an error.
    Insist(String),
}

impl NameWish {
    /// Tells whether the session asked for exactly this name: then it gets the letters that wait for that
    /// name.
    pub(crate) fn is_for(&self, given: &AgentName) -> bool {
        match self {
            Self::Prefer(name) | Self::Insist(name) => given.as_str().eq_ignore_ascii_case(name),
            Self::Any => false,
        }
    }
}

/// A request of a session to join.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    pub session: SessionId,
    pub wish: NameWish,
    pub kind: String,
    pub process: Process,
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub terminal: Terminal,
    /// The path of the spec to take tasks from, as typed; `None` keeps the session's former spec.
    pub spec: Option<PathBuf>,
    /// The session that this one replaces, and whose holds, task and letters it takes over.
    pub replaces: Option<SessionId>,
}

/// The agent that joined, and the other agents in its project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JoinOutcome {
    pub agent: Agent,
    /// Whether the agent is new here; `false` if it was already present.
    pub joined: bool,
    /// Whether the agent continues earlier work: its own or that of the session it replaces.
    #[serde(skip)]
    pub goes_on: bool,
    /// The other agents of this project, those that need the person first.
    pub others: Vec<AgentView>,
    /// The remaining agents of this project, whose activity was not looked up.
    #[serde(skip)]
    pub unseen: Vec<Agent>,
    /// The count of arrivals with this one; `None` if the agent was already present.
    #[serde(skip)]
    pub arrival_count: Option<String>,
}

/// Unfinished business of a session that goes on after a compaction or a resume, or in its successor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The session's reservations.
    pub held: HoldsSummary,
    pub task: Option<TaskKey>,
    /// Conversations that wait for an answer, by the session or by the other side.
    pub threads: Vec<OpenThread>,
}

/// The agent that left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaveOutcome {
    pub session: SessionId,
    pub name: AgentName,
}

/// The old and the new name of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenameOutcome {
    pub session: SessionId,
    pub from: AgentName,
    pub to: AgentName,
}

/// The agents to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhoScope {
    /// The present agents of one project.
    Project(Project),
    /// The present agents of every project, and the last hundred that left within a day.
    Everywhere,
}

/// The agents that are here, at one time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhoOutcome {
    pub at: Timestamp,
    /// The project, or `None` if every project was asked for.
    pub project: Option<Project>,
    pub agents: Vec<AgentView>,
}
