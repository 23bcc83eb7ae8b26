//! Data of the claims room: resources, holds, contests, and the requests and outcomes
//! of its verbs.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::Serializer;

use super::Case;
use super::LastWrite;
use super::PathCondition;
use super::Pattern;
use crate::Timestamp;
use crate::journal::Actor;
use crate::journal::Number;
use crate::presence::Agent;
use crate::presence::CallerFacts;
use crate::presence::Status;
use crate::project::ProjectId;

/// A resource that an agent can hold: paths, or anything that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// `file:src/auth/`
    Paths(Pattern),
    /// `topic:auth`, `port:3000`, any words.
    Named(String),
}

const FILE: &str = "file:";

impl Resource {
    /// Parses the stored spelling of a resource.
    pub fn parse(text: &str) -> Self {
        let pattern = text.strip_prefix(FILE).and_then(|pattern| Pattern::new(pattern).ok());
        pattern.map_or_else(|| Self::Named(text.to_owned()), Self::Paths)
    }

    /// Returns the path in a typed `file:…`.
    pub fn path_in(text: &str) -> Option<&str> {
        text.strip_prefix(FILE)
    }

    /// Tells whether a name means the same on the whole machine, whatever the project.
    pub fn is_of_the_machine(name: &str) -> bool {
        ["port:", "docker:"].iter().any(|kind| name.starts_with(kind))
    }

    /// Tells whether a resource with this stored spelling may overlap: a quick check that may
    /// wrongly say yes, never wrongly no.
    pub fn may_overlap(&self, other: &str, case: Case) -> bool {
        match self {
            Self::Paths(pattern) => {
                other.strip_prefix(FILE).is_some_and(|other| pattern.may_overlap(other, case))
            }
            Self::Named(name) => name == other,
        }
    }

    /// Lists where overlapping resources may be stored: exact spellings, and the beginnings of
    /// all other spellings. Only where case matters.
    pub fn overlap_lookup_keys(&self) -> (Vec<String>, Vec<String>) {
        let Self::Paths(pattern) = self else { return (vec![self.to_string()], Vec::new()) };
        let of_files = |texts: Vec<String>| texts.iter().map(|text| format!("{FILE}{text}")).collect();
        let (above, beginnings) = pattern.overlap_lookup_keys();
        (of_files(above), of_files(beginnings))
    }

    /// Returns the pattern, if the resource is paths.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Paths(pattern) => Some(pattern),
            Self::Named(_) => None,
        }
    }

    /// Formats the resource for people: a path without its `file:`.
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

/// The strength of a hold against others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// A claim: others are told.
    Advisory,
    /// A reservation: others' writes are refused.
    Blocking,
    /// An override: the person lets everyone write, no matter who holds the paths.
    Overridden,
}

/// Whether a hold is one agent's alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldMode {
    #[default]
    Exclusive,
    /// With others who share it.
    Shared,
}

/// One resource that one agent, or the person, holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The project of the resource. Absent: the resource means the same on the whole machine, and
    /// paths are absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub resource: Resource,
    pub holder: Actor,
    /// The holder in words: `GoldFalcon (claude on feat/auth)`.
    pub label: String,
    pub strength: Strength,
    pub mode: HoldMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// The duration that was asked for, in milliseconds; it begins again while the holder works
    /// on the paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
    /// The machine that its holder works on; `worktree` is there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<PathBuf>,
    /// The number of the grant within its project, which grows with every new holder.
    #[serde(default)]
    pub generation: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
}

/// A request of another to give a hold up, with a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    pub by: Actor,
    pub label: String,
    pub at: Timestamp,
    /// The deadline, from which on the hold may be taken.
    pub until: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The key of a hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HoldKey {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub resource: Resource,
    pub holder: Actor,
}

impl Hold {
    /// Returns the key, which tells the hold from other holds: project, resource and holder.
    pub fn key(&self) -> HoldKey {
        let Self { project, resource, holder, .. } = self.clone();
        HoldKey { project, resource, holder }
    }
}

/// A change of holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimChange {
    /// A hold was granted, or renewed on other terms. Generation 0 stands for the number that
    /// this change is given.
    Held(Box<Hold>),
    Contested {
        #[serde(flatten)]
        key: HoldKey,
        contest: Contest,
    },
    Released {
        #[serde(flatten)]
        key: HoldKey,
        why: ReleaseCause,
    },
}

impl ClaimChange {
    /// Lists the subject of the change: the hold.
    pub(crate) fn about(&self) -> Vec<String> {
        let project = match self {
            Self::Held(hold) => &hold.project,
            Self::Contested { key, .. } | Self::Released { key, .. } => &key.project,
        };
        let project = project.as_ref().map_or("", |project| project.as_str());
        vec![format!("hold:{project}:{}", self.resource())]
    }

    /// Returns the resource that the change is about.
    pub fn resource(&self) -> &Resource {
        match self {
            Self::Held(hold) => &hold.resource,
            Self::Contested { key, .. } | Self::Released { key, .. } => &key.resource,
        }
    }
}

/// The reason a hold ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseCause {
    /// Released by its holder.
    Asked,
    /// Its holder's session ended, or its process.
    HolderGone,
    /// Its time was up.
    Expired,
    /// Taken from its holder, after an unanswered contest or by the person.
    Forced,
    /// Taken over by the session that succeeds its holder.
    TakenOver,
}

