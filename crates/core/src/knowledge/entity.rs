//! An entity as the edits make it, whatever their order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use super::EditChange;
use super::Source;
use super::Stamped;
use crate::Timestamp;

/// All that is kept of one entity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub registers: BTreeMap<String, Register>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sets: BTreeMap<String, BTreeMap<String, Member>>,
}

/// A value, and who said so last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Register {
    pub value: Value,
    pub at: Timestamp,
    pub writer: u64,
    pub by: Source,
}

/// A member of a list, and who added it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub value: Value,
    pub at: Timestamp,
    pub by: Source,
}

impl Entity {
    /// Takes an edit in. Of values the newest counts, and between two of the same
    /// moment the greater writer, so that every replica chooses the same.
    pub fn apply(&mut self, stamped: &Stamped) {
        let Stamped { edit, at, writer, by } = stamped;
        match &edit.change {
            EditChange::Set { field, value } => {
                let is_newer =
                    self.registers.get(field).is_none_or(|known| (known.at, known.writer) <= (*at, *writer));
                if is_newer {
                    let register =
                        Register { value: value.clone(), at: *at, writer: *writer, by: by.clone() };
                    self.registers.insert(field.clone(), register);
                }
            }
            EditChange::Add { set, member, value } => {
                let added = Member { value: value.clone(), at: *at, by: by.clone() };
                self.sets.entry(set.clone()).or_default().insert(member.clone(), added);
            }
            EditChange::Remove { set, member } => {
                if let Some(members) = self.sets.get_mut(set) {
                    members.remove(member);
                    if members.is_empty() {
                        self.sets.remove(set);
                    }
                }
            }
        }
    }

    pub fn text(&self, field: &str) -> Option<&str> {
        self.registers.get(field)?.value.as_str()
    }

    /// Whether it was taken back.
    pub fn is_deleted(&self) -> bool {
        self.registers.get(super::merge::DELETED).is_some_and(|deleted| deleted.value == Value::Bool(true))
    }
}
