//! Data of the knowledge room: scopes, edits, the records that are read, and the requests and
//! outcomes of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use super::Kind;
use super::RenewalRequest;
use super::merge::FORGOTTEN;
use crate::Timestamp;
use crate::journal::EntryId;
use crate::journal::Number;
use crate::journal::Seq;
use crate::presence::CallerFacts;
use crate::project::ProjectId;

/// The owner of knowledge: a project or the person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Project(ProjectId),
    /// The person, whose own knowledge counts in every project.
    Global,
}

impl Scope {
    /// Returns the project; `None` for the person's own knowledge.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Project(project) => Some(project),
            Self::Global => None,
        }
    }

    /// Returns the scope as a key.
    pub fn as_str(&self) -> &str {
        self.project().map_or("", ProjectId::as_str)
    }
}

impl From<Option<ProjectId>> for Scope {
    fn from(project: Option<ProjectId>) -> Self {
        project.map_or(Self::Global, Self::Project)
    }
}

/// The author of something recorded, with the author's CLI and commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// An agent's name, `you` for the person, or `consort`.
    pub name: String,
    /// The agent's CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The way by which it came here, if it was recorded elsewhere: `git`, `sync`, `import`.
    /// Anything from elsewhere may carry any name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

impl Source {
    /// Returns the name, and the way by which it came.
    pub fn shown(&self) -> String {
        match &self.via {
            Some(via) => format!("{} ({via})", self.name),
            None => self.name.clone(),
        }
    }
}

/// One change of one entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub entity: String,
    #[serde(flatten)]
    pub change: EditChange,
}

/// The effect of an edit on its entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditChange {
    /// Sets a value: the newest counts.
    Set {
        field: String,
        value: Value,
    },
    /// Adds a member to a list; `value` is its place among the members that were added at once.
    Add {
        set: String,
        member: String,
        value: Value,
    },
    Remove {
        set: String,
        member: String,
    },
}

/// An edit with its author, time and replica.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedEdit<E = Edit, S = Source> {
    #[serde(flatten)]
    pub edit: E,
    pub at: Timestamp,
    pub writer: u64,
    pub by: S,
}

impl StampedEdit {
    /// Returns the same edit, borrowed.
    pub fn borrowed(&self) -> StampedEdit<&Edit, &Source> {
        let Self { edit, at, writer, by } = self;
        StampedEdit { edit, at: *at, writer: *writer, by }
    }
}

impl StampedEdit<&Edit, &Source> {
    pub(super) fn to_owned(&self) -> StampedEdit {
        let Self { edit, at, writer, by } = *self;
        StampedEdit { edit: edit.clone(), at, writer, by: by.clone() }
    }
}

/// A change of what is known. The entry says in which project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeChange {
    /// A batch that was recorded here.
    Edited {
        writer: u64,
        by: Source,
        edits: Vec<Edit>,
        /// An idempotency key: a batch is recorded only once under it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// Time at which the batch counts as said, if the entry's own is too early: the batch
        /// replaces values of a machine whose clock was ahead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    /// The update of another replica as it came, and the edits in it that were new.
    Merged {
        update: String,
        edits: Vec<StampedEdit>,
        /// Edits that do not count: they are dated so far ahead that nothing said here could
        /// replace them, or their field may not have such a value. They are kept, because the
        /// document has them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ahead: Vec<StampedEdit>,
    },
}

/// Longest time by which edits of other machines may be dated ahead of this machine's clock.
pub const LONGEST_AHEAD: i64 = Timestamp::DAY;

/// Returns the time at which a write counts as said: **later than every value that its author had
/// read**, whatever the clocks say. `None` if `now` is late enough.
pub(super) fn time_after(now: Timestamp, read: Timestamp) -> Option<Timestamp> {
    (read >= now).then(|| read.plus(1))
}

impl KnowledgeChange {
    /// Returns the keys of the entities that the change is about.
    pub(crate) fn about(&self) -> Vec<String> {
        let entities: std::collections::BTreeSet<&str> = match self {
            Self::Edited { edits, .. } => edits.iter().map(|edit| edit.entity.as_str()).collect(),
            Self::Merged { edits, .. } => edits.iter().map(|one| one.edit.entity.as_str()).collect(),
        };
        entities.into_iter().map(|entity| format!("knowledge:{entity}")).collect()
    }

    /// Tells whether the change forgets something that was recorded before it.
    pub fn forgets(&self) -> bool {
        let mut edits = self.stamped(Timestamp(0)).into_iter().map(|stamped| &stamped.edit.change);
        edits.any(|change| matches!(change, EditChange::Set { field, .. } if field == FORGOTTEN))
    }

