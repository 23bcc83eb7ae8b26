//! Tests damaged bytes: every input is answered, without a panic, and no document results that
//! cannot be read, edited and written.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use consort_crdt::Change;
use consort_crdt::CrdtError;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Limits;
use consort_crdt::Stamp;
use consort_crdt::check;
use consort_crdt::sync;
use serde_json::json;

fn edit(entity: &str, change: Change) -> Edit {
    Edit { entity: entity.to_owned(), change }
}

fn stamp(at: i64, writer: u64) -> Stamp {
    Stamp { at, writer, by: json!({"agent": "x", "session": 7}) }
}

/// Makes a document of two writers, with some entries overwritten and some removed.
fn ordinary() -> Document {
    let mut document = Document::new();
    for round in 0..3 {
        let mut edits = Vec::new();
        for id in 0..3 {
            let entity = format!("entity {id}");
            let value = json!({"text": "wörds", "n": [round, 0.5, i64::MAX, null], "10": true});
            edits.push(edit(&entity, Change::Set { field: "name".to_owned(), value }));
            for member in ["a", "b"] {
                let (set, member) = ("tags".to_owned(), member.to_owned());
                edits.push(edit(&entity, Change::Add { set, member, value: json!(round) }));
            }
            if id % 2 == 0 {
                let (set, member) = ("tags".to_owned(), "a".to_owned());
                edits.push(edit(&entity, Change::Remove { set, member }));
            }
        }
        document.edit(&edits, &stamp(round, 1 + round as u64 % 2 * 5_000_000_000)).unwrap();
    }
    document
}

/// Makes a document from which everything was removed: such a document made yrs abort.
fn emptied() -> Document {
    let mut document = Document::new();
    for id in 0..8 {
        let (set, member) = ("s".to_owned(), "m".to_owned());
        let add = Change::Add { set: set.clone(), member: member.clone(), value: json!(id) };
        let remove = Change::Remove { set, member };
        document.edit(&[edit("e", add)], &stamp(id, 9)).unwrap();
        document.edit(&[edit("e", remove)], &stamp(id, 9)).unwrap();
    }
    document
}

/// A small random generator; the cases are the same on every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// Loads and merges the bytes; a document that was accepted must work afterwards.
fn endure(bytes: &[u8], into: &[u8]) -> bool {
    let mut loaded = Document::load(bytes);
    if let Ok(document) = &mut loaded {
        let add = Change::Add { set: "tags".to_owned(), member: "a".to_owned(), value: json!(1) };
        document.edit(&[edit("entity 1", add)], &stamp(9, 77)).unwrap();
        let again = Document::load(&document.state()).unwrap();
        assert_eq!(again.entities(), document.entities());
        assert_eq!(again.state(), document.state());
    }
    let mut target = Document::load(into).unwrap();
    if target.merge(bytes).is_ok() {
        target.entities();
        Document::load(&target.state()).unwrap();
    }
    loaded.is_ok()
}

#[test]
fn twenty_thousand_damaged_updates_do_no_harm() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let plain = ordinary().state();
    let empty = emptied().state();
    let mut accepted = 0;
    for case in 0..20_000 {
        let (source, other) = if case % 4 == 0 { (&empty, &plain) } else { (&plain, &empty) };
        let mut bytes = source.clone();
        if case % 5 == 0 {
            bytes.truncate(dice.below(bytes.len()));
        }
        for _ in 0..=dice.below(3) {
            let at = dice.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        accepted += usize::from(endure(&bytes, if case % 2 == 0 { source } else { other }));
    }
    assert!(accepted > 1_000, "only {accepted} went past the check: nothing was tried");
}

#[test]
fn every_cut_and_every_byte_is_tried() {
    for source in [ordinary().state(), emptied().state()] {
        for end in 0..source.len() {
            assert!(Document::load(&source[..end]).is_err(), "cut at {end}");
        }
        for at in 0..source.len().min(400) {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = source.clone();
                bytes[at] = value;
                endure(&bytes, &source);
            }
        }
    }
}

