//! Data of the presence room: agents, where they run, their activity, and
//! the requests and outcomes of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::claims::HeldSummary;
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

/// Between a session's id and what tells a second life of it from the first.
const SECOND_LIFE: char = '~';

/// One session of one agent CLI, as the CLI names it. It has files of its own,
/// so **every value can be part of a path**: see [`PathPart`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct SessionId(String);

impl SessionId {
    /// An id as somebody else states it; refused if it is not one.
    pub fn new(id: impl Into<String>) -> Result<Self, BadId> {
        let id = id.into();
        path_part::check(&id).map(|()| Self(id))
    }

    /// An id as an agent CLI sends it: a long one is used by its hash.
    pub fn from_cli(id: String) -> Result<Self, BadId> {
        match path_part::check(&id) {
            Ok(()) => Ok(Self(id)),
            Err(BadId::TooLong { .. }) => Ok(id.into()),
            Err(error) => Err(error),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of a second life of this session: it was resumed in that process
    /// while it runs in another.
    pub fn second_life(&self, process: &Process) -> Self {
        let life = text::checksum(format!("{} {}", process.pid, process.start).as_bytes());
        let id = &self.0[..self.0.floor_char_boundary(path_part::LONGEST_ID - 18)];
        Self(format!("{id}{SECOND_LIFE}{life:016x}"))
    }

    /// Whether it was given to a session that was resumed while it ran.
    pub fn is_second_life(&self) -> bool {
        self.0.contains(SECOND_LIFE)
    }

    /// Whether the CLI means this session by that id.
    pub fn has_cli_id(&self, id: &SessionId) -> bool {
        self == id || self.0.rsplit_once(SECOND_LIFE).is_some_and(|(first, _)| first == id.0)
    }

    /// What its files are called.
    pub fn path_part(&self) -> PathPart {
        PathPart::of_any(&self.0)
    }
}

/// An id that was accepted before, from our own store or notes. Earlier versions
/// accepted any text: what is no id is used by its hash.
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
    /// What an agent is called: `SwiftRaven`.
    AgentName
}

/// A registered agent: who it is, and where it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    pub session: SessionId,
    pub name: AgentName,
    /// Which agent CLI: `claude`, `codex`, …
    pub kind: String,
    pub project: Project,
    pub branch: Option<String>,
    pub model: Option<String>,
    pub joined_at: Timestamp,
    /// The spec it takes its tasks from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<SpecRef>,
    pub location: Location,
}

/// Where an agent runs. **Only its own machine can use it**; on another it is there to
/// be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The machine, and the process namespace on it.
    pub machine: String,
    pub process: Process,
    pub cwd: PathBuf,
    pub worktree: PathBuf,
    pub terminal: Terminal,
    /// The file that its spec was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_file: Option<PathBuf>,
}

/// Where its screen is, as far as its environment tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// The tmux pane: `%3`.
    pub pane: Option<String>,
    /// The socket of that tmux server.
    pub tmux: Option<PathBuf>,
    /// The X11 window id.
    pub window: Option<String>,
    /// The terminal program, as it calls itself.
    pub program: Option<String>,
}

/// A change of who is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PresenceChange {
    /// A repository was seen for the first time; its identity is settled.
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
    /// Long gone, and dropped for good.
    Forgotten {
        session: SessionId,
    },
}

impl PresenceChange {
    /// Who or what it changes.
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

/// How an agent came to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaveReason {
    /// The session ended.
    Ended,
    /// It was asked to leave, and stays away until it joins again.
    Asked,
    /// Its process is gone.
    Died,
    /// On another machine, and not heard from.
    Silent,
    /// Another session of the same process has taken its place.
    Replaced,
}

/// What an agent is doing. The order is the order of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Waiting for the person.
    Waiting,
    /// Idle for long on what others want.
    Stuck,
    Working,
    Idle,
    /// Idle, with nobody at its terminal.
    Away,
    Gone,
}

impl Status {
    /// Whether it could begin something now.
    pub fn is_idle(self) -> bool {
        matches!(self, Self::Idle | Self::Away | Self::Stuck)
    }
}

/// What an agent does at this moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivityUpdate {
    pub status: Status,
    /// The tool in use and on what.
    pub doing: Option<String>,
    /// What it waits for.
    pub waiting_for: Option<String>,
    /// Set when a prompt began it.
    pub prompt: bool,
    /// The model, where it is known; it stays as it was otherwise.
    pub model: Option<String>,
    /// Whether it asks the person before it acts; as with the model.
    pub asks_first: Option<bool>,
}

