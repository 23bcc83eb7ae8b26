//! One knowledge entity, built by applying its edits: registers, whose edits may come in any order,
//! and sets.
//!
//! In the stored form, values that were said at once share one stamp: most entities are made by one
//! batch, and their authors would be most of what there is to write.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::Serialize;
use serde::Serializer;
use serde_json::Value;

use super::Edit;
use super::EditChange;
use super::Kind;
use super::Source;
use super::StampedEdit;
use super::actions::link_name;
use crate::Timestamp;

/// The values of one entity: registers by field, and sets by list.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(try_from = "Stored<Source, String, Value>")]
pub struct Entity {
    pub registers: BTreeMap<String, Register>,
    pub sets: BTreeMap<String, BTreeMap<String, SetMember>>,
}

/// A value, with the author, time and writer of its newest edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    pub value: Value,
    pub at: Timestamp,
    pub writer: u64,
    pub by: Source,
}

/// A member of a list, with the author and time of its addition.
#[derive(Clone, Debug, PartialEq)]
pub struct SetMember {
    pub value: Value,
    pub at: Timestamp,
    pub by: Source,
}

/// The time, writer and author of values, which refer to their stamp by its index.
type ValueStamp<S> = (Timestamp, u64, S);

#[derive(Serialize, Deserialize)]
struct Stored<S, T: Ord, V> {
    stamps: Vec<ValueStamp<S>>,
    registers: BTreeMap<T, (V, usize)>,
    sets: BTreeMap<T, BTreeMap<T, (V, usize)>>,
}

impl Serialize for Entity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stamps: Vec<ValueStamp<&Source>> = Vec::new();
        let mut place = |stamp| {
            stamps.iter().position(|known| *known == stamp).unwrap_or_else(|| {
                stamps.push(stamp);
                stamps.len() - 1
            })
        };
        let mut registers = BTreeMap::new();
        for (field, Register { value, at, writer, by }) in &self.registers {
            registers.insert(field, (value, place((*at, *writer, by))));
        }
        let mut sets: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for (name, members) in &self.sets {
            let set = sets.entry(name).or_default();
            for (text, SetMember { value, at, by }) in members {
                set.insert(text, (value, place((*at, 0, by))));
            }
        }
        Stored { stamps, registers, sets }.serialize(serializer)
    }
}

impl TryFrom<Stored<Source, String, Value>> for Entity {
    type Error = &'static str;

    fn try_from(stored: Stored<Source, String, Value>) -> Result<Self, Self::Error> {
        let Stored { stamps, registers, sets } = stored;
        let stamp = |place: usize| stamps.get(place).cloned().ok_or("a value without its stamp");
        let register = |(field, (value, place))| {
            let (at, writer, by) = stamp(place)?;
            Ok((field, Register { value, at, writer, by }))
        };
        let member = |(text, (value, place))| {
            let (at, _, by) = stamp(place)?;
            Ok((text, SetMember { value, at, by }))
        };
        let set = |(name, members): (String, BTreeMap<String, _>)| {
            Ok((name, members.into_iter().map(member).collect::<Result<_, Self::Error>>()?))
        };
        Ok(Self {
            registers: registers.into_iter().map(register).collect::<Result<_, Self::Error>>()?,
            sets: sets.into_iter().map(set).collect::<Result<_, Self::Error>>()?,
        })
    }
}

impl Entity {
    /// Returns the kind and name that the entity is read as, once both are known.
    pub fn read_as(&self) -> Option<(Kind, String)> {
        let kind = Kind::named(self.text("kind")?)?;
        let name = match kind {
            Kind::Relationship => {
                let [from, of, to] = ["from", "type", "to"].map(|field| self.text(field));
                link_name(from?, of?, to?)
            }
            kind => self.text(kind.key_field())?.to_owned(),
        };
        Some((kind, name))
    }

    /// Applies an edit. Of values the newest counts, and of two of the same moment that of the
    /// greater writer, so that every replica chooses the same.
    pub fn apply(&mut self, stamped: StampedEdit<&Edit, &Source>) {
        let StampedEdit { edit, at, writer, by } = stamped;
        match &edit.change {
            EditChange::Set { field, value } => {
                let is_newer =
                    self.registers.get(field).is_none_or(|known| (known.at, known.writer) <= (at, writer));
                if is_newer {
                    let register = Register { value: value.clone(), at, writer, by: by.clone() };
                    self.registers.insert(field.clone(), register);
                }
            }
            EditChange::Add { set, member, value } => {
                let added = SetMember { value: value.clone(), at, by: by.clone() };
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

    /// Returns a field's text.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.registers.get(field)?.value.as_str()
    }

    /// Tells whether the entity was deleted.
    pub fn is_deleted(&self) -> bool {
        self.registers.get(super::merge::DELETED).is_some_and(|deleted| deleted.value == Value::Bool(true))
    }
}
