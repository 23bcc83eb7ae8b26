//! Checks the arguments of knowledge actions, and collects their mistakes.

use std::collections::BTreeSet;

use serde_json::Value;

use super::CheckedAction;
use super::Planner;
use super::View;
use super::edit;
use super::set;
use crate::engine::StoreError;
use crate::knowledge::Edit;
use crate::knowledge::EditChange;
use crate::knowledge::Field;
use crate::knowledge::FieldType;
use crate::knowledge::Kind;
use crate::knowledge::Mistake;
use crate::text;

/// Longest text, in bytes.
pub(in crate::knowledge) const LONGEST: usize = 16 << 10;

/// The most members that may be added to a list at once.
const MOST_MEMBERS: usize = 200;

impl Planner<'_> {
    /// Returns the entities behind a name, as this batch leaves them.
    pub(super) fn ids(&self, kind: Kind, name: &str) -> Result<Vec<String>, StoreError> {
        if let Some(ids) = self.names.get(&(kind, name.to_owned())) {
            return Ok(ids.clone());
        }
        Ok(self.view.known(kind, name)?.map(|known| known.ids).unwrap_or_default())
    }

    /// Returns the kinds that have something of a name.
    pub(super) fn kinds_named(&self, name: &str) -> Result<Vec<Kind>, StoreError> {
        let mut kinds = Vec::new();
        for kind in &Kind::NAMED {
            if !self.ids(*kind, name)?.is_empty() {
                kinds.push(*kind);
            }
        }
        Ok(kinds)
    }

    /// Finds the one thing that an action names, by `kind` if several have that name.
    pub(super) fn one_of(
        &mut self,
        action: &CheckedAction<'_>,
        kinds: &[Kind],
    ) -> Result<Option<(Kind, String, Vec<String>)>, StoreError> {
        let field = if action.props.contains_key("path") { "path" } else { "name" };
        let Some(name) = self.text(action, field) else { return Ok(None) };
        let wanted = action.props.get("kind").and_then(Value::as_str);
        let is_wanted = |kind: &Kind| {
            kinds.contains(kind) && wanted.is_none_or(|wanted| Kind::named(wanted) == Some(*kind))
        };
        let mut found: Vec<Kind> = self.kinds_named(&name)?.into_iter().filter(is_wanted).collect();
        let mut name = name;
        // A file has one name, however its path is written.
        if matches!(found.as_slice(), [] | [Kind::File])
            && let Ok(file) = self.view.place(&name)
            && is_wanted(&Kind::File)
            && !self.ids(Kind::File, &file)?.is_empty()
        {
            (found, name) = (vec![Kind::File], file);
        }
        match found.as_slice() {
            [kind] => Ok(Some((*kind, name.clone(), self.ids(*kind, &name)?))),
            [] => self.unknown(action, field, kinds, &name).map(|()| None),
            several => {
                let names: Vec<&str> = several.iter().map(|kind| kind.as_str()).collect();
                let message = format!("several have that name: say which `kind`, {}", names.join(" or "));
                self.wrong(Some(action.name), Some("kind"), &message, &Value::Null);
                Ok(None)
            }
        }
    }

    /// Returns the name that an action's entity is known by.
    pub(super) fn key(&mut self, action: &CheckedAction<'_>, kind: Kind) -> Option<String> {
        let field = kind.key_field();
        if kind == Kind::Note && action.props.get(field).is_none() {
            return self.text(action, "description").map(|text| title(&text));
        }
        let name = self.text(action, field)?;
        if kind != Kind::File {
            return Some(name);
        }
        self.place(action, field, &name)
    }

    /// Returns the file of the project that a path means, or notes a mistake.
    pub(super) fn place(&mut self, action: &CheckedAction<'_>, field: &str, written: &str) -> Option<String> {
        match self.view.place(written) {
            Ok(name) => Some(name),
            Err(why) => {
                self.wrong(Some(action.name), Some(field), &why, &Value::from(written));
                None
            }
        }
    }

    /// Resolves a place that a field names. One that was said elsewhere may exist only there.
    fn location(&self, written: &str) -> Result<String, String> {
        match self.view.location(written) {
            Err(_) if self.is_import => Ok(written.to_owned()),
            placed => placed,
        }
    }

    pub(super) fn text(&mut self, action: &CheckedAction<'_>, field: &str) -> Option<String> {
        let value = action.props.get(field).unwrap_or(&Value::Null);
        let problem = match value {
            Value::Null => "is missing",
            Value::String(text) if text.trim().is_empty() => "is empty",
            Value::String(text) if text.len() > LONGEST => "is longer than 16 KiB",
            Value::String(text) if text.contains('\u{1f}') => "has a control character",
            Value::String(text) => return Some(text.trim().to_owned()),
            _ => "is not a text",
        };
        self.wrong(Some(action.name), Some(field), problem, value);
        None
    }

    /// Returns the edits that set a field to a value, or notes a mistake.
    pub(super) fn field_edits(
        &mut self,
        action: &CheckedAction<'_>,
        field: &'static Field,
        id: &str,
        value: &Value,
    ) -> Vec<Edit> {
        let problem = match (field.kind, value) {
            (FieldType::Text, Value::String(text)) if text.len() > LONGEST => {
                "is longer than 16 KiB".to_owned()
            }
            (FieldType::Text, Value::String(text)) if field.is_place => match self.location(text) {
                Ok(place) => return vec![set(id, field.name, place)],
                Err(why) => why,
            },
            (FieldType::Text, Value::String(text)) => return vec![set(id, field.name, text.as_str())],
            (FieldType::Text, _) => "is not a text".to_owned(),
            (FieldType::Number(least, most), value) => match value.as_f64() {
                Some(number) if (least..=most).contains(&number) => {
                    return vec![set(id, field.name, value.clone())];
                }
                _ => format!("is not a number from {least} to {most}"),
            },
            (FieldType::Choice(choices), Value::String(text)) if choices.contains(&text.as_str()) => {
                return vec![set(id, field.name, text.as_str())];
            }
            (FieldType::Choice(choices), _) => format!("is none of {}", choices.join(", ")),
            (FieldType::Texts, value) => match texts(value) {
                Some(members) if members.iter().any(|member| member.len() > LONGEST) => {
                    "is longer than 16 KiB".to_owned()
                }
                Some(members) if members.len() > MOST_MEMBERS => {
                    format!("has more than {MOST_MEMBERS} members")
                }
                Some(members) => {
                    let add = |(place, member): (usize, &&str)| {
                        let member =
                            if field.is_place { self.location(member)? } else { (*member).to_owned() };
                        let set = field.name.to_owned();
                        Ok(edit(id, EditChange::Add { set, member, value: place.into() }))
                    };
                    match members.iter().enumerate().map(add).collect::<Result<_, String>>() {
                        Ok(edits) => return edits,
                        Err(why) => why,
                    }
                }
                None => "is not a list of texts".to_owned(),
            },
        };
        self.wrong(Some(action.name), Some(field.name), &problem, value);
        Vec::new()
    }

    /// Notes a mistake for every argument that an action does not know, rather than ignore it.
    pub(super) fn check_arguments(
        &mut self,
        action: &CheckedAction<'_>,
        allowed: impl IntoIterator<Item = &'static str>,
        is_alias: impl Fn(&str) -> bool,
    ) {
        let allowed: Vec<&str> = allowed.into_iter().collect();
        let unknown =
            action.props.iter().filter(|(name, _)| !allowed.contains(&name.as_str()) && !is_alias(name));
        let unknown: Vec<_> = unknown.map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, value) in unknown {
            let nearest = text::nearest(&name, allowed.iter().copied());
            let hint = nearest.map_or_else(
                || format!("it takes {}", allowed.join(", ")),
                |nearest| format!("did you mean `{nearest}`?"),
            );
            self.wrong(Some(action.name), Some(&name), &format!("is not known; {hint}"), &value);
        }
    }

    /// Returns the remark for a link to something that nobody has recorded yet. If its name is like
    /// a known one, it is a slip of the pen, and noted as a mistake.
    pub(super) fn unknown_end(
        &mut self,
        action: &CheckedAction<'_>,
        field: &str,
        end: &str,
    ) -> Result<String, StoreError> {
        let names = self.names_of(&Kind::NAMED)?;
        if text::nearest(end, names.iter().map(String::as_str)).is_some() {
            self.unknown(action, field, &Kind::NAMED, end)?;
        }
        Ok(format!(" (nothing is known of {end} yet)"))
    }

    fn names_of(&self, kinds: &[Kind]) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        for kind in kinds {
            names.extend(self.view.names(*kind)?);
        }
        Ok(names)
    }

    pub(super) fn unknown(
        &mut self,
        action: &CheckedAction<'_>,
        field: &str,
        kinds: &[Kind],
        name: &str,
    ) -> Result<(), StoreError> {
        let names = self.names_of(kinds)?;
        let nearest = text::nearest(name, names.iter().map(String::as_str));
        let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
        self.wrong(
            Some(action.name),
            Some(field),
            &format!("nothing of that name is known{hint}"),
            &Value::from(name),
        );
        Ok(())
    }

    pub(super) fn wrong(&mut self, name: Option<&str>, field: Option<&str>, message: &str, received: &Value) {
        self.planned.mistakes.push(Mistake {
            action: self.action,
            name: name.map(str::to_owned),
            field: field.map(str::to_owned),
            message: message.to_owned(),
            received: shortened(received),
        });
    }
}

