//! Pure rules for the edits of other replicas: which of them count, and how they are marked.
//!
//! A file for git and a peer can contain anything. **An edit that counts is within the same bounds
//! as one that is recorded here, and says which way it came.**

use serde_json::Value;

use super::EditChange;
use super::FieldType;
use super::Kind;
use super::LONGEST_AHEAD;
use super::Source;
use super::StampedEdit;
use super::actions::LONGEST;
use crate::Timestamp;
use crate::text;

/// Longest id of an entity that counts: longer than any that is made here.
const LONGEST_ID: usize = 64;

/// Longest name that is kept: longer than that of any agent, CLI or commit.
const LONGEST_NAME: usize = 64;

/// Tells whether an edit of another replica counts.
pub(super) fn is_acceptable(stamped: &StampedEdit, now: Timestamp) -> bool {
    let StampedEdit { edit, at, .. } = stamped;
    let is_sane = match &edit.change {
        EditChange::Set { field, value } => accepts(field, value),
        EditChange::Add { set, member, .. } => {
            !matches!(kind_of(set), Some(kind) if kind != FieldType::Texts) && is_text(member)
        }
        EditChange::Remove { .. } => true,
    };
    is_sane && at.since(now) <= LONGEST_AHEAD && edit.entity.len() <= LONGEST_ID
}

/// Marks the author of an edit with the way it came.
pub(super) fn marked(mut stamped: StampedEdit, via: &str) -> StampedEdit {
    let Source { name, kind, commit, .. } = stamped.by;
    let short = |text: String| text::one_line(&text, LONGEST_NAME);
    let name = if name.trim().is_empty() { "somebody".to_owned() } else { short(name) };
    stamped.by = Source { name, kind: kind.map(short), commit: commit.map(short), via: Some(via.to_owned()) };
    stamped
}

/// Tells whether a field may have a value. Fields that are not known here may be those of a later
/// version.
fn accepts(field: &str, value: &Value) -> bool {
    match (kind_of(field), value) {
        (None, value) => value.as_str().is_none_or(|text| text.len() <= LONGEST),
        (Some(_), Value::Null) => true,
        (Some(FieldType::Text), Value::String(text)) => is_text(text),
        (Some(FieldType::Number(least, most)), value) => {
            value.as_f64().is_some_and(|number| (least..=most).contains(&number))
        }
        (Some(FieldType::Choice(choices)), Value::String(text)) => choices.contains(&text.as_str()),
        (Some(_), _) => false,
    }
}

/// Returns the type of a field. Fields of one name have the same type in every kind.
fn kind_of(field: &str) -> Option<FieldType> {
    Kind::ALL.into_iter().find_map(|kind| kind.field(field)).map(|field| field.kind)
}

/// Tells whether a text could have been recorded here: not too long, and without the control
/// characters that we use ourselves.
fn is_text(text: &str) -> bool {
    text.len() <= LONGEST && !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}
