//! Tests of the monitor rules by examples; whole screens are tested with the CLIs'
//! signatures.

use super::Capture;
use super::ComposerRule;
use super::PaneState;
use super::Pattern;
use super::Rule;
use super::Signature;
use super::classify;

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
    let finds = |pattern: &str, line: &str| Pattern::from(pattern).find(line).is_some();
    assert!(finds("attempt */", "Retrying in 4s · attempt 4/10"));
    assert!(finds("^❯ *. ", "❯ 1. Yes"));
    assert!(!finds("^❯ *. ", "text ❯ 1. Yes"));
    assert!(!finds("^a*b", "ab reversed".strip_prefix('a').unwrap_or_default()));
    assert_eq!(Pattern::from("resume *").find("run: codex resume 12"), Some(11));
}

fn rule(state: PaneState, screen: &str) -> Rule {
    Rule {
        name: state.as_str().into(),
        state,
        screen: vec![vec![screen.into()]],
        footer: Vec::new(),
        turn: Vec::new(),
        first: Vec::new(),
        mark: Vec::new(),
        below_bar: false,
        title: Vec::new(),
        composer: ComposerRule::Nothing,
        seconds: None,
        held: None,
        trust: None,
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
    // What is cut off in the middle of a sequence is no reason to stop.
    assert_eq!(lines("a\u{1b}[38;5"), ("a".into(), "a".into()));
}
