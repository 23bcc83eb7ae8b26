//! Tests that signatures recognise the state of captured screens of the real CLIs.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_agents::ALL;
use consort_agents::screen;
use consort_core::monitor::Capture;
use consort_core::monitor::PaneReading;
use consort_core::monitor::PaneState;
use consort_core::monitor::Signature;
use consort_core::monitor::classify;
use expect_test::expect_file;
use serde_json::Value;

fn captures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

fn signature(cli: &str) -> Signature {
    let cli = ALL.iter().find(|known| known.kind() == cli).unwrap();
    screen::signature(cli.screen()).unwrap()
}

/// Returns the label that a person who looks at the screen would give this state.
fn label(state: PaneState) -> &'static str {
    match state {
        PaneState::Ready | PaneState::Finished | PaneState::Background | PaneState::Suggestion => "idle",
        PaneState::Plan => "question",
        PaneState::Limit => "error",
        other => other.as_str(),
    }
}

#[test]
fn every_screen_is_read_as_what_it_is() {
    let mut read = String::new();
    let mut wrong = Vec::new();
    let index = fs::read_to_string(captures().join("index.jsonl")).unwrap();
    for line in index.lines() {
        let seen: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| seen[key].as_str().unwrap();
        let screen = fs::read_to_string(captures().join(text("file"))).unwrap();
        let capture = Capture::new(&screen).with_title(text("title")).with_command(text("command"));
        let reading = classify(&capture, &signature(text("cli")));
        if label(reading.state) != text("label") {
            wrong.push(format!("{} is {}, not {}", text("file"), text("label"), reading.state.as_str()));
        }
        read.push_str(&told(text("file"), &reading));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    expect_file![captures().join("read.txt")].assert_eq(&read);
}

fn told(file: &str, reading: &PaneReading) -> String {
    let PaneReading { state, rule, question, options, attempt, resume, resets, .. } = reading;
    let mut told = format!("{file}: {} ({rule})\n", state.as_str());
    told.extend(question.iter().map(|question| format!("  {question}\n")));
    for option in options {
        told.push_str(&format!("  {} {}\n", if option.is_selected { '>' } else { '-' }, option.label));
    }
    for detail in [attempt, resume, resets].into_iter().flatten() {
        told.push_str(&format!("  {detail}\n"));
    }
    told
}

/// A dialog that is only quoted in an agent's text is not taken for a dialog.
#[test]
fn what_an_agent_writes_is_no_dialog() {
    let quoted = "❯ how does it ask?\n● It shows:\n  Do you want to proceed?\n  ❯ 1. Yes\n  2. No\n  Esc to cancel · Tab to amend\n\
                  ✻ Worked for 5s · done 1:02 AM\n────\n❯\n────\n  ⏸ manual mode on · ? for shortcuts\n";
    assert_eq!(classify(&Capture::new(quoted), &signature("claude")).state, PaneState::Finished);
    let quoted = "❯ what went wrong?\n● Bash(cat log)\n  ⎿  API Error: 500\n● It failed.\n✻ Worked for 5s · done 1:02 AM\n────\n❯\n────\n  \
                  ⏸ manual mode on · ? for shortcuts\n";
    assert_eq!(classify(&Capture::new(quoted), &signature("claude")).state, PaneState::Finished);
}

#[test]
fn what_lasts_is_told_from_what_has_just_begun() {
    let screen = fs::read_to_string(captures().join("copilot/error_429_10s.ansi")).unwrap();
    let state = |seconds| {
        let capture = Capture::new(&screen).held_for(Duration::from_secs(seconds));
        classify(&capture, &signature("copilot")).state
    };
    assert_eq!((state(1), state(20)), (PaneState::Working, PaneState::Retrying));
}

#[test]
fn a_file_that_is_no_signature_says_why() {
    let error = |text: &str| screen::signature(text).unwrap_err().to_string();
    assert_eq!(error("[[rule]]\nname = \"x\"\nstate = \"odd\"\n"), "`state` of rule 1 is a state of a pane");
    assert_eq!(error("version = 1\n"), "the file has no key `version`");
    assert!(error("[[rule").contains("TOML parse error"));
}

#[test]
fn a_screen_is_read_at_once() {
    let screen = fs::read_to_string(captures().join("claude/question.ansi")).unwrap();
    let signature = signature("claude");
    let start = Instant::now();
    for _ in 0..100 {
        assert_eq!(classify(&Capture::new(&screen), &signature).state, PaneState::Question);
    }
    assert!(start.elapsed() / 100 < Duration::from_millis(20), "{:?}", start.elapsed() / 100);
}
