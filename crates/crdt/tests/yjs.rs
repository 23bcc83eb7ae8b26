//! Tests against Yjs itself and a program that knows only the documented layout: both sides read
//! the same, write the same bytes, and merge to the same document.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use consort_crdt::Change;
use consort_crdt::Document;
use consort_crdt::Edit;
use consort_crdt::Entity;
use consort_crdt::Stamp;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

#[derive(Deserialize)]
struct Told {
    content: BTreeMap<String, Entity>,
    state: String,
    vector: String,
}

/// Runs `job` in Yjs and returns its document; `None`, with a loud message, if Yjs is not installed.
fn yjs(job: &Value) -> Option<Told> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let tools = here.join("../../.test-tools");
    if tools.join("yjs/unreachable").exists() {
        std::io::stderr().write_all(b"!!! SKIPPED: yjs could not be installed !!!\n").unwrap();
        return None;
    }
    let mut node = Command::new(tools.join("claude/node_modules/.bin/node"))
        .arg(here.join("tests/yjs/peer.mjs"))
        .arg(tools.join("yjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("no node, which scripts/test-tools brings: {error}"));
    node.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn set(entity: &str, field: &str, value: Value) -> Edit {
    Edit { entity: entity.to_owned(), change: Change::Set { field: field.to_owned(), value } }
}

fn add(entity: &str, member: &str, value: Value) -> Edit {
    let (set, member) = ("tags/%".to_owned(), member.to_owned());
    Edit { entity: entity.to_owned(), change: Change::Add { set, member, value } }
}

fn remove(entity: &str, member: &str) -> Edit {
    let (set, member) = ("tags/%".to_owned(), member.to_owned());
    Edit { entity: entity.to_owned(), change: Change::Remove { set, member } }
}

fn stamp(at: i64, writer: u64) -> Stamp {
    Stamp { at, writer, by: json!({"session": "s1", "agent": "claude", "2": 0, "10": 1}) }
}

/// Makes a document with all kinds of values and names, three writers, overwrites and removals.
fn rich() -> Document {
    let mut document = Document::new();
    let mut edits = vec![
        set("e1", "name/with%@", json!("wörds 🦀 \u{0}")),
        set(
            "e1",
            "numbers",
            json!([0, -1, 2.0, 0.5, 0.1, 1e300, 1u64 << 40, (1u64 << 60) + 1, i64::MIN + 1, i64::MAX - 1]),
        ),
        set(
            "e1",
            "nested",
            json!({"z": {"b": [null, true, {}], "a": []}, "10": 1, "9": 2, "": "x", "010": 3}),
        ),
        set("", "", Value::Null),
        add("e2", "src/a@b.rs", Value::Null),
        add("e2", "gone", json!(1)),
        remove("e2", "gone"),
    ];
    edits.extend((0..50).map(|id| set(&format!("many {id}"), "n", json!(id))));
    for (at, writer) in [(1_790_000_000_000, 7), (1_790_000_000_001, (1 << 53) - 1), (5, 300_000), (6, 7)] {
        document.edit(&edits, &stamp(at, writer)).unwrap();
        edits.rotate_left(3);
    }
    document
}

#[test]
fn yjs_reads_what_we_wrote_and_writes_the_same_bytes() {
    let document = rich();
    let Some(told) = yjs(&json!([{"update": hex(&document.state())}])) else { return };
    assert_eq!(told.content, document.entities());
    assert_eq!(told.vector, hex(&document.state_vector()));
    assert_eq!(told.state, hex(&document.state()));
}

#[test]
fn concurrent_edits_merge_alike_in_both_orders() {
    let base = rich();
    let theirs = [
        set("e1", "numbers", json!({"b": 1, "a": 2.5})),
        set("new on both", "name", json!("theirs")),
        add("e2", "src/a@b.rs", json!("theirs")),
        add("e2", "gone", json!("back")),
        remove("new on both", "never there"),
    ];
    let ours = [
        set("e1", "numbers", json!("newer, by the clock")),
        set("new on both", "name", json!("older")),
        remove("e2", "src/a@b.rs"),
        add("new on both", "mine", json!(null)),
    ];
    for (writer, ours_writer) in [(4_000_000_000_u64, 1), (2, 5_000_000_000)] {
        let edits = json!({"edits": theirs, "writer": writer, "at": 1_790_000_000_050_i64, "by": "js"});
        let base_state = hex(&base.state());
        let Some(edited) = yjs(&json!([{"update": base_state}, edits])) else { return };
        let mut mine = Document::load(&base.state()).unwrap();
        mine.edit(&ours[..1], &stamp(1_790_000_000_060, ours_writer)).unwrap();
        mine.edit(&ours[1..], &stamp(1_790_000_000_040, ours_writer)).unwrap();

        let mut one = Document::load(&mine.state()).unwrap();
        let changes = one.merge(&unhex(&edited.state)).unwrap();
        let mut model = mine.entities();
        for stamped in &changes {
            model.entry(stamped.edit.entity.clone()).or_default().apply(stamped);
        }
        let mut other = Document::load(&unhex(&edited.state)).unwrap();
        assert_eq!(other.entities(), edited.content);
        other.merge(&mine.state()).unwrap();
        assert_eq!(one.entities(), other.entities());
        assert_eq!(one.entities(), model);

        let mine_last = json!([{"update": base_state}, edits, {"update": hex(&mine.state())}]);
        let mine_first = json!([{"update": hex(&mine.state())}, {"update": edited.state}]);
        for job in [mine_last, mine_first] {
            let merged = yjs(&job).unwrap();
            assert_eq!(merged.content, one.entities());
            assert_eq!(merged.state, hex(&one.state()));
        }
        let both = one.entity("new on both").unwrap();
        assert_eq!(both.registers["name"].value, json!("theirs"));
        assert!(both.sets["tags/%"].contains_key("mine"));
        let e2 = &one.entity("e2").unwrap().sets["tags/%"];
        assert_eq!(e2["src/a@b.rs"].value, json!("theirs"), "added while it was removed");
        assert_eq!(one.entity("e1").unwrap().registers["numbers"].value, json!("newer, by the clock"));
    }
}

/// The small update that Yjs sends after an edit is accepted.
#[test]
fn a_document_that_yjs_began_is_ours_too() {
    let edits =
        [set("e", "f", json!(1)), add("e", "m", json!([1])), set("e", "f", json!(2)), remove("e", "m")];
    let Some(told) = yjs(&json!([{"edits": edits, "writer": 77, "at": 3, "by": null}])) else { return };
    let document = Document::load(&unhex(&told.state)).unwrap();
    assert_eq!(document.entities(), told.content);
    assert_eq!(document.entity("e").unwrap().registers["f"].writer, 77);
    assert_eq!(hex(&document.state()), told.state);
}
