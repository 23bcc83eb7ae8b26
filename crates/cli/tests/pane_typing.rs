//! Tests of mail that is typed into panes, if the person allows it: each line is typed once, or the
//! sender is told that it was not.

use std::process::Child;
use std::process::Stdio;

use consort_testkit::PaneWorld;
use consort_testkit::Ran;
use consort_testkit::until;

const ALLOWED: &str = "messages.type_into_panes=true";

/// Opens Falcon in a pane, prompted once and idle.
fn with_falcon(ways: &[(&str, &str)]) -> (PaneWorld, String) {
    falcon(ways, "finished")
}

/// Opens Falcon in a pane, prompted once, and waits for the state `rest`.
fn falcon(ways: &[(&str, &str)], rest: &str) -> (PaneWorld, String) {
    let ways = [&[("FAKE_HOOKS", "1"), ("FAKE_WORK", "0.3")], ways].concat();
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &ways);
    let opened = world.run(&["open", "claude", "--name", "Falcon", "--prompt", "begin"]);
    assert_eq!(opened.code, 0, "{opened}");
    let panes = until("rest", || world.panes(), |panes| panes[0]["state"] == rest);
    assert!(panes[0]["session"].is_string(), "{panes:?}");
    let pane = panes[0]["pane"].as_str().unwrap().to_owned();
    (world, pane)
}

fn send(world: &PaneWorld, text: &str) -> Ran {
    world.run(&["--set", ALLOWED, "send", "Falcon", "-t", "question", text])
}

fn submitted(world: &PaneWorld) -> Vec<String> {
    let noted = world.cli.submitted_texts();
    noted.into_iter().filter(|line| line.starts_with("submitted: [consort]")).collect()
}

fn heard(world: &PaneWorld, text: &str) -> usize {
    world
        .cli
        .submitted_texts()
        .iter()
        .filter(|line| line.starts_with("heard:") && line.contains(text))
        .count()
}

/// A running `consort pane watch`; it ends when dropped.
struct Watch(Child);

impl Watch {
    fn start(world: &PaneWorld) -> Self {
        let mut command = world.command(&["--set", ALLOWED, "pane", "watch"]);
        Self(command.stdout(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_idle_agent_is_woken_by_a_line_and_hears_the_message_once() {
    let (world, _) = with_falcon(&[]);
    let silent = world.run(&["send", "Falcon", "-t", "question", "early"]);
    assert!(
        silent.stdout.contains("sees it with its next prompt") || silent.stderr.contains("next prompt"),
        "{silent}"
    );
    assert_eq!(submitted(&world).len(), 0, "it is off unless the person allows it");
    let sent = send(&world, "do you call login()?");
    assert!(sent.to_string().contains("Falcon is idle, was typed to, and has it."), "{sent}");
    assert_eq!(submitted(&world).len(), 1, "{:?}", world.cli.submitted_texts());
    assert_eq!(
        (heard(&world, "> early"), heard(&world, "> do you call login()?")),
        (1, 1),
        "{:?}",
        world.cli.submitted_texts()
    );
}

#[test]
fn a_draft_is_left_alone_and_the_sender_is_told() {
    let (world, pane) = with_falcon(&[]);
    world.tmux(&["send-keys", "-t", &pane, "-l", "my draft"]);
    let sent = send(&world, "hello");
    assert!(sent.to_string().contains("has a draft in its composer"), "{sent}");
    assert_eq!(submitted(&world).len(), 0);
    let screen = world.run(&["pane", "screen", "Falcon"]).stdout;
    assert!(screen.contains("❯ my draft\n"), "{screen}");
}

#[test]
fn an_enter_that_is_ignored_is_pressed_again() {
    let (world, pane) = with_falcon(&[]);
    // After this prompt the fake CLI ignores two Enters.
    world.tmux(&["send-keys", "-t", &pane, "-l", "deaf"]);
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    until("its prompt to be worked on", || world.cli.count_rests(), |rests| *rests == 2);
    until("rest", || world.panes(), |panes| panes[0]["state"] == "finished");
    let sent = send(&world, "hello");
    assert!(sent.to_string().contains("and has it."), "{sent}\n{:?}", world.cli.submitted_texts());
    assert_eq!(
        (submitted(&world).len(), heard(&world, "> hello")),
        (1, 1),
        "{:?}",
        world.cli.submitted_texts()
    );
}

/// Nothing is typed while a dialog is open; the watcher types it afterwards.
#[test]
fn what_waits_is_flushed_after_a_dialog() {
    let (world, pane) = with_falcon(&[]);
    let _watch = Watch::start(&world);
    world.tmux(&["send-keys", "-t", &pane, "-l", "ask for permission"]);
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    until("a dialog", || world.panes(), |panes| panes[0]["state"] == "permission");
    assert_eq!(send(&world, "hello").code, 0);
    // The watcher has looked for longer than mail usually waits.
    let looked_at = || -> i64 {
        let text = std::fs::read_to_string(world.data().join("watcher.lock")).unwrap();
        text.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let since = looked_at();
    until("seven seconds of looks", looked_at, |at| *at >= since + 7_000);
    assert_eq!((submitted(&world).len(), &world.panes()[0]["state"]), (0, &"permission".into()));
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    until("its mail", || heard(&world, "> hello"), |heard| *heard == 1);
    assert!(submitted(&world).len() <= 1, "{:?}", world.cli.submitted_texts());
    assert!(world.cli.submitted_texts().contains(&"answered: Yes".to_owned()));
}

/// The screens of an unknown version are not interpreted.
#[test]
fn nothing_is_typed_to_a_version_that_is_not_known() {
    // Only the hooks of this version are understood.
    let (world, _) = falcon(&[("FAKE_VERSION", "9.9.9 (Claude Code)")], "ready");
    let explained = world.run(&["pane", "explain", "Falcon"]).stdout;
    assert!(explained.contains("the screens of version 9.9.9 (Claude Code) are not known"), "{explained}");
    let sent = send(&world, "hello");
    assert!(sent.to_string().contains("shows a screen that is not understood"), "{sent}");
    assert_eq!(submitted(&world).len(), 0);
}
