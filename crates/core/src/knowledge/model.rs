//! Data of the knowledge room: scopes, edits, what is known, and the requests and
//! outcomes of its verbs.

use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use super::Kind;
use super::Renewal;
use super::merge::FORGOTTEN;
use crate::Timestamp;
use crate::journal::EntryId;
use crate::journal::Number;
use crate::journal::Seq;
use crate::presence::CallerFacts;
use crate::project::ProjectId;

/// Whose knowledge.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    Project(ProjectId),
    /// The person's own, in every project.
    Global,
}

impl Scope {
    /// The project, unless it is the person's own.
    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Project(project) => Some(project),
            Self::Global => None,
        }
    }

    /// As a key.
    pub fn as_str(&self) -> &str {
        self.project().map_or("", ProjectId::as_str)
    }
}

impl From<Option<ProjectId>> for Scope {
    fn from(project: Option<ProjectId>) -> Self {
        project.map_or(Self::Global, Self::Project)
    }
}

/// Who says so, and at which commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// An agent's name, or `you`.
    pub name: String,
    /// Which agent CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The way it came here, where it was not recorded here: `git`, `sync`, `import`.
    /// What came from elsewhere may carry any name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

impl Source {
    /// Its name, and the way it came.
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

/// What an edit does to its entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditChange {
    /// A value: the newest counts.
    Set {
        field: String,
        value: Value,
    },
    /// A member of a list, with its place among those that came at once.
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

/// An edit with who made it, when, and in which replica.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StampedEdit<E = Edit, S = Source> {
    #[serde(flatten)]
    pub edit: E,
    pub at: Timestamp,
    pub writer: u64,
    pub by: S,
}

impl StampedEdit {
    /// The same without owning it.
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

/// A change of what is known. Whose it is, the entry says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnowledgeChange {
    /// A batch, recorded here.
    Edited {
        writer: u64,
        by: Source,
        edits: Vec<Edit>,
        /// Recorded only once under this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The time it counts as said, where the entry's own is too early: it
        /// replaces values of one whose clock was ahead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Timestamp>,
    },
    /// What another replica knew: its own words, and what was new in them.
    Merged {
        update: String,
        edits: Vec<StampedEdit>,
        /// What does not count: it is dated so far ahead that nothing said here
        /// could replace it, or no value that its field may have. It is kept, for
        /// the document has it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ahead: Vec<StampedEdit>,
    },
}

/// How far ahead of this machine's clock another's values may be dated.
pub const LONGEST_AHEAD: i64 = Timestamp::DAY;

/// The time at which a write counts as said: **later than every value that its
/// author had read**, whatever the clocks say. `None` where now is late enough.
pub(super) fn time_after(now: Timestamp, read: Timestamp) -> Option<Timestamp> {
    (read >= now).then(|| read.plus(1))
}

impl KnowledgeChange {
    /// Who or what it changes.
    pub(crate) fn about(&self) -> Vec<String> {
        let entities: std::collections::BTreeSet<&str> = match self {
            Self::Edited { edits, .. } => edits.iter().map(|edit| edit.entity.as_str()).collect(),
            Self::Merged { edits, .. } => edits.iter().map(|one| one.edit.entity.as_str()).collect(),
        };
        entities.into_iter().map(|entity| format!("knowledge:{entity}")).collect()
    }

    /// Whether it has taken something out of what was recorded before it.
    pub fn forgets(&self) -> bool {
        let mut edits = self.stamped(Timestamp(0)).into_iter().map(|stamped| &stamped.edit.change);
        edits.any(|change| matches!(change, EditChange::Set { field, .. } if field == FORGOTTEN))
    }

    /// All of its edits, stamped.
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

/// How far somebody has followed what is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnowledgePlace {
    pub(super) through: Seq,
    /// The last entry about knowledge, by which the store is recognised.
    pub(super) newest: Option<(Seq, EntryId)>,
}

/// Something that is known, as one: all entities of its name together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    pub kind: Kind,
    /// What it is known by.
    pub name: String,
    /// What it says, in the order of its kind's fields; what is empty is left out.
    pub fields: Map<String, Value>,
    /// The newest word on it.
    pub at: Timestamp,
    pub by: Source,
    /// Since when what it is about has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<Timestamp>,
    /// The entities behind it.
    #[serde(skip)]
    pub ids: Vec<String>,
}

impl Known {
    /// A field's text; empty if it has none.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// The texts of a field that is a list.
    pub fn texts(&self, field: &str) -> impl Iterator<Item = &str> {
        let texts = self.fields.get(field).and_then(Value::as_array);
        texts.into_iter().flatten().filter_map(Value::as_str)
    }
}

/// A batch to be recorded.
#[derive(Clone, Debug)]
pub struct ActRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    /// `[["record-principle", {…}], …]`.
    pub actions: Value,
    /// Where its files are, as somebody looks at them now.
    pub worktree: PathBuf,
    /// Where the caller stands, for paths that are not absolute.
    pub cwd: PathBuf,
    pub key: Option<String>,
    /// The person means it, though something in it looks like a secret.
    pub even_so: bool,
}

/// Something to be looked at again by the next session that touches its file.
#[derive(Clone, Debug)]
pub struct RenewRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    pub worktree: PathBuf,
    /// From where a path is meant.
    pub cwd: PathBuf,
    /// What it is called; `None`: everything that is stale.
    pub name: Option<String>,
}

/// Who will be asked what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenewOutcome {
    /// One for each file that something leans on.
    pub asked: Vec<Renewal>,
    /// What leans on no file, so that nobody can touch it.
    pub nowhere: Vec<String>,
    /// How many things were meant.
    pub found: usize,
}

/// Another project that is like this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimilarProject {
    pub project: ProjectId,
    pub name: String,
    /// From 0, nothing in common, to 1.
    pub likeness: f64,
    /// Words that both use for what they know, rarest first.
    pub shared: Vec<String>,
}

/// Something that sessions found out and nobody recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Suggestion {
    /// Several sessions had to read it.
    File { path: String, readers: usize },
    /// A message that sounds like a decision.
    Decision { number: Number, by: String, text: String },
    /// A command that failed, and the one that worked then.
    Command { failed: String, worked: String },
}

/// Something to be forgotten for good.
#[derive(Clone, Debug)]
pub struct ForgetRequest {
    pub caller: CallerFacts,
    pub scope: Scope,
    pub worktree: PathBuf,
    pub name: String,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForgetOutcome {
    pub entities: usize,
}

/// Something that was recorded elsewhere, to be recorded here.
#[derive(Clone, Debug)]
pub struct ImportedThing {
    /// `["record-principle", {…}]`.
    pub action: Value,
    /// Who said so and when, where that is told.
    pub by: Option<Source>,
    pub at: Option<Timestamp>,
}

/// What an import came to. All of it is one entry, or nothing is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportOutcome {
    pub recorded: usize,
    /// Relationships to what is known neither here nor there yet.
    pub dangling: Vec<String>,
}

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActOutcome {
    /// Its number among the batches of its scope.
    pub number: Number,
    /// It had been recorded before under the same key; nothing was done now.
    pub duplicate: bool,
    /// What came of each action, in words.
    pub results: Vec<String>,
}

/// A name for a replica: fifty-three bits, so that JavaScript can count them, and never nothing.
pub(super) fn fresh_replica(random: [u8; 10]) -> u64 {
    let bits = random[..7].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    (bits & ((1 << 53) - 1)).max(1)
}
