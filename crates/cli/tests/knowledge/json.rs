//! Tests that every `know` command has `--json`, in one envelope.

use std::fs;

use consort_testkit::Sealed;
use serde_json::Value;

use super::act;
use super::some;
use super::world;

fn json_of(world: &Sealed, line: &str) -> (u8, Value) {
    let ran = world.run(line);
    let first = ran.stdout.lines().next().unwrap_or_default();
    let json = serde_json::from_str(first).unwrap_or_else(|error| panic!("{line}: {error}: {ran}"));
    (u8::try_from(ran.code).unwrap(), json)
}

fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|time| time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T')
}

#[test]
fn every_answer_has_its_envelope() {
    let world = world();
    act(&world, Some("s1"), &some());
    fs::write(world.project().join("CLAUDE.md"), "- Run the tests before you stop\n").unwrap();
    fs::write(world.path().join("one.json"), r#"{"actions":[["record-note",{"description":"a note"}]]}"#)
        .unwrap();
    for (line, noun) in [
        ("know search syncing", "items"),
        ("know list", "items"),
        ("know list notes", "items"),
        ("know stale", "items"),
        ("know history one-writer", "items"),
        ("know as-of 1s (get-principles)", "items"),
        ("know query (get-principles)", "items"),
        ("know query (length(get-principles))", "answer"),
        ("know show one-writer", "known"),
        ("know add note n words", "recorded"),
        ("know apply ../one.json", "recorded"),
        ("know renew", "items"),
        ("know renew --holds one-writer", "recorded"),
        ("know suggest", "items"),
        ("know similar", "items"),
        ("know similar syncing", "items"),
        ("know save", "saved"),
        ("know export", "items"),
        ("know export --markdown --to pages", "written"),
        ("know import pages", "imported"),
        ("know import CLAUDE.md", "items"),
        ("know import CLAUDE.md --take all", "imported"),
        ("know import .consort/knowledge.yjs", "imported"),
        ("know cache size", "cache"),
        ("know forget n", "forgotten"),
    ] {
        let (code, json) = json_of(&world, &format!("{line} --json"));
        assert_eq!(code, 0, "{line}: {json}");
        assert!(is_time(&json["at"]), "{line}: {json}");
        assert!(!json[noun].is_null(), "{line}: {json}");
    }
    let (_, found) = json_of(&world, "know search syncing --json");
    let first = &found["items"][0];
    assert_eq!(first["kind"], "principle");
    assert_eq!(first["by"]["name"], "Falcon");
    assert_eq!(first["by"]["cli"], "claude");
    assert!(is_time(&first["recorded_at"]), "{first}");
}

#[test]
fn what_fails_is_json_too() {
    let world = world();
    for (line, message) in [
        ("know show nothing", "nothing called `nothing` is known"),
        ("know renew nothing", "nothing called `nothing` is known"),
        ("know import nowhere.json", "cannot read"),
        ("know adopt nothing", "nothing called `nothing` is known there"),
        ("know forget nothing", "nothing was ever called `nothing`"),
        ("know add pattern p words", "nothing was recorded"),
        ("know add decision d confdence=1", "nothing was recorded"),
        ("know query (get-principels)", "unknown name"),
    ] {
        let (code, json) = json_of(&world, &format!("{line} --json"));
        assert_eq!(code, 1, "{line}: {json}");
        assert!(
            json["error"]["message"].as_str().is_some_and(|said| said.contains(message)),
            "{line}: {json}"
        );
        assert!(json["error"]["kind"].is_string() && json["error"]["hints"].is_array(), "{line}: {json}");
    }
}
