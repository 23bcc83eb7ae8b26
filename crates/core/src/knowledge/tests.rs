//! Tests of the knowledge rules: the edits of actions, merging, and rows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::Edit;
use super::EditChange;
use super::Entity;
use super::Kind;
use super::Known;
use super::Row;
use super::Source;
use super::StampedEdit;
use super::actions::View;
use super::actions::link_name;
use super::actions::plan;
use super::merge;
use crate::Timestamp;
use crate::engine::StoreError;

/// A store of knowledge in memory.
#[derive(Default)]
struct Memory {
    entities: BTreeMap<String, Entity>,
    next: usize,
    clock: i64,
}

impl Memory {
    fn name_of(entity: &Entity) -> Option<(Kind, String)> {
        let kind = Kind::named(entity.text("kind")?)?;
        let name = match kind {
            Kind::Relationship => link_name(entity.text("from")?, entity.text("type")?, entity.text("to")?),
            kind => entity.text(kind.key_field())?.to_owned(),
        };
        Some((kind, name))
    }

    fn all(&self) -> Vec<Known> {
        let mut named: BTreeMap<(Kind, String), Vec<(String, Entity)>> = BTreeMap::new();
        for (id, entity) in &self.entities {
            if let Some(name) = Self::name_of(entity) {
                named.entry(name).or_default().push((id.clone(), entity.clone()));
            }
        }
        named.iter().filter_map(|((kind, name), entities)| merge(*kind, name, entities)).collect()
    }

    fn take(&mut self, edits: &[Edit]) {
        self.clock += 1;
        for edit in edits {
            let stamped = StampedEdit {
                edit: edit.clone(),
                at: Timestamp(self.clock),
                writer: 1,
                by: Source { name: "Falcon".into(), ..Source::default() },
            };
            self.entities.entry(edit.entity.clone()).or_default().apply(stamped.borrowed());
        }
    }

    /// Carries out a batch, or returns its mistakes.
    fn act(&mut self, actions: Value) -> Result<Vec<String>, Vec<String>> {
        let mut next = self.next;
        let planned = plan(&actions, self, super::actions::USUAL, &mut || {
            next += 1;
            format!("e{next}")
        })
        .unwrap();
        if !planned.mistakes.is_empty() {
            return Err(planned.mistakes.iter().map(ToString::to_string).collect());
        }
        self.next = next;
        self.take(&planned.edits);
        Ok(planned.results)
    }

    fn get(&self, kind: Kind, name: &str) -> Option<Known> {
        self.all().into_iter().find(|known| known.kind == kind && known.name == name)
    }
}

impl View for Memory {
    fn known(&self, kind: Kind, name: &str) -> Result<Option<Known>, StoreError> {
        Ok(self.get(kind, name))
    }

    fn links(&self, name: &str) -> Result<Vec<Known>, StoreError> {
        let is_end = |known: &Known| known.text("from") == name || known.text("to") == name;
        Ok(self.all().into_iter().filter(|known| known.kind == Kind::Relationship && is_end(known)).collect())
    }

    fn names(&self, kind: Kind) -> Result<Vec<String>, StoreError> {
        Ok(self.all().into_iter().filter(|known| known.kind == kind).map(|known| known.name).collect())
    }

    fn place(&self, written: &str) -> Result<String, String> {
        Ok(written.trim_start_matches("./").to_owned())
    }

    fn location(&self, written: &str) -> Result<String, String> {
        Ok(written.to_owned())
    }
}

fn seeded() -> Memory {
    let mut memory = Memory::default();
    memory
        .act(json!([
            ["record-principle", { "name": "sync", "description": "It spreads.", "confidence": 0.9, "tags": ["a", "b"] }],
            ["record-file-understanding", { "path": "./src/model.rs", "summary": "The model.", "importantSymbols": ["Model"] }],
            ["record-decision", { "name": "decorators", "description": "We use them.", "impact": 9 }],
            ["link-entities", { "from": "sync", "to": "src/model.rs", "type": "implements" }],
        ]))
        .unwrap();
    memory
}

