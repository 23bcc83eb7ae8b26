//! An entity of the CRDT as plain data (registers and sets), without a document.
//!
//! **Whatever a document went through, applying the same edits and the same
//! merge results here, in the same order, gives what the document reads.**

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;

use crate::edit::Change;
use crate::edit::StampedEdit;
use crate::value::normal;

/// An entity with all that was said of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entity {
    pub registers: BTreeMap<String, Register>,
    /// By set, then by member. No set is empty.
    pub sets: BTreeMap<String, BTreeMap<String, Member>>,
}

/// A field of which the newest value counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Register {
    pub value: Value,
    pub at: i64,
    pub writer: u64,
    pub by: Value,
}

/// A value in a set, or that it was taken out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub value: Value,
    pub at: i64,
    pub by: Value,
}

impl Entity {
    /// A register takes what is not older than what it has, by `(at, writer)`;
    /// a set takes what it is told. The edit's entity is not looked at.
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
                let value = Member { value: normal(value), at: stamp.at, by: normal(&stamp.by) };
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

    /// Nothing is known of it: as if it had never been named.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty() && self.sets.is_empty()
    }
}
