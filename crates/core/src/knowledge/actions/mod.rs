//! Pure rules that turn a batch of knowledge actions into edits, or into the list of all its
//! mistakes.
//!
//! A batch is decided against one view that does not change meanwhile. An action sees what those
//! before it in the batch will have made.

mod checks;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Map;
use serde_json::Value;

use super::Edit;
use super::EditChange;
use super::FieldType;
use super::Kind;
use super::Known;
use super::Mistake;
use super::merge::CONFIRMED;
use super::merge::DELETED;
use super::merge::FROM_ID;
use super::merge::KIND;
use super::merge::STALE;
use super::merge::TO_ID;
use crate::engine::StoreError;
use crate::text;
pub(super) use checks::LONGEST;
use checks::props_of;
use checks::texts;

/// The most actions that a batch may have.
pub const MOST_ACTIONS: usize = 50;

/// The view of what is known before the batch.
pub(super) trait View {
    fn known(&self, kind: Kind, name: &str) -> Result<Option<Known>, StoreError>;

    /// Returns the relationships that a name is an end of.
    fn links(&self, name: &str) -> Result<Vec<Known>, StoreError>;

    /// Returns all names of a kind, for a hint.
    fn names(&self, kind: Kind) -> Result<Vec<String>, StoreError>;

    /// Returns the file of the project that a path means, or why there is none.
    fn place(&self, written: &str) -> Result<String, String>;

    /// Resolves a path, perhaps with a line: relative to the project if it is in it, else as it is
    /// written, or why it cannot be meant.
    fn location(&self, written: &str) -> Result<String, String>;
}

/// The effects that a batch would have, or its mistakes.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) edits: Vec<Edit>,
    pub(super) results: Vec<String>,
    /// Entities that say what a file is for, with the path of a file that somebody has just looked
    /// at.
    pub(super) files: Vec<(String, String)>,
    pub(super) mistakes: Vec<Mistake>,
    /// Number of edits after each action.
    pub(super) ends: Vec<usize>,
    /// Imported relationships to names that are not known yet.
    pub(super) dangling: Vec<String>,
}

/// The bounds of a batch.
#[derive(Clone, Copy)]
pub(super) struct BatchLimits {
    pub(super) most: usize,
    /// Whether the batch was recorded elsewhere: then an unknown name is accepted, and nobody is
    /// asked what it means.
    pub(super) is_import: bool,
}

/// The bounds of a batch that is recorded here.
pub(super) const USUAL: BatchLimits = BatchLimits { most: MOST_ACTIONS, is_import: false };

/// Returns the name of a relationship, which is known by its ends and its type together.
pub(super) fn link_name(from: &str, kind: &str, to: &str) -> String {
    format!("{from}\u{1f}{kind}\u{1f}{to}")
}

pub(super) fn plan(
    actions: &Value,
    view: &dyn View,
    bounds: BatchLimits,
    new_id: &mut dyn FnMut() -> String,
) -> Result<Planned, StoreError> {
    let BatchLimits { most, is_import } = bounds;
    let (planned, names, recorded) = (Planned::default(), BTreeMap::new(), checks::recorded(actions, view));
    let mut planner = Planner { view, new_id, planned, names, recorded, action: 0, is_import };
    let wrong =
        |message: String| Mistake { action: 0, name: None, field: None, message, received: Value::Null };
    match actions.as_array().map(Vec::as_slice) {
        None => planner.planned.mistakes.push(wrong("`actions` is not a list".into())),
        Some([]) => planner.planned.mistakes.push(wrong("there are no actions".into())),
        Some(all) if all.len() > most => {
            planner
                .planned
                .mistakes
                .push(wrong(format!("there are {} actions, of at most {most}", all.len())));
        }
        Some(all) => {
            for (index, action) in all.iter().enumerate() {
                planner.action = index;
                planner.one(action)?;
                planner.planned.ends.push(planner.planned.edits.len());
            }
        }
    }
    Ok(planner.planned)
}