impl ActivityUpdate {
    /// A session that does this, and no more is known.
    pub fn of(status: Status) -> Self {
        Self { status, doing: None, waiting_for: None, prompt: false, model: None, asks_first: None }
    }
}

/// All that its hooks have told of an agent.
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
    /// How long an agent may be idle on what others want.
    pub const STUCK: i64 = 15 * Timestamp::MINUTE;

    /// Whether it has been idle for so long that others need not wait for it.
    pub fn is_idle_for_long(&self, now: Timestamp) -> bool {
        self.status.is_idle() && now.since(self.last_active) >= Self::STUCK
    }
}

/// What came of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityOutcome {
    Noted,
    /// Never heard of, or gone: it would have to join.
    Stranger,
    /// It was asked to leave.
    Dormant,
}

/// A helper that a session has started within itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subagent {
    pub id: String,
    pub kind: String,
    pub started_at: Timestamp,
}

/// An agent as it is seen now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentView {
    #[serde(flatten)]
    pub agent: Agent,
    pub status: Status,
    pub activity: Option<String>,
    pub waiting_for: Option<String>,
    pub last_active: Timestamp,
    pub prompts: u32,
    pub quadrant: Option<Quadrant>,
    pub subagents: Vec<Subagent>,
    pub left: Option<Departure>,
    /// Messages it has not read.
    pub unread: usize,
    /// Whether the caller is this agent.
    pub you: bool,
    /// What its pane shows, while somebody watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pane: Option<PaneGlance>,
}

/// When and why an agent left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Departure {
    pub at: Timestamp,
    pub reason: LeaveReason,
}

/// What can be seen of an agent from outside, now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    pub live: Option<LiveState>,
    pub quadrant: Option<Quadrant>,
}

/// What an agent's CLI publishes of it; beats what hooks last said, because an
/// interrupted turn fires no hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveState {
    pub status: Status,
    pub waiting_for: Option<String>,
    /// When it was published, where hooks may have said something newer.
    pub at: Option<Timestamp>,
}

/// Where on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quadrant {
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
    /// The whole left side, and so on.
    Left,
    Right,
    Top,
    Bottom,
}

impl Quadrant {
    /// Every one.
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

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quadrant| quadrant.as_str() == name)
    }

    /// Its name in messages and JSON.
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

/// A place on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub x: i32,
    pub y: i32,
}

/// A window's place and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    pub origin: Point,
    pub width: i32,
    pub height: i32,
}

/// How a name comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameWish {
    /// The name it had, if free; else a fresh one.
    Any,
    /// This one, or one like it if it is taken.
    Prefer(String),
    /// This one or nothing.
    Insist(String),
}

impl NameWish {
    /// Whether it asks for that very name: who does has the letters that wait for it.
    pub(crate) fn is_for(&self, given: &AgentName) -> bool {
        match self {
            Self::Prefer(name) | Self::Insist(name) => given.as_str().eq_ignore_ascii_case(name),
            Self::Any => false,
        }
    }
}

/// Who wants to join, and how.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    pub session: SessionId,
    pub wish: NameWish,
    pub kind: String,
    pub process: Process,
    pub cwd: PathBuf,
    pub model: Option<String>,
    pub terminal: Terminal,
    /// The spec to take tasks from, as typed; without it, the one it had.
    pub spec: Option<PathBuf>,
    /// The session whose place it takes, and all that was its.
    pub replaces: Option<SessionId>,
}

/// Who joined, and who else is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JoinOutcome {
    pub agent: Agent,
    /// False when it was here already.
    pub joined: bool,
    /// Whether it goes on with what it, or the one whose place it takes, was at.
    #[serde(skip)]
    pub goes_on: bool,
    /// The other agents of this project, by attention.
    pub others: Vec<AgentView>,
    /// More of them, of whom it was not looked up what they do.
    #[serde(skip)]
    pub unseen: Vec<Agent>,
}

/// What a session has that goes on after a compaction, a resume or a successor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// What it has reserved.
    pub held: HeldSummary,
    pub task: Option<TaskKey>,
    /// What it has not answered, and what was not answered to it.
    pub threads: Vec<OpenThread>,
}

/// Who left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeaveOutcome {
    pub session: SessionId,
    pub name: AgentName,
}

/// Who is called what now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenameOutcome {
    pub session: SessionId,
    pub from: AgentName,
    pub to: AgentName,
}

/// Whom to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The present agents of one project.
    Project(Project),
    /// Every project, and those who left within the last day.
    Everywhere,
}

/// Who is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhoOutcome {
    pub at: Timestamp,
    /// Absent when every project was asked for.
    pub project: Option<Project>,
    pub agents: Vec<AgentView>,
}
