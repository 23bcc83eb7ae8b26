//! Permissions of the real CLIs, answered from elsewhere, by a rule, and in their terminals.

use std::time::Duration;
use std::time::Instant;

use serde_json::Value;

use crate::panes_stage::IDLE;
use crate::panes_stage::Stage;

const SIZE: (&str, &str) = ("120", "40");

fn waiting(stage: &Stage) -> Vec<Value> {
    let ran = stage.world.run(&["waiting", "--json"]);
    let listed: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    listed["items"].as_array().unwrap().clone()
}

/// The permission that is listed, once it is.
fn permission(stage: &Stage, is_it: impl Fn(&Value) -> bool) -> Value {
    let since = Instant::now();
    loop {
        let found = waiting(stage).into_iter().find(|item| item["why"] == "permission" && is_it(item));
        if let Some(item) = found {
            return item;
        }
        let screen = stage.screen();
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}\n{screen}", waiting(stage));
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn answer(stage: &Stage, item: &Value, words: &[&str]) {
    let number = item["number"].to_string();
    let ran = stage.world.run(&[&["answer", &number], words].concat());
    assert_eq!(ran.code, 0, "{ran}\n{}", stage.screen());
}

/// Whether the tool was used.
fn is_made(stage: &Stage) -> bool {
    stage.world.project().join("made.txt").exists()
}

fn until_made(stage: &Stage) {
    let since = Instant::now();
    while !is_made(stage) {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", stage.screen());
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn asks(stage: &Stage) {
    stage.say("please make it", [stage.permission_step()]);
}

/// A dialog that stays usable is answered by the hook: allowed, refused with a reason that the
/// model reads, and first in its own terminal.
fn held(cli: &'static str, yes: &[&str]) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    asks(&stage);
    let item = permission(&stage, |item| item["tool"] == "Bash");
    assert_eq!(item["question"], "touch made.txt");
    answer(&stage, &item, &["deny", "use the other one"]);
    let since = Instant::now();
    while !stage.model.turns().iter().any(|turn| turn.to_string().contains("use the other one")) {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", stage.screen());
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(!is_made(&stage));
    stage.is("refused", IDLE);
    // In its own terminal, while the hook is open.
    asks(&stage);
    permission(&stage, |item| item["tool"] == "Bash");
    stage.is("asked", &["permission"]);
    yes.iter().for_each(|key| stage.press(&[key]));
    until_made(&stage);
    let since = Instant::now();
    while !waiting(&stage).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", waiting(&stage));
    }
    std::fs::remove_file(stage.world.project().join("made.txt")).unwrap();
    stage.is("done", IDLE);
    asks(&stage);
    let item = permission(&stage, |item| item["tool"] == "Bash");
    answer(&stage, &item, &["allow"]);
    until_made(&stage);
}

#[test]
fn claude() {
    held("claude", &["Enter"]);
}

#[test]
fn opencode() {
    held("opencode", &["Enter"]);
}

/// A rule decides before a dialog is shown, in those too that would hide theirs.
fn by_rule(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    let ran = stage.world.run(&["policy", "add", "allow", "Bash", "touch*"]);
    assert_eq!(ran.code, 0, "{ran}");
    asks(&stage);
    until_made(&stage);
    let tail = stage.world.run(&["journal", "tail"]).stdout;
    assert!(tail.contains("allowed by rule #1"), "{tail}");
}

#[test]
fn codex_by_rule() {
    by_rule("codex");
}

#[test]
fn copilot_by_rule() {
    by_rule("copilot");
}

#[test]
fn claude_by_rule() {
    by_rule("claude");
}

/// By the keys of its own menu.
fn by_keys(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    asks(&stage);
    let item = permission(&stage, |_| true);
    answer(&stage, &item, &["deny", "use the other one"]);
    assert!(!is_made(&stage));
    stage.rest();
    asks(&stage);
    let item = permission(&stage, |_| true);
    answer(&stage, &item, &["allow"]);
    until_made(&stage);
}

#[test]
fn gemini() {
    by_keys("gemini");
}

#[test]
fn codex() {
    by_keys("codex");
}

#[test]
fn copilot() {
    by_keys("copilot");
}
