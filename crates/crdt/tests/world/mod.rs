//! A simulation of three replicas: the actions on them, and the content that each is expected to have.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_crdt::Change;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Entity;
use consort_crdt::Stamp;
use consort_crdt::StampedEdit;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

pub(crate) const REPLICAS: usize = 3;

#[derive(Clone, Debug)]
pub(crate) enum Act {
    Edit {
        replica: usize,
        at: i64,
        changes: Vec<(u8, Change)>,
    },
    /// Sends the edits that `to` lacks, or with `is_all` everything.
    Send {
        from: usize,
        to: usize,
        is_all: bool,
    },
}

pub(crate) fn acts() -> impl Strategy<Value = Vec<Act>> {
    let edit = (0..REPLICAS, 0..6i64, prop::collection::vec((0..3u8, change()), 1..4))
        .prop_map(|(replica, at, changes)| Act::Edit { replica, at, changes });
    let send = (0..REPLICAS, 0..REPLICAS, any::<bool>()).prop_map(|(from, to, is_all)| Act::Send {
        from,
        to,
        is_all,
    });
    prop::collection::vec(prop_oneof![3 => edit, 2 => send], 0..40)
}

/// Three different writer ids, in any order.
pub(crate) fn writers() -> impl Strategy<Value = [u64; REPLICAS]> {
    let few = Just([1, 2, 3]).prop_shuffle();
    let many = prop::collection::btree_set(0..1u64 << 53, REPLICAS)
        .prop_map(|ids| ids.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|ids| [ids[0], ids[1], ids[2]]);
    prop_oneof![few, many]
}

fn change() -> impl Strategy<Value = Change> {
    let name = || prop::sample::select(vec!["name", "a/b@%"]).prop_map(str::to_owned);
    let member = || prop::sample::select(vec!["m", "src/x@y.rs"]).prop_map(str::to_owned);
    prop_oneof![
        (name(), value()).prop_map(|(field, value)| Change::Set { field, value }),
        (name(), member(), value()).prop_map(|(set, member, value)| Change::Add { set, member, value }),
        (name(), member()).prop_map(|(set, member)| Change::Remove { set, member }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..5i64).prop_map(Value::from),
        Just(json!({"b": [1, 2.5, null], "a": "x", "10": true, "9": 2.0})),
        "\\PC{0,3}".prop_map(Value::from),
    ]
}

/// An addition: its time, its writer and its number; a removal removes the tags it has seen.
type Tag = (i64, u64, usize);

#[derive(Clone, Default)]
struct Expected {
    registers: BTreeMap<(String, String), (i64, u64, usize, Value)>,
    added: BTreeMap<(String, String, String), BTreeMap<Tag, Value>>,
    gone: BTreeSet<Tag>,
}

pub(crate) struct Replica {
    pub(crate) document: Document,
    pub(crate) model: BTreeMap<String, Entity>,
    expected: Expected,
}

pub(crate) struct World {
    pub(crate) replicas: Vec<Replica>,
    writers: [u64; REPLICAS],
    count: usize,
}

impl World {
    pub(crate) fn new(writers: [u64; REPLICAS]) -> Self {
        let replica =
            || Replica { document: Document::new(), model: BTreeMap::new(), expected: Expected::default() };
        Self { replicas: (0..REPLICAS).map(|_| replica()).collect(), writers, count: 0 }
    }

    pub(crate) fn played(writers: [u64; REPLICAS], acts: &[Act]) -> Self {
        let mut world = Self::new(writers);
        for act in acts {
            match act {
                Act::Edit { replica, at, changes } => world.edit(*replica, *at, changes),
                Act::Send { from, to, is_all } => world.send(*from, *to, *is_all),
            }
        }
        world
    }

    pub(crate) fn send(&mut self, from: usize, to: usize, is_all: bool) {
        let vector = self.replicas[to].document.state_vector();
        let source = &self.replicas[from];
        let update =
            if is_all { source.document.state() } else { source.document.update_since(&vector).unwrap() };
        let expected = source.expected.clone();
        let target = &mut self.replicas[to];
        for stamped in target.document.merge(&update).unwrap() {
            target.model.entry(stamped.edit.entity.clone()).or_default().apply(&stamped);
        }
        target.expected.merge(expected);
    }

