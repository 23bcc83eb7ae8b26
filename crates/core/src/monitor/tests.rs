//! Tests of the monitor rules by examples; whole screens are tested with the CLIs' signatures.

use std::time::Duration;

use super::Capture;
use super::ComposerCondition;
use super::PaneFacts;
use super::PaneLook;
use super::PaneState;
use super::Signature;
use super::SignatureRule;
use super::StallCertainty;
use super::StallResponse;
use super::TextPattern;
use super::TypingPurpose;
use super::TypingRefusal;
use super::Watched;
use super::classify;
use super::may_type;
use crate::Timestamp;

#[test]
fn a_signature_knows_the_versions_it_was_made_for() {
    let signature = Signature { versions: vec!["2.1".into()], ..Signature::default() };
    assert!(signature.knows("2.1.325 (Claude Code)") && signature.knows("v2.1"));
    for other in ["2.10.0", "3.0.1", "12.1.0", "", "claude"] {
        assert!(!signature.knows(other), "{other}");
    }
}

#[test]
fn a_pattern_is_seen_in_a_line() {
    let finds = |pattern: &str, line: &str| TextPattern::from(pattern).find(line).is_some();
    assert!(finds("attempt */", "Retrying in 4s · attempt 4/10"));
    assert!(finds("^❯ *. ", "❯ 1. Yes"));
    assert!(!finds("^❯ *. ", "text ❯ 1. Yes"));
    assert!(!finds("^a*b", "ab reversed".strip_prefix('a').unwrap_or_default()));
    assert_eq!(TextPattern::from("resume *").find("run: codex resume 12"), Some(11));
}

fn rule(state: PaneState, screen: &str) -> SignatureRule {
    SignatureRule {
        name: state.as_str().into(),
        state,
        screen: vec![vec![screen.into()]],
        footer: Vec::new(),
        turn: Vec::new(),
        first: Vec::new(),
        mark: Vec::new(),
        below_bar: false,
        title: Vec::new(),
        composer: ComposerCondition::Nothing,
        seconds: None,
        held: None,
        trust: None,
        words: None,
    }
}

#[test]
fn the_first_rule_counts_and_no_rule_is_unknown() {
    let rules = vec![rule(PaneState::Permission, "Allow?"), rule(PaneState::Working, "esc")];
    let signature = Signature { rules, footer_lines: 3, ..Signature::default() };
    let state = |text: &str| classify(&Capture::new(text), &signature).state;
    assert_eq!(state("esc to stop\nAllow?"), PaneState::Permission);
    assert_eq!(state("esc to stop"), PaneState::Working);
    assert_eq!(state("something else"), PaneState::Unknown);
    assert_eq!(state("\n  \n──────\n"), PaneState::Starting);
    assert_eq!(state("x\nPane is dead (status 1, today)"), PaneState::Exited);
    assert_eq!(state("x\nPane is dead (signal 9, today)"), PaneState::Dead);
    let shell = Capture::new("esc").with_command("-zsh");
    assert_eq!(classify(&shell, &signature).state, PaneState::Exited);
}

#[test]
fn escapes_are_no_text_and_dim_text_is_not_typed() {
    let lines = |text: &str| {
        let capture = Capture::new(text);
        let line = capture.lines.into_iter().next().unwrap();
        (line.text, line.bright)
    };
    assert_eq!(lines("\u{1b}[1m❯\u{1b}[0m \u{1b}[2mtry this\u{1b}[22m"), ("❯ try this".into(), "❯".into()));
    assert_eq!(
        lines("\u{1b}]0;title\u{7}│ \u{1b}[38;5;8mgrey\u{1b}[39m on │"),
        ("grey on".into(), "on".into())
    );
    assert_eq!(lines("\u{1b}[38;2;2;90;8mnot grey"), ("not grey".into(), "not grey".into()));
    // A sequence that is cut off in the middle is dropped.
    assert_eq!(lines("a\u{1b}[38;5"), ("a".into(), "a".into()));
}

#[test]
fn the_screens_of_other_versions_are_unknown_and_nothing_is_typed_there() {
    let known = Signature {
        rules: vec![rule(PaneState::Ready, "? for shortcuts")],
        footer_lines: 3,
        ..Signature::default()
    };
    let unknown = Signature { unknown_version: Some("9.9.9".into()), ..known.clone() };
    let capture = Capture::new("❯\n? for shortcuts\n");
    assert_eq!(classify(&capture, &known).state, PaneState::Ready);
    let reading = classify(&capture, &unknown);
    assert_eq!(reading.state, PaneState::Unknown);
    assert_eq!(reading.rule, "the screens of version 9.9.9 are not known");
    let look = PaneLook::new(PaneFacts::default(), "❯\n? for shortcuts\n".into(), &unknown, Duration::MAX);
    assert_eq!(may_type(&look, Timestamp(0), true, TypingPurpose::Prompt), Err(TypingRefusal::NotUnderstood));
    assert_eq!(
        classify(&capture.with_command("bash"), &unknown).state,
        PaneState::Exited,
        "that is no screen"
    );
}

/// Follows an agent with a motionless screen second by second, and lists the steps taken about its stall.
#[test]
fn a_stall_is_followed_step_by_step() {
    let signature =
        Signature { rules: vec![rule(PaneState::Working, "esc to interrupt")], ..Signature::default() };
    let look = |screen: &str| PaneLook::new(PaneFacts::default(), screen.into(), &signature, Duration::MAX);
    let mut watched = Watched::new(&look("✻ Baking… (1s)\nesc to interrupt\n"), None, Timestamp(0));
    let mut steps = Vec::new();
    for second in 1..=300 {
        let now = Timestamp(second * Timestamp::SECOND);
        // Only the spinner and the counter move, and the typed text appears.
        let typed = if second > 181 { "❯ go on\n" } else { "" };
        watched.observe(&look(&format!("{typed}✽ Baking… ({second}s)\nesc to interrupt\n")), None, now);
        if watched.seems_stalled("", now) {
            match watched.triage("", false, now) {
                StallResponse::Act => {
                    watched.note_typing(now);
                    steps.push((second, "act"));
                }
                StallResponse::Escalate => steps.push((second, "escalate")),
                StallResponse::Watch | StallResponse::Wait => {}
            }
        }
    }
    // The kind of work is reading, so U is a minute: a stall after three minutes, then three acts 15 seconds apart.
    assert_eq!(steps, [(180, "act"), (195, "act"), (210, "act"), (225, "escalate")]);
    // New output ends the stall.
    let now = Timestamp(301 * Timestamp::SECOND);
    watched.observe(&look("● Read(src/lib.rs)\nesc to interrupt\n"), None, now);
    assert_eq!(
        (watched.stall, watched.stall_action_count(), watched.seems_stalled("", now)),
        (StallCertainty::No, 0, false)
    );
    // A tool that uses CPU time proves that the agent lives, even if the screen does not move.
    let later = Timestamp(2_000 * Timestamp::SECOND);
    assert!(watched.seems_stalled("", later));
    assert_eq!(watched.triage("", true, later), StallResponse::Watch);
    assert!(!watched.seems_stalled("", later));
}
