//! Tests that a model reads text by others (reasons, branches, models, names of files, tasks,
//! knowledge) only as their quoted words.

use std::fs;

use consort_testkit::HOSTILE;
use consort_testkit::Sealed;
use serde_json::json;

/// Returns all texts that a session is told, with `evil` in every place that another can fill.
fn told(evil: &str) -> Vec<(&'static str, String)> {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let as_file: String = evil.chars().filter(|c| !matches!(c, '/' | '\0')).take(60).collect();
    let file = format!("src/x{as_file}.rs");
    fs::create_dir_all(world.project().join("src")).unwrap();
    let _ = fs::write(world.project().join(&file), "");
    // Git itself would not allow such a branch, but another program may write it.
    let branch = evil.replace('\0', "");
    fs::write(world.project().join(".git/HEAD"), format!("ref: refs/heads/x{}\n", branch.replace('\n', " ")))
        .unwrap();
    let world = world.with_falcon_and_raven();
    let falcon = |arguments: &[&str]| world.run_as(Some("s1"), arguments);
    let words = branch.as_str();
    falcon(&["reserve", "src/", "--reason", words]);
    falcon(&["reserve", "--advisory", &format!("topic:{words}"), "--reason", words]);
    let batch = json!([["record-principle", { "name": format!("p{words}"), "description": words }]]);
    fs::write(world.path().join("batch.json"), batch.to_string()).unwrap();
    falcon(&["know", "apply", "../batch.json"]);
    fs::write(world.project().join("spec.md"), format!("## TASK-01: {}\n", words.replace('\n', " ")))
        .unwrap();
    falcon(&["task", "next", "--spec", "spec.md"]);
    let call = |session: &str, more: serde_json::Value| {
        let mut call =
            json!({ "session_id": session, "cwd": world.project(), "model": evil, "prompt": evil });
        call.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        call
    };
    let edit = json!({ "tool_name": "Edit", "tool_input": { "file_path": world.project().join(&file) } });
    world.hook("UserPromptSubmit", &call("s1", json!({})));
    world.hook("PreToolUse", &call("s1", json!({ "tool_name": evil, "tool_input": { "command": evil } })));
    world.hook("PostToolUse", &call("s1", edit.clone()));
    let context = |event: &str, more: serde_json::Value| {
        let ran = world.hook(event, &call("s2", more));
        let reply: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        let output = &reply["hookSpecificOutput"];
        let text = output["additionalContext"].as_str().or(output["permissionDecisionReason"].as_str());
        text.unwrap_or_default().to_owned()
    };
    vec![
        ("start", context("SessionStart", json!({}))),
        ("refusal", context("PreToolUse", edit)),
        (
            "shell",
            context("PreToolUse", json!({ "tool_name": "Bash", "tool_input": { "command": "rm -rf src" } })),
        ),
        ("prompt", context("UserPromptSubmit", json!({}))),
        ("explain", world.run_as(Some("s2"), &["explain", "src/"]).to_string()),
        ("reserve", world.run_as(Some("s2"), &["reserve", "src/"]).to_string()),
        ("claims", world.run_as(Some("s2"), &["holds", "list"]).to_string()),
    ]
}

/// Removes parts that are quoted for a shell, where a name must stay unchanged.
fn without_shell_words(text: &str) -> String {
    let mut ours = text.replace(r"'\''", "");
    for before in ["--timeout 90s '", "consort wait '", "consort holds contest '", "consort know query '"] {
        while let Some(from) = ours.find(before) {
            let Some(length) = ours[from + before.len()..].find('\'') else { break };
            ours.replace_range(from..from + before.len() + length + 1, "");
        }
    }
    ours
}

#[test]
fn what_others_write_is_quoted_wherever_a_model_reads_it() {
    let plain = told("plain");
    for evil in HOSTILE {
        for ((place, plain), (_, text)) in plain.iter().zip(told(&format!("x{evil}y"))) {
            assert!(!plain.is_empty(), "{place}");
            let shown = format!("{place} with {evil:?}: {text}");
            // Other words are other topics, about which nothing may be told.
            let lines =
                if *place == "prompt" { 0..=1 } else { plain.lines().count()..=plain.lines().count() };
            assert!(lines.contains(&text.lines().count()), "{shown}\n{plain}");
            let hides = |c: char| {
                (c.is_control() && c != '\n')
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}' | '\u{ad}')
            };
            assert!(!text.chars().any(hides), "{shown}");
            assert!(!text.contains("</system") && !text.contains("<system>"), "{shown}");
            // Outside of quotes there is no text by others.
            let ours: String = without_shell_words(&text).split('"').step_by(2).collect();
            assert!(!ours.contains("The user"), "{shown}");
            for line in
                without_shell_words(&text).lines().filter(|line| line.contains('"') && !line.contains('…'))
            {
                assert_eq!(line.matches('"').count() % 2, 0, "{shown}");
            }
        }
    }
}

#[test]
fn what_was_learned_names_its_author() {
    let text = told("plain").remove(0).1;
    assert!(text.contains("not from your user"), "{text}");
    assert!(text.contains("- principle pplain, by Falcon: \"plain\""), "{text}");
}