#[test]
fn any_frame_is_answered_or_refused() {
    let mut dice = Dice(3);
    let other = ordinary();
    let frames =
        [sync::greeting_frame(&other), sync::update_frame(&other.state()), vec![1, 3, 1, 2, 3], vec![3]];
    let mut document = emptied();
    for case in 0..20_000 {
        let mut frame = frames[case % frames.len()].clone();
        let at = dice.below(frame.len());
        frame[at] ^= 1 << dice.below(8);
        frame.truncate(frame.len() - dice.below(3).min(frame.len() / 2));
        let _ = sync::answer(&mut document, &frame, case % 3 > 0);
    }
    Document::load(&document.state()).unwrap();
}

fn refused(bytes: &[u8]) -> String {
    check(bytes, &Limits::default()).unwrap_err().to_string()
}

#[test]
fn what_is_no_part_of_the_layout_is_named() {
    let entry = |info: u8, rest: &[u8]| [&[1, 1, 5, 0, info][..], rest, &[0]].concat();
    let place = [1, 1, b'e', 1, b'k'];
    let with = |info: u8, rest: &[u8]| entry(info, &[&place, rest].concat());
    assert_eq!(check(&with(0x28, &[1, 126]), &Limits::default()).ok(), Some(()));
    assert_eq!(check(&[0, 0], &Limits::default()).ok(), Some(()));
    assert!(refused(&with(0x27, &[1])).contains("not a plain value"));
    assert!(refused(&with(0x24, &[1, b'x'])).contains("not a plain value"));
    assert!(refused(&with(0x28, &[2, 126, 126])).contains("several values"));
    assert!(refused(&with(0x28, &[0])).contains("several values"));
    assert!(refused(&entry(0x28, &[0, 1, 1, 1, b'k', 1, 126])).contains("something nested"));
    assert!(refused(&entry(0x08, &[1, 1, b'e', 1, 126])).contains("without a key"));
    assert!(refused(&entry(0xc8, &[1, 1, 1, 1, 1, 126])).contains("a list"));
    assert!(refused(&entry(0, &[0])).contains("impossible length"));
    assert!(refused(&entry(10, &[0])).contains("impossible length"));
    assert!(refused(&entry(0x88, &[5, 0, 1, 126])).contains("follows itself"));
    assert!(refused(&[1, 0, 5, 0, 0]).contains("a writer of nothing"));
    assert!(refused(&[0, 1, 5, 1, 0, 0]).contains("removals out of order"));
    assert!(refused(&[0, 0, 0]).contains("more than an update"));
    let deep = with(0x28, &[&[1][..], &[[117, 1]; 200].concat(), &[126]].concat());
    assert!(refused(&deep).contains("levels"));
    let small = Limits { bytes: 4, ..Limits::default() };
    assert!(matches!(check(&deep, &small), Err(CrdtError::TooMuch { what: "bytes", limit: 4 })));
    let few = Limits { items: 3, ..Limits::default() };
    assert!(matches!(check(&ordinary().state(), &few), Err(CrdtError::TooMuch { what: "items", .. })));
}

#[test]
fn what_builds_on_the_unknown_is_refused_whole() {
    let mut document = ordinary();
    let known = document.state_vector();
    let set = Change::Set { field: "name".to_owned(), value: json!(1) };
    document.edit(&[edit("entity 1", set)], &stamp(50, 1)).unwrap();
    let update = document.update_since(&known).unwrap();
    let mut empty = Document::new();
    assert!(matches!(empty.merge(&update), Err(CrdtError::Gap { .. })));
    assert!(matches!(Document::load(&update), Err(CrdtError::Gap { .. })));
    assert_eq!(empty.state(), Document::new().state());
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is() {
    let mut document = ordinary();
    let before = document.state();
    let mut deep = json!(1);
    for _ in 0..127 {
        deep = json!([deep]);
    }
    let set = |value| edit("e", Change::Set { field: "f".to_owned(), value });
    assert!(document.edit(&[set(json!(1)), set(json!([deep]))], &stamp(1, 1)).is_err());
    assert!(matches!(document.edit(&[set(json!(1))], &stamp(1, 1 << 53)), Err(CrdtError::Writer { .. })));
    assert_eq!(document.state(), before);
    document.edit(&[set(deep.clone())], &stamp(1, 1)).unwrap();
    assert_eq!(Document::load(&document.state()).unwrap().entity("e").unwrap().registers["f"].value, deep);
}