#[test]
fn a_batch_sees_what_it_makes_and_lists_grow() {
    let mut memory = seeded();
    let sync = memory.get(Kind::Principle, "sync").unwrap();
    assert_eq!(
        Value::from(sync.fields),
        json!({ "name": "sync", "description": "It spreads.", "confidence": 0.9, "tags": ["a", "b"] })
    );
    assert_eq!(memory.get(Kind::Decision, "decorators").unwrap().text("status"), "active");
    let file = memory.get(Kind::File, "src/model.rs").unwrap();
    assert_eq!(file.texts("symbols").collect::<Vec<_>>(), ["Model"]);

    let told = memory.act(json!([
        ["record-principle", { "name": "sync", "confidence": 1, "tags": ["c"], "remove": { "tags": ["a"] } }],
        ["add-evidence", { "principle": "sync", "evidence": "seen" }],
        ["update-confidence", { "name": "sync", "confidence": 0.5 }],
    ]));
    assert_eq!(told.unwrap()[0], "updated principle sync");
    let sync = memory.get(Kind::Principle, "sync").unwrap();
    assert_eq!(sync.texts("tags").collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!((sync.fields["confidence"].clone(), sync.text("description")), (json!(0.5), "It spreads."));
    assert_eq!(sync.texts("evidence").collect::<Vec<_>>(), ["seen"]);
}

#[test]
fn names_change_and_links_follow() {
    let mut memory = seeded();
    memory.act(json!([["rename", { "name": "sync", "to": "spreading" }]])).unwrap();
    assert!(memory.get(Kind::Principle, "sync").is_none());
    assert!(memory.get(Kind::Relationship, &link_name("spreading", "implements", "src/model.rs")).is_some());
    memory.act(json!([["delete-principle", { "name": "spreading" }]])).unwrap();
    assert_eq!(memory.all().len(), 2, "{:?}", memory.all());
    // Recorded again, it has nothing of what was deleted.
    memory.act(json!([["record-principle", { "name": "spreading", "description": "again" }]])).unwrap();
    assert_eq!(memory.get(Kind::Principle, "spreading").unwrap().texts("tags").count(), 0);
}

/// A link may come before the record that it leads to, and that may not be recorded at all.
#[test]
fn links_may_lead_ahead_and_records_may_have_no_description() {
    let mut memory = Memory::default();
    let results = memory.act(json!([
        ["link-entities", { "from": "first", "to": "second", "type": "uses" }],
        ["record-principle", { "name": "first", "confidence": 0.8 }],
        ["record-pattern", { "name": "second", "type": "t" }],
        ["link-entities", { "from": "first", "to": "world-state-tree", "type": "implements" }],
    ]));
    assert_eq!(
        results.unwrap(),
        [
            "linked first uses second",
            "recorded principle first",
            "recorded pattern second",
            "linked first implements world-state-tree (nothing is known of world-state-tree yet)",
        ]
    );
    // A name like a known one is a slip of the pen.
    let wrong = memory.act(json!([["link-entities", { "from": "first", "to": "secnod", "type": "uses" }]]));
    assert!(wrong.unwrap_err()[0].ends_with("did you mean `second`?"));
}

#[test]
fn everything_wrong_is_said_at_once_and_nothing_is_done() {
    let mut memory = seeded();
    let before = memory.entities.clone();
    let wrong = memory.act(json!([
        ["record-principle", { "name": "x", "confidence": 7, "tagz": ["a"] }],
        ["record-decision", { "name": "sure", "description": "d", "status": "maybe" }],
        ["link-entities", { "from": "synk", "to": "src/model.rs", "type": "uses" }],
        ["fly", {}],
        "nonsense",
        ["delete-pattern", { "name": "nope" }],
        ["record-principle", { "name": "long", "description": "x".repeat(20_000) }],
        ["record-principle", { "name": "fine", "description": "d" }],
    ]));
    let wrong = wrong.unwrap_err();
    let expected = [
        "action 0 (record-principle), `tagz`: is not known; did you mean `tags`?",
        "action 0 (record-principle), `confidence`: is not a number from 0 to 1",
        "action 1 (record-decision), `status`: is none of active, deprecated, superseded",
        "action 2 (link-entities), `from`: nothing of that name is known; did you mean `sync`?",
        "action 3 (fly): there is no such action; there are",
        "action 4: an action is `[\"name\", {…}]`",
        "action 5 (delete-pattern), `name`: nothing of that name is known",
        "action 6 (record-principle), `description`: is longer than 16 KiB",
    ];
    for expected in expected {
        assert!(wrong.iter().any(|wrong| wrong.starts_with(expected)), "{expected}\n{wrong:#?}");
    }
    assert_eq!(wrong.len(), expected.len(), "{wrong:#?}");
    assert_eq!(memory.entities, before);
    for not_a_batch in [json!({}), json!([]), json!(vec![json!(["confirm", { "name": "sync" }]); 51])] {
        assert_eq!(memory.act(not_a_batch).unwrap_err().len(), 1);
    }
}

#[test]
fn entities_of_one_name_are_read_as_one() {
    let entity = |at: i64, description: &str, tag: &str| {
        let mut entity = Entity::default();
        for change in [
            EditChange::Set { field: "kind".into(), value: "principle".into() },
            EditChange::Set { field: "name".into(), value: "sync".into() },
            EditChange::Set { field: "description".into(), value: description.into() },
            EditChange::Add { set: "tags".into(), member: tag.into(), value: 0.into() },
        ] {
            let edit = Edit { entity: String::new(), change };
            let by = Source::default();
            entity.apply(StampedEdit { edit: &edit, at: Timestamp(at), writer: 9 - at as u64, by: &by });
        }
        entity
    };
    // The newest value by the clock, whichever writer it has; and all tags.
    let both = [("b".to_owned(), entity(2, "newer", "y")), ("a".to_owned(), entity(1, "older", "x"))];
    let known = merge(Kind::Principle, "sync", &both).unwrap();
    assert_eq!(
        (known.text("description"), known.texts("tags").collect::<Vec<_>>()),
        ("newer", vec!["x", "y"])
    );
    assert_eq!(known.ids, ["a", "b"]);
}

#[test]
fn a_row_is_read_field_by_field() {
    for known in seeded().all() {
        let bytes = Row::encode(&known);
        let row = Row::new(known.kind, &bytes);
        for field in known.kind.fields() {
            assert_eq!(row.value(field.name), known.fields.get(field.name).cloned(), "{}", field.name);
        }
        assert_eq!(row.value("nothing"), None);
        assert_eq!(Known { ids: known.ids.clone(), ..row.decode() }, known);
        // Damaged bytes cause no panic.
        for cut in 0..bytes.len() {
            Row::new(known.kind, &bytes[..cut]).decode();
        }
    }
}

#[test]
fn a_row_keeps_whatever_it_is_given() {
    let known = seeded().all().into_iter().find(|known| known.kind == Kind::Principle).unwrap();
    let texts = [1, 0x7f, 0x80, 3_950, 4_096, 0x4000, 70_000].map(|length| json!("é".repeat(length)));
    let others = [
        json!(-3),
        json!(1.0),
        json!(u64::MAX),
        json!(true),
        json!({ "a": 1 }),
        json!(["a", 1]),
        json!(["", "b\n"]),
    ];
    for value in texts.into_iter().chain(others) {
        let mut known = known.clone();
        known.fields.insert("description".into(), value.clone());
        let bytes = Row::encode(&known);
        let row = Row::new(Kind::Principle, &bytes);
        assert_eq!(row.value("description"), Some(value));
        assert_eq!(row.decode().fields, known.fields);
    }
}

fn arbitrary_edit() -> impl Strategy<Value = StampedEdit> {
    let set = (0..3_u8, any::<u8>())
        .prop_map(|(field, value)| EditChange::Set { field: format!("f{field}"), value: value.into() });
    (set, 0..5_i64, 1..4_u64).prop_map(|(change, at, writer)| {
        // One writer sets a field to one value at one moment.
        let change = match change {
            EditChange::Set { field, .. } => EditChange::Set { value: json!([field, at, writer]), field },
            other => other,
        };
        let edit = Edit { entity: "e".into(), change };
        StampedEdit { edit, at: Timestamp(at), writer, by: Source::default() }
    })
}

proptest! {
    /// Every replica comes to the same state, in whatever order the edits reach it.
    #[test]
    fn the_order_of_edits_does_not_matter(
        edits in prop::collection::vec(arbitrary_edit(), 0..20),
        seed in any::<u64>(),
    ) {
        let told = |edits: &[StampedEdit]| {
            let mut entity = Entity::default();
            edits.iter().for_each(|edit| entity.apply(edit.borrowed()));
            entity
        };
        let mut shuffled = edits.clone();
        shuffled.sort_by_key(|edit| (seed ^ edit.at.0 as u64).wrapping_mul(edit.writer).rotate_left(7));
        prop_assert_eq!(told(&edits), told(&shuffled));
        let stored = serde_json::to_string(&told(&edits)).unwrap();
        prop_assert_eq!(serde_json::from_str::<Entity>(&stored).unwrap(), told(&edits));
        // An edit that is applied twice counts once.
        prop_assert_eq!(told(&edits), told(&[edits.clone(), shuffled].concat()));
    }

    #[test]
    fn no_batch_is_too_strange(text in ".{0,60}", number in any::<f64>()) {
        let mut memory = seeded();
        for name in super::actions::ACTIONS {
            let _ = memory.act(json!([[name, { "name": text, "path": text, "from": text, "to": text, "type": text,
                "confidence": number, "description": text, "evidence": [text], "kind": text }]]));
        }
    }
}
