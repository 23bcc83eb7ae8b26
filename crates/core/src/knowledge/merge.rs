//! Merges the knowledge entities of one kind and name into the one record that is read.

use serde_json::Map;
use serde_json::Value;

use super::Entity;
use super::FieldType;
use super::Kind;
use super::Known;
use super::Register;

/// Registers with a status of the entity, rather than its content.
pub(crate) const KIND: &str = "kind";
pub(crate) const DELETED: &str = "deleted";
/// Set to the file's hash when the file has changed, to null when it was looked at again.
pub(crate) const STALE: &str = "stale";
/// Set when nothing is to be left of the entity anywhere.
pub(crate) const FORGOTTEN: &str = "forgotten";
pub(crate) const CONFIRMED: &str = "confirmed";
/// The entities that a relationship ties together, by whatever name they go.
pub(crate) const FROM_ID: &str = "from-id";
pub(crate) const TO_ID: &str = "to-id";
/// The two ends of a relationship: the field with the end's name, and the field with its entity.
pub const ENDS: [(&str, &str); 2] = [("from", FROM_ID), ("to", TO_ID)];

/// Merges entities of one kind and name; `None` if all were deleted. Of every value the newest
/// counts, of every list all members.
pub fn merge(kind: Kind, name: &str, entities: &[(String, Entity)]) -> Option<Known> {
    let mut alive: Vec<&(String, Entity)> =
        entities.iter().filter(|(_, entity)| !entity.is_deleted()).collect();
    alive.sort_by(|one, other| one.0.cmp(&other.0));
    let newest = |field: &str| -> Option<&Register> {
        let registers = alive.iter().filter_map(|(_, entity)| entity.registers.get(field));
        registers.max_by(|one, other| (one.at, one.writer).cmp(&(other.at, other.writer)))
    };
    let mut fields = Map::new();
    for field in kind.fields() {
        let value = match field.kind {
            FieldType::Texts => texts(&alive, field.name),
            FieldType::Text | FieldType::Number(..) | FieldType::Choice(_) => {
                newest(field.name).map(|register| register.value.clone())
            }
        };
        let is_empty = |value: &Value| value.is_null() || value.as_str() == Some("");
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            fields.insert(field.name.to_owned(), value);
        }
    }
    let registers = alive.iter().flat_map(|(_, entity)| entity.registers.iter());
    // A stale mark is no statement, nor is the hash that comes with it.
    let is_word = |field: &str| field != STALE && field != "hash";
    let words = registers.filter(|(field, _)| is_word(field)).map(|(_, register)| register);
    let members = alive.iter().flat_map(|(_, entity)| entity.sets.values().flat_map(|set| set.values()));
    let last = words.max_by_key(|register| (register.at, register.writer))?;
    let last_member = members.max_by_key(|member| member.at);
    let (at, by) = match last_member {
        Some(member) if member.at > last.at => (member.at, &member.by),
        _ => (last.at, &last.by),
    };
    let stale = newest(STALE).filter(|mark| !mark.value.is_null()).map(|mark| mark.at);
    Some(Known {
        kind,
        name: name.to_owned(),
        fields,
        at,
        by: by.clone(),
        stale: stale.filter(|since| *since >= at),
        ids: alive.iter().map(|(id, _)| id.clone()).collect(),
    })
}

/// Returns all members of a list, each once, in the order in which they came.
fn texts(entities: &[&(String, Entity)], field: &str) -> Option<Value> {
    let mut members: Vec<(&String, _, i64)> = Vec::new();
    for (_, entity) in entities {
        for (text, member) in entity.sets.get(field).into_iter().flatten() {
            let place = (member.at, member.value.as_i64().unwrap_or(0));
            match members.iter_mut().find(|(known, ..)| *known == text) {
                Some(known) if (known.1, known.2) > place => (known.1, known.2) = place,
                Some(_) => {}
                None => members.push((text, place.0, place.1)),
            }
        }
    }
    members.sort_by(|one, other| (one.1, one.2, one.0).cmp(&(other.1, other.2, other.0)));
    let texts: Vec<Value> = members.into_iter().map(|(text, ..)| Value::from(text.as_str())).collect();
    (!texts.is_empty()).then(|| texts.into())
}
