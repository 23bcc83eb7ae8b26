//! Tests that text typed into the composers of the real CLIs is told apart from their hints.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use consort_agents::find;
use consort_agents::screen;
use consort_core::monitor::ComposerMatch;
use consort_core::monitor::PaneFacts;
use consort_core::monitor::PaneLook;
use consort_core::monitor::PaneState;
use serde_json::Value;

fn look(file: &str, title: &str) -> PaneLook {
    let (cli, _) = file.split_once('/').unwrap();
    let signature = screen::signature(find(cli).unwrap().screen()).unwrap();
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let screen = fs::read_to_string(captures.join(file)).unwrap();
    let facts = PaneFacts { title: title.into(), command: cli.into(), ..PaneFacts::default() };
    PaneLook::new(facts, screen, &signature, Duration::MAX)
}

/// Returns the file and title of each capture of an idle session.
fn idle() -> Vec<(String, String)> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let index = fs::read_to_string(captures.join("index.jsonl")).unwrap();
    let lines = index.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let idle = lines.filter(|seen| seen["label"] == "idle");
    let text = |seen: &Value, key: &str| seen[key].as_str().unwrap().to_owned();
    idle.map(|seen| (text(&seen, "file"), text(&seen, "title"))).collect()
}

#[test]
fn an_idle_composer_is_empty_but_for_drafts() {
    let mut drafts = Vec::new();
    for (file, title) in idle() {
        let look = look(&file, &title);
        let composer = look.composer.as_ref().unwrap_or_else(|| panic!("{file}: {}", look.screen));
        if !composer.is_empty() {
            drafts.push(format!("{file}: {composer:?}"));
        }
    }
    // A prompt that was interrupted before it was answered, or that was queued, is a draft again.
    expect_test::expect![[r#"
        claude/idle_typed.ansi: Composer { text: "half typed message", lines: 1, hint: "" }
        claude/interrupted.ansi: Composer { text: "please think", lines: 1, hint: "" }
        copilot/idle_typed.ansi: Composer { text: "half typed message", lines: 1, hint: "" }
        gemini/idle_typed.ansi: Composer { text: "half typed message", lines: 1, hint: "" }
        opencode/idle_typed.ansi: Composer { text: "half typed message", lines: 1, hint: "" }"#]]
    .assert_eq(&drafts.join("\n"));
}

#[test]
fn our_own_text_is_told_from_a_draft() {
    for cli in ["claude", "copilot", "gemini", "opencode"] {
        let look = look(&format!("{cli}/idle_typed.ansi"), "◇  Ready (work)");
        assert!(matches!(look.reading.state, PaneState::Ready), "{cli}: {:?}", look.reading);
        let composer = look.composer.unwrap();
        assert_eq!(composer.compare("half typed message"), ComposerMatch::Ours, "{cli}: {composer:?}");
        assert_eq!(composer.compare("half typed"), ComposerMatch::Other, "{cli}");
        assert_eq!(composer.compare("another message"), ComposerMatch::Other, "{cli}");
    }
}
