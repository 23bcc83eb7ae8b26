//! An entity of the CRDT as plain data (registers and sets), without a document.
//!
//! **Whatever happened to a document, applying the same edits and merge results here in the same
//! order gives the same entity as the document has.**

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use crate::edit::Change;
use crate::edit::StampedEdit;
use crate::value::normal;

/// An entity with all its registers and sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub registers: BTreeMap<String, Register>,
    /// The members by set and name. No set is empty.
    pub sets: BTreeMap<String, BTreeMap<String, SetMember>>,
}

/// A field that keeps only its newest value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Register {
    pub value: Value,
    pub at: i64,
    pub writer: u64,
    pub by: Value,
}

/// A member of a set, with its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetMember {
    pub value: Value,
    pub at: i64,
    pub by: Value,
}

impl Entity {
    /// Applies an edit: a register takes a value that is not older than its own, by `(at, writer)`;
    /// a set takes every change. The entity that the edit names is not checked.
    pub fn apply(&mut self, stamped: &StampedEdit) {
        let stamp = &stamped.stamp;
        match &stamped.edit.change {
            Change::Set { field, value } => {
                let current = self.registers.get(field);
                if current.is_none_or(|now| (now.at, now.writer) <= (stamp.at, stamp.writer)) {
                    let (value, by) = (normal(value), normal(&stamp.by));
                    let register = Register { value, at: stamp.at, writer: stamp.writer, by };
                    self.registers.insert(field.clone(), register);
                }
            }
            Change::Add { set, member, value } => {
                let value = SetMember { value: normal(value), at: stamp.at, by: normal(&stamp.by) };
                self.sets.entry(set.clone()).or_default().insert(member.clone(), value);
            }
            Change::Remove { set, member } => {
                if let Some(members) = self.sets.get_mut(set) {
                    members.remove(member);
                    if members.is_empty() {
                        self.sets.remove(set);
                    }
                }
            }
        }
    }

    /// Tells whether nothing is known of the entity, as if it had never been named.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.sets.is_empty()
    }
}
