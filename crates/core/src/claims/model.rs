//! Data of the claims room: resources, holds, contests, and the requests and outcomes
//! of its verbs.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

use super::Case;
use super::Needs;
use super::Pattern;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::Number;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::presence::SessionId;
use crate::presence::Status;
use crate::project::ProjectId;

/// What one may hold: paths, or anything that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// `file:src/auth/`
    Paths(Pattern),
    /// `topic:auth`, `port:3000`, any words.
    Named(String),
}

const FILE: &str = "file:";

impl Resource {
    /// The one that is kept under this spelling.
    pub fn parse(text: &str) -> Self {
        let pattern = text.strip_prefix(FILE).and_then(|pattern| Pattern::new(pattern).ok());
        pattern.map_or_else(|| Self::Named(text.to_owned()), Self::Paths)
    }

    /// What stands for paths in what was typed, if it does.
    pub fn path_in(text: &str) -> Option<&str> {
        text.strip_prefix(FILE)
    }

    /// Whether it means the same on the whole machine, whatever the project.
    pub fn is_of_the_machine(name: &str) -> bool {
        ["port:", "docker:"].iter().any(|kind| name.starts_with(kind))
    }

    /// Whether what is kept under this spelling may be about the same: a quick look that
    /// is wrong in one direction only.
    pub fn may_meet(&self, other: &str, case: Case) -> bool {
        match self {
            Self::Paths(pattern) => {
                other.strip_prefix(FILE).is_some_and(|other| pattern.may_meet(other, case))
            }
            Self::Named(name) => name == other,
        }
    }

    /// The spellings under which what overlaps it may be kept, and what else those begin
    /// with. Only where case matters.
    pub fn spellings_near(&self) -> (Vec<String>, Vec<String>) {
        let Self::Paths(pattern) = self else { return (vec![self.to_string()], Vec::new()) };
        let of_files = |texts: Vec<String>| texts.iter().map(|text| format!("{FILE}{text}")).collect();
        let (above, beginnings) = pattern.near();
        (of_files(above), of_files(beginnings))
    }

    /// The paths it means, if it is about paths.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Paths(pattern) => Some(pattern),
            Self::Named(_) => None,
        }
    }

    /// As people read it: a path without its `file:`.
    pub fn shown(&self) -> String {
        match self {
            Self::Paths(pattern) => pattern.shown(),
            Self::Named(name) => name.clone(),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paths(pattern) => write!(f, "{FILE}{}", pattern.as_str()),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Resource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::parse(&String::deserialize(deserializer)?))
    }
}

/// How much a hold asks of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A claim: others are told.
    Advisory,
    /// A reservation: others' writes are refused.
    Blocking,
    /// The person lets everyone write, no matter who holds it.
    Overridden,
}

/// Whether a hold is one agent's alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Exclusive,
    /// With others who share it.
    Shared,
}

/// One resource that one agent, or the person, holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Absent: it means the same on the whole machine, and paths are absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub resource: Resource,
    pub holder: Actor,
    /// Who that was, in words: `GoldFalcon (claude on feat/auth)`.
    pub label: String,
    pub strength: Strength,
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// For how long it was asked for, in milliseconds: it goes on for that long while its holder
    /// works on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
    /// The machine that its holder works on, and the worktree there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    /// Grows with every new holder: its number among the reservations of its project.
    #[serde(default)]
    pub generation: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
}

/// Someone else needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    pub by: Actor,
    pub label: String,
    pub at: Timestamp,
    /// From then on it may be taken.
    pub until: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HoldKey {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub resource: Resource,
    pub holder: Actor,
}

impl Hold {
    /// What tells it from other holds.
    pub fn key(&self) -> HoldKey {
        let Self { project, resource, holder, .. } = self.clone();
        HoldKey { project, resource, holder }
    }
}

/// A change of what is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimChange {
    /// Granted, or renewed on other terms. Generation 0 is the number that it is given.
    Held(Box<Hold>),
    Contested {
        #[serde(flatten)]
        key: HoldKey,
        contest: Contest,
    },
    Released {
        #[serde(flatten)]
        key: HoldKey,
        why: Release,
    },
}

impl ClaimChange {
    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        let project = match self {
            Self::Held(hold) => &hold.project,
            Self::Contested { key, .. } | Self::Released { key, .. } => &key.project,
        };
        let project = project.as_ref().map_or("", |project| project.as_str());
        vec![format!("hold:{project}:{}", self.resource())]
    }

    /// What it is about.
    pub fn resource(&self) -> &Resource {
        match self {
            Self::Held(hold) => &hold.resource,
            Self::Contested { key, .. } | Self::Released { key, .. } => &key.resource,
        }
    }
}

/// How a hold came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Release {
    /// By its holder, or by the person.
    Asked,
    /// Its holder's session ended, or its process.
    HolderGone,
    /// Its time was up.
    Expired,
    /// Contested for long enough.
    Forced,
    /// Taken over by the session that has taken its holder's place.
    TakenOver,
}

