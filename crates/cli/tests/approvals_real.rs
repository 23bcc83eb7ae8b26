//! Tests of the real CLIs' permissions, answered from elsewhere, by a rule, and in their terminals.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
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

/// Waits until a matching permission is listed, and returns it.
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

/// Answers with a `tmux` that logs the keys sent to panes; returns the outcome and the keys.
fn answer_noted(stage: &Stage, item: &Value, words: &[&str]) -> (consort_testkit::Ran, String) {
    let directory = stage.world.world.path().join("noting");
    let keys = directory.join("keys");
    std::fs::create_dir_all(&directory).unwrap();
    let tmux = directory.join("tmux");
    let real = String::from_utf8(Command::new("which").arg("tmux").output().unwrap().stdout).unwrap();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *send-keys*|*paste-buffer*) echo \"$*\" >> {};; esac\nexec {} \"$@\"\n",
        keys.display(),
        real.trim(),
    );
    std::fs::write(&tmux, script).unwrap();
    std::fs::set_permissions(&tmux, std::fs::Permissions::from_mode(0o755)).unwrap();
    let number = item["number"].to_string();
    let mut command = stage.world.command(&[&["answer", &number], words].concat());
    let path = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    let path =
        path.map_or_else(|| std::env::var("PATH").unwrap(), |path| path.to_string_lossy().into_owned());
    let ran = stage.world.world.ran(command.env("PATH", format!("{}:{path}", directory.display())));
    (ran, std::fs::read_to_string(&keys).unwrap_or_default())
}

fn answer(stage: &Stage, item: &Value, words: &[&str]) {
    let number = item["number"].to_string();
    let ran = stage.world.run(&[&["answer", &number], words].concat());
    assert_eq!(ran.code, 0, "{ran}\n{}", stage.screen());
}

/// Tells whether the tool has made its file.
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

/// Waits until the model has been sent `text`.
fn until_read(stage: &Stage, text: &str) {
    let since = Instant::now();
    while !stage.model.turn_requests().iter().any(|turn| turn.to_string().contains(text)) {
        assert!(since.elapsed() < Duration::from_secs(60), "{text}\n{}", stage.screen());
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn asks(stage: &Stage) {
    stage.say("please make it", [stage.permission_step()]);
}

/// Checks a CLI whose dialog stays usable: the hook allows, or refuses with a reason that the
/// model reads; or the person answers first in the terminal.
fn held(cli: &'static str, yes: &[&str]) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    asks(&stage);
    let item = permission(&stage, |item| item["tool"] == "Bash");
    assert_eq!(item["question"], "touch made.txt");
    answer(&stage, &item, &["deny", "use the other one"]);
    until_read(&stage, "use the other one");
    assert!(!is_made(&stage));
    stage.is("refused", IDLE);
    // The person answers in the terminal while the hook waits.
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

/// Checks that a rule decides before a dialog is shown, also in CLIs that would hide their dialog.
fn by_rule(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    let ran = stage.world.run(&["policy", "add", "allow", "Bash", "touch*"]);
    assert_eq!(ran.code, 0, "{ran}");
    asks(&stage);
    until_made(&stage);
    let tail = stage.world.run(&["journal", "tail"]).stdout;
    assert!(tail.contains("Falcon is allowed to, by rule #1"), "{tail}");
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
fn opencode_by_rule() {
    by_rule("opencode");
}

#[test]
fn claude_by_rule() {
    by_rule("claude");
}

/// Checks a CLI that is answered by the keys of its own menu.
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
    // The reason, for which the menu has no place, has come as a message.
    until_read(&stage, "use the other one");
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

/// Checks answers from the terminal that come first, and in the very same moment.
fn raced(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    asks(&stage);
    let item = permission(&stage, |_| true);
    stage.is("asked", &["permission"]);
    stage.press(&["Enter"]);
    until_made(&stage);
    stage.is("done", IDLE);
    let (ran, keys) = answer_noted(&stage, &item, &["deny"]);
    assert_eq!((ran.code, keys.as_str()), (1, ""), "{ran}");
    assert!(ran.stderr.contains("already answered"), "{ran}");

    std::fs::remove_file(stage.world.project().join("made.txt")).unwrap();
    asks(&stage);
    let item = permission(&stage, |_| true);
    stage.is("asked again", &["permission"]);
    let ran = std::thread::scope(|scope| {
        let answered = scope.spawn(|| answer_noted(&stage, &item, &["deny"]).0);
        stage.press(&["Enter"]);
        answered.join().unwrap()
    });
    stage.rest();
    match ran.code {
        0 => assert!(!is_made(&stage), "{ran}"),
        // Whatever was chosen is what the cursor was on when Enter came.
        _ => assert!(ran.stderr.contains("already answered"), "{ran}"),
    }
    assert_eq!(waiting(&stage), Vec::<Value>::new());
}

#[test]
fn codex_raced() {
    raced("codex");
}

#[test]
fn gemini_raced() {
    raced("gemini");
}

#[test]
fn copilot_raced() {
    raced("copilot");
}

/// Finds the process of the hook that holds a question, by its command line and its world.
fn holding_hook(stage: &Stage) -> Option<u32> {
    let world = stage.world.world.path().to_string_lossy().into_owned();
    let text = |pid: u32, file: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.find(|pid| {
        let line = text(*pid, "cmdline");
        let is_hook = [" PermissionRequest", " asks"].iter().any(|event| line.contains(event));
        line.starts_with(&*stage.world.world.program().to_string_lossy())
            && line.contains(&format!(" hook {}", stage.cli))
            && is_hook
            && text(*pid, "environ").contains(&world)
    })
}

/// Checks that after our hook dies while it holds a question, the dialog still works.
fn killed(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    asks(&stage);
    let item = permission(&stage, |item| item["tool"] == "Bash");
    let pid = holding_hook(&stage).unwrap();
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    // The question is still listed, from the screen.
    let shown = permission(&stage, |item| item["tool"].is_null());
    assert_ne!(shown["number"], item["number"]);
    stage.is("still asked", &["permission"]);
    let ran = stage.world.run(&["answer", &item["number"].to_string(), "allow"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!is_made(&stage));
    stage.press(&["Enter"]);
    until_made(&stage);
    stage.is("done", IDLE);
    // The next question is held as usual.
    std::fs::remove_file(stage.world.project().join("made.txt")).unwrap();
    asks(&stage);
    let item = permission(&stage, |item| item["tool"] == "Bash");
    answer(&stage, &item, &["allow"]);
    until_made(&stage);
}

#[test]
fn claude_killed() {
    killed("claude");
}

#[test]
fn opencode_killed() {
    killed("opencode");
}

/// Checks that a rule that refuses asks nothing, and that the model reads why.
fn refused(cli: &'static str) {
    let stage = Stage::open(cli, SIZE);
    stage.is("ready", IDLE);
    let ran = stage.world.run(&["policy", "add", "deny", "Bash", "touch*"]);
    assert_eq!(ran.code, 0, "{ran}");
    asks(&stage);
    until_read(&stage, "Refused by your user's rule #1: Bash `touch*` is not to be used.");
    stage.is("done", IDLE);
    assert!(!is_made(&stage));
    let tail = stage.world.run(&["journal", "tail"]).stdout;
    assert!(tail.contains("Falcon is refused, by rule #1"), "{tail}");
}

#[test]
fn codex_refused() {
    refused("codex");
}

#[test]
fn gemini_refused() {
    refused("gemini");
}

#[test]
fn copilot_refused() {
    refused("copilot");
}
