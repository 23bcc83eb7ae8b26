//! Tests that three replicas end with the same content whatever they do and send each other, and
//! that each has the expected content at every moment.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

mod world;

use consort_crdt::Change;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Stamp;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;
use world::World;
use world::acts;
use world::writers;

fn merged(states: &[&[u8]]) -> Document {
    let mut document = Document::new();
    for state in states {
        document.merge(state).unwrap();
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_says_what_it_should(writers in writers(), acts in acts()) {
        let mut world = World::played(writers, &acts);
        for replica in &world.replicas {
            replica.agree()?;
        }
        for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 1), (1, 2), (2, 1), (1, 0)] {
            world.send(from, to, false);
            world.replicas[to].agree()?;
        }
        let [one, two, three] = &world.replicas[..] else { unreachable!() };
        prop_assert_eq!(one.document.entities(), two.document.entities());
        prop_assert_eq!(two.document.entities(), three.document.entities());
        prop_assert_eq!(one.document.state_vector(), two.document.state_vector());
    }

    #[test]
    fn merging_commutes_associates_and_repeats(writers in writers(), acts in acts()) {
        let world = World::played(writers, &acts);
        let states: Vec<_> = world.replicas.iter().map(|replica| replica.document.state()).collect();
        let [a, b, c] = &states[..] else { unreachable!() };
        let all = merged(&[a, b, c]);
        let (left, right) = (merged(&[a, b]).state(), merged(&[b, c]).state());
        for others in [merged(&[c, b, a]), merged(&[b, a, c, b, a]), merged(&[&left, c]), merged(&[a, &right])] {
            prop_assert_eq!(all.entities(), others.entities());
            prop_assert_eq!(all.state_vector(), others.state_vector());
            prop_assert_eq!(all.state(), others.state());
        }
        let mut again = merged(&[a, b, c]);
        prop_assert_eq!(again.merge(b).unwrap(), vec![]);
        prop_assert_eq!(again.merge(&all.state()).unwrap(), vec![]);
        prop_assert_eq!(again.state(), all.state());
    }

    #[test]
    fn the_same_calls_give_the_same_bytes(writers in writers(), acts in acts()) {
        let (one, other) = (World::played(writers, &acts), World::played(writers, &acts));
        for (one, other) in one.replicas.iter().zip(&other.replicas) {
            let state = one.document.state();
            prop_assert_eq!(&state, &other.document.state());
            prop_assert_eq!(&state, &Document::load(&state).unwrap().state());
        }
    }

    /// Editing the bytes gives the same bytes as editing the document.
    #[test]
    fn editing_bytes_is_editing(writers in writers(), acts in acts(), later in acts(), at in 6..9i64, pen in 0..4usize, known in any::<bool>()) {
        let world = World::played(writers, &acts);
        let states: Vec<_> = world.replicas.iter().map(|replica| replica.document.state()).collect();
        let mut document = merged(&states.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let state = document.state();
        let stamp = |at, pen: usize| {
            let writer = writers.get(pen).copied().unwrap_or(4);
            Stamp { at, writer, by: json!({ "name": "Falcon", "kind": "claude" }) }
        };
        let entity = if known { "e0" } else { "another" };
        let edit = |change| Edit { entity: entity.to_owned(), change };
        let first = vec![
            edit(Change::Set { field: "name".into(), value: json!("x") }),
            edit(Change::Add { set: "a/b@%".into(), member: "m".into(), value: json!(0) }),
            edit(Change::Set { field: "other".into(), value: json!({ "b": 1, "a": [2.5] }) }),
            edit(Change::Remove { set: "a/b@%".into(), member: "m".into() }),
        ];
        let mut batches = vec![(first, stamp(at, pen))];
        for act in later.iter().take(4) {
            if let world::Act::Edit { replica, at, changes } = act {
                let edits = changes.iter().map(|(id, change)| Edit { entity: format!("e{id}"), change: change.clone() });
                batches.push((edits.collect(), stamp(*at, *replica)));
            }
        }
        for (edits, stamp) in &batches {
            document.edit(edits, stamp).unwrap();
        }
        prop_assert_eq!(Document::edited_state(&state, &batches).unwrap(), Some(document.state()));
    }

    /// Several writers edit one document, as an import does.
    #[test]
    fn one_document_may_be_written_by_many(acts in acts()) {
        let mut document = Document::new();
        let mut worlds = World::new([1, 2, 3]);
        for act in &acts {
            if let world::Act::Edit { replica, at, changes } = act {
                let edits: Vec<_> = changes
                    .iter()
                    .map(|(id, change)| Edit { entity: id.to_string(), change: change.clone() })
                    .collect();
                let stamp = Stamp { at: *at, writer: *replica as u64, by: Value::Null };
                document.edit(&edits, &stamp).unwrap();
                for edit in edits {
                    let stamped = consort_crdt::StampedEdit { edit, stamp: stamp.clone() };
                    let model = &mut worlds.replicas[0].model;
                    model.entry(stamped.edit.entity.clone()).or_default().apply(&stamped);
                }
            }
        }
        let mut model = std::mem::take(&mut worlds.replicas[0].model);
        model.retain(|_, entity| !entity.is_empty());
        prop_assert_eq!(document.entities(), model);
    }
}

fn set(value: i64) -> [Edit; 1] {
    let change = Change::Set { field: "f".to_owned(), value: json!(value) };
    [Edit { entity: "e".to_owned(), change }]
}

fn add() -> [Edit; 1] {
    let change = Change::Add { set: "s".to_owned(), member: "m".to_owned(), value: Value::Null };
    [Edit { entity: "e".to_owned(), change }]
}

fn stamp(at: i64, writer: u64) -> Stamp {
    Stamp { at, writer, by: Value::Null }
}

#[test]
fn the_newest_wins_no_matter_who_wrote_it() {
    for (early, late) in [(1, 2), (2, 1)] {
        let (mut one, mut other) = (Document::new(), Document::new());
        one.edit(&set(1), &stamp(10, early)).unwrap();
        other.edit(&set(2), &stamp(20, late)).unwrap();
        one.merge(&other.state()).unwrap();
        assert_eq!(one.entity("e").unwrap().registers["f"].value, json!(2));
        // A writer that has seen the newer value, but whose clock is behind, does not win.
        one.edit(&set(3), &stamp(15, early)).unwrap();
        assert_eq!(one.entity("e").unwrap().registers["f"].value, json!(2));
        one.edit(&set(4), &stamp(20, 3)).unwrap();
        assert_eq!(one.entity("e").unwrap().registers["f"].value, json!(4), "equal: the greater writer");
    }
}

/// With one key for all writers, the removal would remove both.
#[test]
fn a_removal_takes_only_what_it_saw() {
    for writers in [[1, 2, 3], [2, 1, 3], [3, 2, 1]] {
        let [mut one, mut two, mut three] = [Document::new(), Document::new(), Document::new()];
        one.edit(&add(), &stamp(1, writers[0])).unwrap();
        two.edit(&add(), &stamp(1, writers[1])).unwrap();
        three.merge(&one.state()).unwrap();
        let remove = Change::Remove { set: "s".to_owned(), member: "m".to_owned() };
        let remove = [Edit { entity: "e".to_owned(), change: remove }];
        three.edit(&remove, &stamp(2, writers[2])).unwrap();
        assert_eq!(three.entity("e"), None);
        let all = merged(&[&one.state(), &two.state(), &three.state()]);
        assert!(all.entity("e").unwrap().sets["s"].contains_key("m"));
    }
}

#[test]
fn a_document_may_go_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<Document>();
}