/// What to hold, all of it or nothing.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    pub what: Vec<String>,
    pub strength: Strength,
    pub mode: Mode,
    pub reason: Option<String>,
    /// Milliseconds.
    pub ttl: Option<i64>,
}

/// What was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldOutcome {
    pub holds: Vec<Hold>,
    /// What of it the person lets everyone write for a while.
    pub overrides: Vec<Hold>,
}

/// Which holds to release.
#[derive(Clone, Debug)]
pub struct ReleaseRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    pub what: ReleaseTarget,
    pub strength: Option<Strength>,
    /// Also another's, where that may be.
    pub force: bool,
}

/// Which holds to give up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseTarget {
    These(Vec<String>),
    /// All that the caller holds.
    Mine,
}

/// What was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseOutcome {
    pub released: Vec<Hold>,
}

/// A hold as it is seen now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldView {
    #[serde(flatten)]
    pub hold: Hold,
    /// What its holder is called now.
    pub name: String,
    /// What its holder works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub yours: bool,
}

/// What is held, as the caller sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldsOutcome {
    pub at: Timestamp,
    pub holds: Vec<HoldView>,
    /// Who changed what lately, and may not be done with it.
    pub touched: Vec<TouchView>,
}

/// How much is held in a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeldSummary {
    pub count: usize,
    pub first: Vec<HoldView>,
}

/// A write about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub path: PathBuf,
    pub extent: Extent,
    /// What writes: `sed`, `git add`; nothing for a tool of the agent's own.
    pub by: String,
    /// A link at the end of the path is itself meant, as `rm` does.
    pub is_entry: bool,
    /// What must be there for it to write.
    pub needs: Needs,
    /// For [`Extent::Commits`]: what `git diff` is to be asked for.
    pub range: Vec<String>,
}

/// How far a write reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    File,
    /// That file, or everything below that directory.
    Tree,
    Glob,
    /// Whatever is uncommitted in that worktree.
    Changes,
    /// Any file of that worktree.
    Worktree,
    /// What differs between commits.
    Commits,
}

/// A write that someone else's hold is in the way of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The path as the caller would write it.
    pub path: String,
    /// The same, wherever one is.
    pub place: PathBuf,
    pub extent: Extent,
    pub by: String,
    pub held: HoldView,
    /// What its holder does, and since when; nothing for the person.
    pub state: Option<(Status, Timestamp)>,
}

/// What is to become of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Free,
    /// It goes on, and the agent is told.
    Warned(String),
    Denied(String),
}

/// A command as it would be judged now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    pub verdict: &'static str,
    /// The files it would write, as far as its text tells.
    pub writes: Vec<String>,
    /// Who is in its way, in words.
    pub reasons: Vec<String>,
}

/// What is to be read-only while a command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShieldOutcome {
    /// Files and directories that are there.
    pub paths: Vec<PathBuf>,
    /// There are more than can be: none is.
    pub is_too_many: bool,
}

/// What is to become of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitOutcome {
    pub is_refused: bool,
    pub told: Vec<String>,
}

/// Two agents in different worktrees whose work will meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overlap {
    pub agents: [Agent; 2],
    /// What both have written lately.
    pub files: Vec<String>,
    /// What conflicts between what they have committed.
    pub conflicts: Vec<String>,
}

/// Why a path may be written or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathOutcome {
    pub at: Timestamp,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Whether another keeps it from being written.
    pub reserved: bool,
    /// Whether the caller may write it now.
    pub writable: bool,
    pub enforcement: &'static str,
    pub holds: Vec<HoldView>,
    /// By whose word it may be written in spite of them, and until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_until: Option<Timestamp>,
    pub touched: Vec<TouchView>,
}

/// A path that a session has written, as a note beside the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    pub session: SessionId,
    pub at: Timestamp,
    pub worktree: PathBuf,
    /// Relative to the worktree.
    pub path: String,
}

/// What follows from files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WroteOutcome {
    /// Where they really are.
    pub places: Vec<PathBuf>,
    /// What there is to say of others who write the same elsewhere.
    pub told: Option<String>,
}

/// A touch, and whose it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TouchView {
    #[serde(flatten)]
    pub touch: Touch,
    pub name: String,
    pub yours: bool,
}

/// A file as a session has seen it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStamp {
    pub path: PathBuf,
    pub at: Timestamp,
    pub stamp: Stamp,
}

/// What tells one state of a file from another; absent files have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Nanoseconds since the epoch.
    pub changed: i64,
    pub size: u64,
}

/// What hooks read instead of the store: every hold on paths that others must know. It may
/// say too much, never too little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Repositories on this machine, and whose they are.
    pub repositories: Vec<(PathBuf, ProjectId)>,
    pub holds: Vec<PublishedHold>,
    /// Something could not be read: the store must be asked.
    pub is_partial: bool,
}

/// A hold as hooks read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedHold {
    pub project: Option<ProjectId>,
    pub holder: Actor,
    /// The holder in words.
    pub label: String,
    pub strength: Strength,
    pub mode: Mode,
    pub until: Option<Timestamp>,
    pub pattern: Pattern,
}