/// Returns the names that a batch records, whatever else is wrong with it.
pub(super) fn recorded(actions: &Value, view: &dyn View) -> BTreeSet<String> {
    let name = |action: &Value| {
        let is_record = action.get(0)?.as_str()?.starts_with("record-");
        let props = action.get(1).filter(|_| is_record)?;
        let name = props.get("name").or_else(|| props.get("path"))?.as_str()?;
        let is_path = props.get("path").is_some();
        let place = if is_path { view.place(name.trim()).ok() } else { None };
        Some(place.unwrap_or_else(|| name.trim().to_owned()))
    };
    actions.as_array().into_iter().flatten().filter_map(name).collect()
}

pub(super) fn props_of<'a>(action: &CheckedAction<'a>, field: &Field) -> Option<&'a Value> {
    action.props.get(field.name).or_else(|| field.aliases.iter().find_map(|alias| action.props.get(*alias)))
}

/// Returns the texts of a list; one text counts as a list of one.
pub(super) fn texts(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(all) => all.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Makes a name for a note that has none, from its first words.
fn title(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let title = words.take(6).collect::<Vec<_>>().join("-").to_lowercase();
    if title.is_empty() { "note".to_owned() } else { title }
}

/// Shortens a value to enough to recognise it.
fn shortened(value: &Value) -> Value {
    let shown = value.to_string();
    if shown.len() <= 200 { value.clone() } else { Value::from(text::one_line(&shown, 200)) }
}
