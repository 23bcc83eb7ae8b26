//! Tests that values read back as they were written: here, after loading, and as JSON.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_crdt::Change;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Entity;
use consort_crdt::Stamp;
use consort_crdt::StampedEdit;
use expect_test::expect;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

fn set(value: Value) -> StampedEdit {
    let change = Change::Set { field: "f".to_owned(), value };
    let stamp = Stamp { at: 1_790_000_000_123, writer: 5, by: json!(null) };
    StampedEdit { edit: Edit { entity: "e".to_owned(), change }, stamp }
}

/// Returns the entity as a document has it after it was loaded again.
fn stored(stamped: &StampedEdit) -> Entity {
    let mut document = Document::new();
    document.edit(std::slice::from_ref(&stamped.edit), &stamped.stamp).unwrap();
    let loaded = Document::load(&document.state()).unwrap();
    assert_eq!(loaded.entities(), document.entities());
    loaded.entity(&stamped.edit.entity).unwrap()
}

fn read_back(value: Value) -> Value {
    stored(&set(value)).registers["f"].value.clone()
}

#[test]
fn numbers_keep_their_value() {
    let edges =
        [31, 32, 53, 54, 62].into_iter().flat_map(|bits| [(1i64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    for whole in edges.chain([0, 1, i64::MAX - 1, i64::MAX]) {
        for whole in [whole, -whole, !whole] {
            assert_eq!(read_back(json!(whole)), json!(whole));
        }
    }
    for float in [0.1, -2.5, f64::MIN_POSITIVE, 5e-324, f64::MAX, 1e300, 1.0 / 3.0, 9.3e18, 1e19] {
        assert_eq!(read_back(json!(float)), json!(float));
    }
    // As in JavaScript, a whole number is an integer.
    assert_eq!(read_back(json!(2.0)), json!(2));
    assert_eq!(read_back(json!(-0.0)), json!(0));
    assert_eq!(read_back(json!(1e18)), json!(1_000_000_000_000_000_000_i64));
    assert_eq!(read_back(json!(u64::MAX)), json!(18_446_744_073_709_551_616.0));
}

#[test]
fn edits_are_short_in_json() {
    let stamp = Stamp { at: 5, writer: 7, by: json!("me") };
    let changes = [
        Change::Set { field: "name".to_owned(), value: json!(0.1) },
        Change::Add { set: "tags".to_owned(), member: "x".to_owned(), value: Value::Null },
        Change::Remove { set: "tags".to_owned(), member: "x".to_owned() },
    ];
    let lines = changes.map(|change| {
        let stamped = StampedEdit { edit: Edit { entity: "e".to_owned(), change }, stamp: stamp.clone() };
        let line = serde_json::to_string(&stamped).unwrap();
        assert_eq!(serde_json::from_str::<StampedEdit>(&line).unwrap(), stamped);
        line
    });
    expect![[r#"
        {"entity":"e","set":{"field":"name","value":0.1},"stamp":{"at":5,"writer":7,"by":"me"}}
        {"entity":"e","add":{"set":"tags","member":"x","value":null},"stamp":{"at":5,"writer":7,"by":"me"}}
        {"entity":"e","remove":{"set":"tags","member":"x"},"stamp":{"at":5,"writer":7,"by":"me"}}"#]]
    .assert_eq(&lines.join("\n"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<String>(), any_json()).prop_map(|(field, value)| Change::Set { field, value }),
        (any::<String>(), any::<String>(), any_json()).prop_map(|(set, member, value)| Change::Add {
            set,
            member,
            value
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_is_stored_as_the_model_has_it(
        entity in any::<String>(), change in any_change(), by in any_json(), at in any::<i64>(), writer in 0..1u64 << 53,
    ) {
        let stamped = StampedEdit { edit: Edit { entity, change }, stamp: Stamp { at, writer, by } };
        let mut model = Entity::default();
        model.apply(&stamped);
        prop_assert_eq!(&stored(&stamped), &model);
        let mut other = Document::new();
        let mut document = Document::new();
        document.edit(std::slice::from_ref(&stamped.edit), &stamped.stamp).unwrap();
        let told = other.merge(&document.state()).unwrap();
        prop_assert_eq!(told.len(), 1);
        let mut from_merge = Entity::default();
        from_merge.apply(&told[0]);
        prop_assert_eq!(&from_merge, &model);
        // The edit also survives a journal of JSON.
        let line = serde_json::to_string(&stamped).unwrap();
        prop_assert_eq!(serde_json::from_str::<StampedEdit>(&line).unwrap(), stamped);
    }
}