    /// Returns all edits with their stamps; `at` is the time of the entry.
    pub fn stamped(&self, at: Timestamp) -> Vec<StampedEdit<&Edit, &Source>> {
        match self {
            Self::Edited { writer, by, edits, at: said, .. } => {
                let at = said.unwrap_or(at);
                edits.iter().map(|edit| StampedEdit { edit, at, writer: *writer, by }).collect()
            }
            Self::Merged { edits, .. } => edits.iter().map(StampedEdit::borrowed).collect(),
        }
    }
}

/// The place up to which somebody has followed what is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgeCursor {
    pub(super) through: Seq,
    /// The last entry about knowledge, by which the store is recognised.
    pub(super) newest: Option<(Seq, EntryId)>,
}

/// A record: everything known under one kind and name, merged from all entities of that name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    pub kind: Kind,
    /// The name that it is known by.
    pub name: String,
    /// The values, in the order of the kind's fields; empty ones are left out.
    pub fields: Map<String, Value>,
    /// The time of the newest statement about it.
    pub at: Timestamp,
    pub by: Source,
    /// Time since when it is stale: a file that it is about has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<Timestamp>,
    /// The entities that it was merged from.
    #[serde(skip)]
    pub ids: Vec<String>,
}

impl Known {
    /// Returns a field's text; empty if it has none.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the texts of a field that is a list.
    pub fn texts(&self, field: &str) -> impl Iterator<Item = &str> {
        let texts = self.fields.get(field).and_then(Value::as_array);
        texts.into_iter().flatten().filter_map(Value::as_str)
    }
}

/// A batch of actions to be recorded.
#[derive(Clone, Debug)]
pub struct ActRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    /// A list of actions: `[["record-principle", {…}], …]`.
    pub actions: Value,
    /// The worktree that has the files of the scope, as they are now.
    pub worktree: PathBuf,
    /// The caller's directory, for paths that are not absolute.
    pub cwd: PathBuf,
    pub key: Option<String>,
    /// Whether the person means it, though something in it looks like a secret.
    pub even_so: bool,
}

/// A request that the next session which touches a file looks again at what is known of it.
#[derive(Clone, Debug)]
pub struct RenewRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    pub worktree: PathBuf,
    /// The directory that paths are relative to.
    pub cwd: PathBuf,
    /// The name of the record; `None`: everything that is stale.
    pub name: Option<String>,
}

/// The requests that were made, and the records for which none could be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenewalRequests {
    /// One request for each file that a record depends on.
    pub asked: Vec<RenewalRequest>,
    /// The names of records that depend on no file, so that no session can be asked.
    pub nowhere: Vec<String>,
    /// Number of records that were meant.
    pub found: usize,
}

/// Another project whose knowledge is like that of this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarProject {
    pub project: ProjectId,
    pub name: String,
    /// The likeness, from 0 (nothing in common) to 1.
    pub likeness: f64,
    /// Words that both use for what they know, rarest first.
    pub shared: Vec<String>,
}

/// Something that sessions found out and nobody recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Suggestion {
    /// A file that several sessions had to read.
    File { path: String, readers: usize },
    /// A message that sounds like a decision.
    Decision { number: Number, by: String, text: String },
    /// A command that failed, and the one that worked after it.
    Command { failed: String, worked: String },
}

/// A request to forget for good everything of one name.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    pub worktree: PathBuf,
    pub name: String,
}

/// Number of entities that were forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForgetOutcome {
    pub entities: usize,
}

/// A record from elsewhere, to be recorded here.
#[derive(Clone, Debug)]
pub struct ImportedThing {
    /// The action that records it: `["record-principle", {…}]`.
    pub action: Value,
    /// The author there, if that is told; `at` is the time.
    pub by: Option<Source>,
    pub at: Option<Timestamp>,
}

/// The outcome of an import. All of it is one entry, or nothing is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportOutcome {
    pub recorded: usize,
    /// Relationships to names that are known neither here nor in the import.
    pub dangling: Vec<String>,
}

/// The outcome of recording a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActOutcome {
    /// Number of the batch among those of its scope.
    pub number: Number,
    /// Whether the batch had been recorded before under the same key, so that nothing was done now.
    pub duplicate: bool,
    /// The result of each action, in words.
    pub results: Vec<String>,
}

/// Makes a name for a replica: a number of fifty-three bits, so that JavaScript can represent it,
/// and never zero.
pub(super) fn fresh_replica(random: [u8; 10]) -> u64 {
    let bits = random[..7].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    (bits & ((1 << 53) - 1)).max(1)
}
