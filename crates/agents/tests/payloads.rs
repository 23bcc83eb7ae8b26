//! Tests how each dialect reads the payloads that the real CLIs sent to their hooks.

use std::path::PathBuf;

use consort_agents::ALL;
use consort_core::hooks::HookCall;
use expect_test::expect_file;
use serde_json::Value;

#[test]
fn every_dialect_reads_what_its_cli_tells() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/payloads");
    let mut read = String::new();
    for cli in ALL {
        let lines = std::fs::read_to_string(dir.join(format!("{}.jsonl", cli.kind()))).unwrap();
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let event = line["event"].as_str().unwrap();
            let call = cli.read(event, line["payload"].to_string().as_bytes());
            let HookCall { session, cwd, model, in_subagent, asks_first, event: said } = call.unwrap();
            assert!(session.as_str().len() > 8 && !in_subagent, "{line}");
            assert_eq!(cwd, PathBuf::from("/world/shop"), "{line}");
            let told = format!("{} {event}: {said:?}, {model:?}, asks first: {asks_first:?}\n", cli.kind());
            read.push_str(&hide_ids(&told));
        }
    }
    expect_file![dir.join("read.txt")].assert_eq(&read);
}

/// Hides the id of a tool's use, which is different in every run.
fn hide_ids(told: &str) -> String {
    match (told.find("id: \""), told.find("\", name:")) {
        (Some(from), Some(to)) if from < to => format!("{}…{}", &told[..from + 5], &told[to..]),
        _ => told.to_owned(),
    }
}