/// A request to hold resources, all of them or none.
#[derive(Clone, Debug)]
pub struct HoldRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    pub what: Vec<String>,
    pub strength: Strength,
    pub mode: HoldMode,
    pub reason: Option<String>,
    /// The duration in milliseconds.
    pub ttl: Option<i64>,
}

/// The holds that were granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldOutcome {
    pub holds: Vec<Hold>,
    /// Overrides by which the person lets everyone write paths of these holds for a while.
    pub overrides: Vec<Hold>,
}

/// A request to release holds.
#[derive(Clone, Debug)]
pub struct ReleaseRequest {
    pub caller: CallerFacts,
    pub cwd: PathBuf,
    pub what: ReleaseTarget,
    pub strength: Option<Strength>,
    /// Whether to release others' holds too, where that is allowed.
    pub force: bool,
}

/// The holds to release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseTarget {
    These(Vec<String>),
    /// All that the caller holds.
    Mine,
}

/// The holds that were released.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseOutcome {
    pub released: Vec<Hold>,
}

/// A hold as the caller sees it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldView {
    #[serde(flatten)]
    pub hold: Hold,
    /// The present name of its holder.
    pub name: String,
    /// The task that its holder works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub yours: bool,
}

/// The holds and the latest edits, as the caller sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HoldsOutcome {
    pub at: Timestamp,
    pub holds: Vec<HoldView>,
    /// The latest edits, whose authors may not be done.
    pub touched: Vec<LastWriteView>,
}

/// The number of holds, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HoldsSummary {
    pub count: usize,
    pub first: Vec<HoldView>,
}

/// A write about to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingWrite {
    pub path: PathBuf,
    pub extent: Extent,
    /// The program that writes: `sed`, `git add`; empty for a tool of the agent's own.
    pub by: String,
    /// Whether a link at the end of the path is itself written, as by `rm`.
    pub is_entry: bool,
    /// The condition on the path without which the program does not write.
    pub needs: PathCondition,
    /// The arguments of `git diff` that select commits: for [`Extent::Commits`], and for paths
    /// that are written only where commits differ.
    pub range: Vec<String>,
}

/// The extent of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    File,
    /// The file, or everything below the directory.
    Tree,
    Glob,
    /// All that is uncommitted in the worktree.
    Changes,
    /// Any file of the worktree.
    Worktree,
    /// The files that differ between commits.
    Commits,
}

/// A write that someone else's hold is in the way of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObstructedWrite {
    /// The path, relative to its worktree.
    pub path: String,
    /// The path, absolute.
    pub place: PathBuf,
    pub extent: Extent,
    pub by: String,
    pub held: HoldView,
    /// The holder's status and when it was last active; `None` for the person.
    pub state: Option<(Status, Timestamp)>,
}

/// The guard's decision about a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Free,
    /// The write goes on, and the agent gets this text.
    Warned(String),
    Denied(String),
}

/// The judgement of a command, if it ran now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    pub verdict: &'static str,
    /// The files it would write, as far as its text tells.
    pub writes: Vec<String>,
    /// The holders in its way, in words.
    pub reasons: Vec<String>,
}

/// The paths to make read-only while a command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShieldOutcome {
    /// Existing files and directories.
    pub paths: Vec<PathBuf>,
    /// Whether there are too many, so that none is made read-only.
    pub is_too_many: bool,
}

/// The decision about a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitOutcome {
    pub is_refused: bool,
    pub told: Vec<String>,
}

/// Two agents in different worktrees whose work will collide when it is merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorktreeOverlap {
    pub agents: [Agent; 2],
    /// The files that both have written lately.
    pub files: Vec<String>,
    /// The files that conflict between their commits.
    pub conflicts: Vec<String>,
}

/// The reasons a path may be written or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathExplanation {
    pub at: Timestamp,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Whether another's reservation is in the way.
    pub reserved: bool,
    /// Whether another has reserved it in another worktree, which stops nobody here.
    pub reserved_elsewhere: bool,
    /// Whether the caller may write it now.
    pub writable: bool,
    pub enforcement: &'static str,
    pub holds: Vec<HoldView>,
    /// The time until which the person lets everyone write it in spite of the holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overridden_until: Option<Timestamp>,
    pub touched: Vec<LastWriteView>,
}

/// The results of noting written files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WroteOutcome {
    /// The real paths of the files.
    pub places: Vec<PathBuf>,
    /// A text for the session about others who write the same files in other worktrees.
    pub told: Option<String>,
}

/// The last write of a file, with the name of its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastWriteView {
    #[serde(flatten)]
    pub last_write: LastWrite,
    pub name: String,
    pub yours: bool,
}

/// A file in the state in which a session has seen it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStamp {
    pub path: PathBuf,
    pub at: Timestamp,
    pub stamp: FileStamp,
}

/// The change time and size of a file, which tell its states apart; both are zero for an absent file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// Nanoseconds since the epoch.
    pub changed: i64,
    pub size: u64,
}

/// The published holds on paths that others must know, which hooks read instead of the store.
/// They may say too much, never too little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedHolds {
    /// Repositories on this machine, with their projects.
    pub repositories: Vec<(PathBuf, ProjectId)>,
    pub holds: Vec<PublishedHold>,
    /// Whether something could not be read or is outdated, so that the store must be asked.
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
    pub mode: HoldMode,
    pub until: Option<Timestamp>,
    pub pattern: Pattern,
}