    fn edit(&mut self, replica: usize, at: i64, changes: &[(u8, Change)]) {
        let writer = self.writers[replica];
        let stamp = Stamp { at, writer, by: json!({"session": replica, "agent": "x"}) };
        let edit = |(id, change): &(u8, Change)| Edit { entity: format!("e{id}"), change: change.clone() };
        let edits: Vec<_> = changes.iter().map(edit).collect();
        let replica = &mut self.replicas[replica];
        replica.document.edit(&edits, &stamp).unwrap();
        for edit in edits {
            self.count += 1;
            replica.expected.edit(&edit, (at, writer, self.count));
            let stamped = StampedEdit { edit, stamp: stamp.clone() };
            replica.model.entry(stamped.edit.entity.clone()).or_default().apply(&stamped);
        }
    }
}

impl Replica {
    /// Checks that the model, the document and the expected content agree.
    pub(crate) fn agree(&self) -> Result<(), TestCaseError> {
        let read = self.document.entities();
        let model: BTreeMap<_, _> =
            self.model.clone().into_iter().filter(|(_, entity)| !entity.is_empty()).collect();
        prop_assert_eq!(&model, &read);
        for (id, entity) in &read {
            prop_assert_eq!(Some(entity.clone()), self.document.entity(id));
        }
        prop_assert_eq!(self.expected.said(), said(&read));
        Ok(())
    }
}

impl Expected {
    fn edit(&mut self, edit: &Edit, tag: Tag) {
        let id = edit.entity.clone();
        match &edit.change {
            Change::Set { field, value } => {
                let entry = (tag.0, tag.1, tag.2, value.clone());
                self.set((id, field.clone()), entry);
            }
            Change::Add { set, member, value } => {
                let tags = self.added.entry((id, set.clone(), member.clone())).or_default();
                self.gone.extend(tags.keys());
                tags.insert(tag, value.clone());
            }
            Change::Remove { set, member } => {
                let tags = self.added.get(&(id, set.clone(), member.clone()));
                self.gone.extend(tags.into_iter().flat_map(BTreeMap::keys));
            }
        }
    }

    fn set(&mut self, slot: (String, String), entry: (i64, u64, usize, Value)) {
        let kept = self.registers.entry(slot).or_insert_with(|| entry.clone());
        if (kept.0, kept.1, kept.2) < (entry.0, entry.1, entry.2) {
            *kept = entry;
        }
    }

    fn merge(&mut self, other: Self) {
        for (slot, entry) in other.registers {
            self.set(slot, entry);
        }
        for (slot, tags) in other.added {
            self.added.entry(slot).or_default().extend(tags);
        }
        self.gone.extend(other.gone);
    }

    fn said(&self) -> BTreeSet<String> {
        let registers =
            self.registers.iter().map(|((id, field), (at, _, _, value))| line(id, field, None, *at, value));
        let members = self.added.iter().filter_map(|((id, set, member), tags)| {
            let (tag, value) = tags.iter().rfind(|(tag, _)| !self.gone.contains(tag))?;
            Some(line(id, set, Some(member), tag.0, value))
        });
        registers.chain(members).collect()
    }
}

fn said(entities: &BTreeMap<String, Entity>) -> BTreeSet<String> {
    let mut said = BTreeSet::new();
    for (id, entity) in entities {
        for (field, register) in &entity.registers {
            said.insert(line(id, field, None, register.at, &register.value));
        }
        for (set, members) in &entity.sets {
            for (member, kept) in members {
                said.insert(line(id, set, Some(member), kept.at, &kept.value));
            }
        }
    }
    said
}

fn line(id: &str, name: &str, member: Option<&str>, at: i64, value: &Value) -> String {
    // 2.0 is the only float among the values that is whole.
    format!("{id} {name} {member:?} {at} {}", value.to_string().replace("2.0", "2"))
}