struct Planner<'a> {
    view: &'a dyn View,
    new_id: &'a mut dyn FnMut() -> String,
    planned: Planned,
    /// The entities behind a name as the batch will have left them; empty: deleted.
    names: BTreeMap<(Kind, String), Vec<String>>,
    /// The names that the batch records somewhere: links to them may come before.
    recorded: BTreeSet<String>,
    action: usize,
    is_import: bool,
}

/// An action that is being checked.
struct CheckedAction<'a> {
    name: &'a str,
    props: &'a Map<String, Value>,
}

impl Planner<'_> {
    fn one(&mut self, action: &Value) -> Result<(), StoreError> {
        let Some([Value::String(name), Value::Object(props)]) = action.as_array().map(Vec::as_slice) else {
            self.wrong(None, None, "an action is `[\"name\", {…}]`", action);
            return Ok(());
        };
        let action = CheckedAction { name, props };
        match name.as_str() {
            "record-principle" => self.record(&action, Kind::Principle),
            "record-pattern" => self.record(&action, Kind::Pattern),
            "record-decision" => self.record(&action, Kind::Decision),
            "record-file-understanding" => self.record(&action, Kind::File),
            "record-note" => self.record(&action, Kind::Note),
            "link-entities" => self.link(&action),
            "delete-principle" => self.delete(&action, Kind::Principle),
            "delete-pattern" => self.delete(&action, Kind::Pattern),
            "delete-decision" => self.delete(&action, Kind::Decision),
            "delete-file-understanding" => self.delete(&action, Kind::File),
            "delete-note" => self.delete(&action, Kind::Note),
            "delete-relationship" => self.unlink(&action),
            "update-confidence" => self.update_confidence(&action),
            "add-evidence" => self.add_evidence(&action),
            "confirm" => self.confirm(&action),
            "rename" => self.rename(&action),
            _ => {
                let nearest = text::nearest(name, ACTIONS.iter().copied());
                let hint = nearest.map_or_else(
                    || format!("there are {}", ACTIONS.join(", ")),
                    |nearest| format!("did you mean `{nearest}`?"),
                );
                self.wrong(Some(name), None, &format!("there is no such action; {hint}"), &Value::Null);
                Ok(())
            }
        }
    }

    /// Adds to the record of that name, or creates it.
    fn record(&mut self, action: &CheckedAction<'_>, kind: Kind) -> Result<(), StoreError> {
        let allowed = kind.fields().iter().map(|field| field.name);
        self.check_arguments(action, allowed.chain(["remove"]), |name| kind.field(name).is_some());
        let Some(name) = self.key(action, kind) else { return Ok(()) };
        let ids = self.ids(kind, &name)?;
        let is_new = ids.is_empty();
        let id = ids.into_iter().next().unwrap_or_else(|| (self.new_id)());
        let mut edits = Vec::new();
        if is_new {
            edits.push(set(&id, KIND, kind.as_str()));
            edits.push(set(&id, kind.key_field(), name.as_str()));
        }
        for field in &kind.fields()[1..] {
            let given = props_of(action, field);
            if given.is_none() && field.required && is_new {
                self.wrong(Some(action.name), Some(field.name), "is missing", &Value::Null);
            }
            if let Some(value) = given.filter(|value| !value.is_null()) {
                edits.extend(self.field_edits(action, field, &id, value));
            }
        }
        edits.extend(self.removals(action, kind, &id));
        if is_new && kind == Kind::Decision && action.props.get("status").is_none() {
            edits.push(set(&id, "status", "active"));
        }
        if self.view.known(kind, &name)?.is_some_and(|known| known.stale.is_some()) {
            // To say something of it means to have looked at it.
            edits.push(set(&id, STALE, Value::Null));
        }
        let verb = if is_new { "recorded" } else { "updated" };
        self.done(edits, format!("{verb} {} {name}", kind.as_str()));
        if kind == Kind::File {
            // An imported description with a hash is about the content that the file had there.
            if !(self.is_import && action.props.contains_key("hash")) {
                self.planned.files.push((id.clone(), name.clone()));
            }
        }
        self.names.insert((kind, name), vec![id]);
        Ok(())
    }

    /// Returns the edits that remove members of lists: `"remove": {"tags": ["old"]}`.
    fn removals(&mut self, action: &CheckedAction<'_>, kind: Kind, id: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        let Some(removals) = action.props.get("remove") else { return edits };
        let Some(removals) = removals.as_object() else {
            self.wrong(Some(action.name), Some("remove"), "is not an object of lists", removals);
            return edits;
        };
        for (name, members) in removals {
            match (kind.field(name).filter(|field| field.kind == FieldType::Texts), texts(members)) {
                (Some(field), Some(members)) => {
                    let remove =
                        |member: &str| EditChange::Remove { set: field.name.into(), member: member.into() };
                    edits.extend(members.iter().map(|member| edit(id, remove(member))));
                }
                _ => self.wrong(
                    Some(action.name),
                    Some("remove"),
                    &format!("`{name}` is no list of it"),
                    members,
                ),
            }
        }
        edits
    }

    fn link(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        let kind = Kind::Relationship;
        let allowed = kind.fields().iter().map(|field| field.name);
        self.check_arguments(action, allowed, |name| kind.field(name).is_some());
        let ends = ["from", "to", "type"].map(|field| self.text(action, field));
        let [Some(from), Some(to), Some(of)] = ends else { return Ok(()) };
        let (from, no_from) = self.end(action, "from", from)?;
        let (to, no_to) = self.end(action, "to", to)?;
        let unknown = no_from + &no_to;
        if self.is_import && !unknown.is_empty() {
            self.planned.dangling.push(format!("{from} {of} {to}"));
        }
        let name = link_name(&from, &of, &to);
        let ids = self.ids(kind, &name)?;
        let is_new = ids.is_empty();
        let id = ids.into_iter().next().unwrap_or_else(|| (self.new_id)());
        let mut edits = Vec::new();
        if is_new {
            edits.push(set(&id, KIND, kind.as_str()));
            edits.extend(
                [("from", &from), ("to", &to), ("type", &of)]
                    .map(|(field, text)| set(&id, field, text.as_str())),
            );
            // Another replica may rename an end meanwhile, without knowing of this relationship.
            for (field, end) in [(FROM_ID, &from), (TO_ID, &to)] {
                edits.extend(self.id_of(end)?.map(|end| set(&id, field, end)));
            }
        }
        for field in &kind.fields()[3..] {
            if let Some(value) = props_of(action, field).filter(|value| !value.is_null()) {
                edits.extend(self.field_edits(action, field, &id, value));
            }
        }
        let verb = if is_new { "linked" } else { "updated" };
        self.done(edits, format!("{verb} {from} {of} {to}{unknown}"));
        self.names.insert((kind, name), vec![id]);
        Ok(())
    }

    /// Returns the name of an end of a relationship, which for a file does not depend on how its
    /// path is written; and a remark if nothing is known of it yet.
    fn end(
        &mut self,
        action: &CheckedAction<'_>,
        field: &str,
        end: String,
    ) -> Result<(String, String), StoreError> {
        let known = self.kinds_named(&end)?;
        if matches!(known.as_slice(), [] | [Kind::File])
            && let Ok(name) = self.view.place(&end)
            && (!self.ids(Kind::File, &name)?.is_empty() || self.recorded.contains(&name))
        {
            return Ok((name, String::new()));
        }
        if !known.is_empty() || self.recorded.contains(&end) {
            return Ok((end, String::new()));
        }
        if self.is_import {
            return Ok((end, " (unknown)".to_owned()));
        }
        let unknown = self.unknown_end(action, field, &end)?;
        Ok((end, unknown))
    }

    /// Returns the entity that an end means, if only one kind has that name.
    fn id_of(&self, end: &str) -> Result<Option<String>, StoreError> {
        match self.kinds_named(end)?.as_slice() {
            [kind] => Ok(self.ids(*kind, end)?.into_iter().next()),
            _ => Ok(None),
        }
    }

    fn unlink(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        self.check_arguments(action, ["from", "to", "type"], |_| false);
        let ends = ["from", "to", "type"].map(|field| self.text(action, field));
        let [Some(from), Some(to), Some(of)] = ends else { return Ok(()) };
        let known_as = |end: String| self.view.place(&end).ok().filter(|name| *name != end).unwrap_or(end);
        let (from, to) = match self.ids(Kind::Relationship, &link_name(&from, &of, &to))?.is_empty() {
            true => (known_as(from), known_as(to)),
            false => (from, to),
        };
        let name = link_name(&from, &of, &to);
        let ids = self.ids(Kind::Relationship, &name)?;
        if ids.is_empty() {
            self.wrong(Some(action.name), None, &format!("there is no link {from} {of} {to}"), &Value::Null);
            return Ok(());
        }
        self.take_back(Kind::Relationship, name, ids);
        self.planned.results.push(format!("deleted link {from} {of} {to}"));
        Ok(())
    }

    /// Deletes a record, and the links to it unless something else has its name.
    fn delete(&mut self, action: &CheckedAction<'_>, kind: Kind) -> Result<(), StoreError> {
        self.check_arguments(action, [kind.key_field()], |_| false);
        let Some(name) = self.key(action, kind) else { return Ok(()) };
        let ids = self.ids(kind, &name)?;
        if ids.is_empty() {
            return self.unknown(action, kind.key_field(), &[kind], &name);
        }
        self.take_back(kind, name.clone(), ids);
        if self.kinds_named(&name)?.is_empty() {
            for link in self.view.links(&name)? {
                let ids = self.ids(Kind::Relationship, &link.name)?;
                self.take_back(Kind::Relationship, link.name, ids);
            }
        }
        self.planned.results.push(format!("deleted {} {name}", kind.as_str()));
        Ok(())
    }

    fn update_confidence(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        self.check_arguments(action, ["name", "kind", "confidence"], |_| false);
        let Some((kind, name, ids)) = self.one_of(action, &[Kind::Principle, Kind::Pattern])? else {
            return Ok(());
        };
        let Some(value) = action.props.get("confidence") else {
            self.wrong(Some(action.name), Some("confidence"), "is missing", &Value::Null);
            return Ok(());
        };
        let Some(field) = kind.field("confidence") else { return Ok(()) };
        let edits = ids.iter().flat_map(|id| self.field_edits(action, field, id, value)).collect();
        self.done(edits, format!("updated {} {name}", kind.as_str()));
        Ok(())
    }

    fn add_evidence(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        self.check_arguments(action, ["name", "principle", "evidence", "against"], |_| false);
        let field = if action.props.contains_key("principle") { "principle" } else { "name" };
        let Some(name) = self.text(action, field) else { return Ok(()) };
        let ids = self.ids(Kind::Principle, &name)?;
        let Some(id) = ids.first() else { return self.unknown(action, field, &[Kind::Principle], &name) };
        let Some(value) = action.props.get("evidence") else {
            self.wrong(Some(action.name), Some("evidence"), "is missing", &Value::Null);
            return Ok(());
        };
        let Some(field) = Kind::Principle.field("evidence") else { return Ok(()) };
        let mut edits = self.field_edits(action, field, id, value);
        let is_against = action.props.get("against").and_then(Value::as_bool).unwrap_or_default();
        if let Some(known) = self.view.known(Kind::Principle, &name)? {
            let told: Vec<&str> = known.texts("evidence").collect();
            let is_new = |text: &&&str| !told.contains(*text);
            let count = texts(value).map_or(0, |all| all.iter().filter(is_new).count());
            let before = known.fields.get("confidence").and_then(Value::as_f64);
            let moved = moved_confidence(before, count, is_against);
            edits.push(set(id, "confidence", moved));
        }
        self.done(edits, format!("updated principle {name}"));
        Ok(())
    }

    /// Records that something was looked at and still holds.
    fn confirm(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        self.check_arguments(action, ["name", "path", "kind"], |_| false);
        let Some((kind, name, ids)) = self.one_of(action, &Kind::NAMED)? else { return Ok(()) };
        let edits: Vec<Edit> =
            ids.iter().flat_map(|id| [set(id, CONFIRMED, true), set(id, STALE, Value::Null)]).collect();
        if kind == Kind::File {
            self.planned.files.extend(ids.first().map(|id| (id.clone(), name.clone())));
        }
        self.done(edits, format!("confirmed {} {name}", kind.as_str()));
        Ok(())
    }

    fn rename(&mut self, action: &CheckedAction<'_>) -> Result<(), StoreError> {
        self.check_arguments(action, ["name", "path", "kind", "to"], |_| false);
        let Some((kind, name, ids)) = self.one_of(action, &Kind::NAMED)? else { return Ok(()) };
        let Some(to) = self.text(action, "to") else { return Ok(()) };
        let to = if kind == Kind::File { self.place(action, "to", &to) } else { Some(to) };
        let Some(to) = to else { return Ok(()) };
        if !self.ids(kind, &to)?.is_empty() {
            self.wrong(Some(action.name), Some("to"), "is taken by another", &Value::from(to.as_str()));
            return Ok(());
        }
        let mut edits: Vec<Edit> = ids.iter().map(|id| set(id, kind.key_field(), to.as_str())).collect();
        for link in self.view.links(&name)? {
            for end in ["from", "to"].into_iter().filter(|end| link.text(end) == name) {
                edits.extend(link.ids.iter().map(|id| set(id, end, to.as_str())));
            }
        }
        self.names.insert((kind, name.clone()), Vec::new());
        self.names.insert((kind, to.clone()), ids);
        self.done(edits, format!("renamed {} {name} to {to}", kind.as_str()));
        Ok(())
    }

    fn take_back(&mut self, kind: Kind, name: String, ids: Vec<String>) {
        self.planned.edits.extend(ids.iter().map(|id| set(id, DELETED, true)));
        self.names.insert((kind, name), Vec::new());
    }

    fn done(&mut self, edits: Vec<Edit>, result: String) {
        self.planned.edits.extend(edits);
        self.planned.results.push(result);
    }
}

pub(super) const ACTIONS: &[&str] = &[
    "record-principle",
    "record-pattern",
    "record-decision",
    "record-file-understanding",
    "record-note",
    "link-entities",
    "delete-principle",
    "delete-pattern",
    "delete-decision",
    "delete-file-understanding",
    "delete-note",
    "delete-relationship",
    "update-confidence",
    "add-evidence",
    "confirm",
    "rename",
];

/// Returns the confidence after `count` new pieces of evidence: each for it adds a fifth of what is
/// missing, each against it takes a fifth of what there is. It begins at 0.5 if nobody said.
pub(super) fn moved_confidence(before: Option<f64>, count: usize, is_against: bool) -> f64 {
    let mut confidence = before.unwrap_or(0.5);
    for _ in 0..count {
        confidence += if is_against { -confidence } else { 1.0 - confidence } / 5.0;
    }
    (confidence * 100.0).round() / 100.0
}

fn edit(id: &str, change: EditChange) -> Edit {
    Edit { entity: id.to_owned(), change }
}

pub(super) fn set(id: &str, field: &str, value: impl Into<Value>) -> Edit {
    edit(id, EditChange::Set { field: field.to_owned(), value: value.into() })
}
