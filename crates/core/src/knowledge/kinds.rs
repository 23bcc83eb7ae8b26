//! The kinds of knowledge (principle, pattern, decision, file, note, relationship) and their
//! fields, as data.

use serde::Deserialize;
use serde::Serialize;

/// A kind of knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Principle,
    Pattern,
    Decision,
    /// The purpose of a file.
    File,
    /// Anything else, in free words.
    Note,
    /// A relationship between two things that have a name.
    Relationship,
}

/// A field that an entity of some kind may have.
#[derive(Debug)]
pub struct Field {
    pub name: &'static str,
    /// Other names that are understood for the field.
    pub aliases: &'static [&'static str],
    pub kind: FieldType,
    pub required: bool,
    /// Whether the field names a place: a file of the project, perhaps with a line.
    pub is_place: bool,
}

/// The type of a field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldType {
    Text,
    /// A number between two bounds, both included.
    Number(f64, f64),
    Choice(&'static [&'static str]),
    /// Texts, each once, in the order in which they came.
    Texts,
}

const fn field(name: &'static str, kind: FieldType) -> Field {
    Field { name, aliases: &[], kind, required: false, is_place: false }
}

const fn required(name: &'static str, kind: FieldType) -> Field {
    Field { required: true, ..field(name, kind) }
}

const fn place(name: &'static str, kind: FieldType) -> Field {
    Field { is_place: true, ..field(name, kind) }
}

const fn known_as(name: &'static str, aliases: &'static [&'static str]) -> Field {
    Field { aliases, ..field(name, FieldType::Texts) }
}

const CONFIDENCE: Field = field("confidence", FieldType::Number(0.0, 1.0));
const DESCRIPTION: Field = Field { aliases: &["desc"], ..field("description", FieldType::Text) };

/// The first field of each kind is the name that an entity is known by; the second says what it is
/// about.
const PRINCIPLE: &[Field] = &[
    required("name", FieldType::Text),
    DESCRIPTION,
    CONFIDENCE,
    place("locations", FieldType::Texts),
    field("evidence", FieldType::Texts),
    known_as("related", &["relatedPrinciples", "related-principles"]),
    field("tags", FieldType::Texts),
    field("examples", FieldType::Texts),
];

const PATTERN: &[Field] = &[
    required("name", FieldType::Text),
    DESCRIPTION,
    required("type", FieldType::Text),
    CONFIDENCE,
    place("location", FieldType::Text),
    known_as("related", &["relatedPatterns", "related-patterns"]),
    field("tags", FieldType::Texts),
];

const DECISION: &[Field] = &[
    required("name", FieldType::Text),
    DESCRIPTION,
    field("rationale", FieldType::Text),
    field("status", FieldType::Choice(&["active", "deprecated", "superseded"])),
    field("impact", FieldType::Number(0.0, 10.0)),
    place("locations", FieldType::Texts),
    known_as("related", &["relatedDecisions", "related-decisions"]),
];

const FILE: &[Field] = &[
    required("path", FieldType::Text),
    required("summary", FieldType::Text),
    field("hash", FieldType::Text),
    field("concepts", FieldType::Texts),
    known_as("symbols", &["importantSymbols", "important-symbols"]),
    Field { is_place: true, ..known_as("related", &["relatedFiles", "related-files"]) },
];

const NOTE: &[Field] = &[
    required("name", FieldType::Text),
    Field { aliases: &["desc", "text", "content"], ..required("description", FieldType::Text) },
    place("locations", FieldType::Texts),
    known_as("related", &["relatedNotes", "related-notes"]),
    field("tags", FieldType::Texts),
];

const RELATIONSHIP: &[Field] = &[
    required("from", FieldType::Text),
    required("to", FieldType::Text),
    required("type", FieldType::Text),
    DESCRIPTION,
    CONFIDENCE,
];

impl Field {
    #[inline]
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Principle, Self::Pattern, Self::Decision, Self::File, Self::Note, Self::Relationship];

    /// The kinds that have a name of their own, which relationships can connect.
    pub const NAMED: [Self; 5] = [Self::Principle, Self::Pattern, Self::Decision, Self::File, Self::Note];

    /// Returns the name in the journal and in queries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Principle => "principle",
            Self::Pattern => "pattern",
            Self::Decision => "decision",
            Self::File => "file",
            Self::Note => "note",
            Self::Relationship => "relationship",
        }
    }

    /// Finds the kind by its name.
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "file-understanding" { "file" } else { name };
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the fields that an entity of the kind may have.
    #[inline]
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Principle => PRINCIPLE,
            Self::Pattern => PATTERN,
            Self::Decision => DECISION,
            Self::File => FILE,
            Self::Note => NOTE,
            Self::Relationship => RELATIONSHIP,
        }
    }

    /// Returns the field that an entity is known by: `name`, or a file's `path`. A relationship is
    /// known by its ends and its type together.
    pub fn key_field(self) -> &'static str {
        self.fields()[0].name
    }

    /// Finds a field by its name or an alias.
    pub fn field(self, name: &str) -> Option<&'static Field> {
        self.fields().iter().find(|field| field.is_called(name))
    }
}
