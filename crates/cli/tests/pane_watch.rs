//! Tests of the watcher: changes of panes are printed, recorded and seen by all, and another process
//! takes over the role of the watcher.

use std::io::BufRead as _;
use std::io::BufReader;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use consort_testkit::PaneWorld;
use consort_testkit::rounds;
use consort_testkit::until;
use serde_json::Value;

/// A running `consort pane watch --json`; it ends when dropped.
struct Watch {
    child: Child,
    lines: Receiver<Value>,
}

impl Watch {
    fn start(world: &PaneWorld) -> Self {
        Self::with(world, &[])
    }

    /// Starts a watcher with these options before the command.
    fn with(world: &PaneWorld, options: &[&str]) -> Self {
        let mut command = world.command(&[options, &["pane", "watch", "--json"]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, lines }
    }

    /// Waits until the watcher prints a change to this state.
    fn tells(&self, state: &str) -> Value {
        loop {
            let told = self
                .lines
                .recv_timeout(Duration::from_secs(100))
                .unwrap_or_else(|_| panic!("never: {state}"));
            if told["transition"]["to"] == state {
                return told["transition"].clone();
            }
        }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.kill();
    }
}

fn status(world: &PaneWorld) -> Value {
    let who: Value = serde_json::from_str(&world.run(&["who", "--json"]).stdout).unwrap();
    who["items"][0].clone()
}

#[test]
fn what_becomes_of_a_pane_is_told_noted_and_seen() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HOOKS", "1")]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    let watch = Watch::start(&world);
    watch.tells("ready");
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    let submit = |text: &str| {
        world.tmux(&["send-keys", "-t", &pane, "-l", text]);
        world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    };
    submit("please ask for permission");
    let told = watch.tells("permission");
    assert_eq!(told["question"], "Do you want to proceed?", "{told}");
    assert!(told["session"].is_string() && told["machine"].is_string(), "{told}");
    let seen = until("its status", || status(&world), |seen| seen["pane"]["state"] == "permission");
    assert_eq!((&seen["status"], &seen["name"]), (&"waiting".into(), &"Falcon".into()), "{seen}");

    let explained = world.run(&["pane", "explain", "Falcon"]).stdout;
    for told in [
        "permission, by the rule \"permission\"",
        "  > Yes\n",
        "Its hooks say: waiting",
        "Watched: permission since",
        "  before: ready",
    ] {
        assert!(explained.contains(told), "{told} in {explained}");
    }
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    watch.tells("working");
    watch.tells("finished");
    submit("limit");
    assert_eq!(watch.tells("limit")["name"], "Falcon");
    submit("crash");
    watch.tells("dead");
    let journal = world.run(&["journal", "tail"]).stdout;
    let noted: Vec<&str> = journal.lines().filter_map(|line| line.split("Falcon is ").nth(1)).collect();
    assert_eq!(
        noted,
        ["waiting: Do you want to proceed?", "working", "finished", "limit: 7pm (UTC)", "dead"],
        "{journal}"
    );
}

/// The screen overrides hooks for an interrupt, which has no hook.
#[test]
fn an_interrupted_turn_is_seen() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HOOKS", "1"), ("FAKE_HANG", "1")]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon", "--prompt", "think"]).code, 0);
    let watch = Watch::start(&world);
    watch.tells("working");
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    world.tmux(&["send-keys", "-t", &pane, "Escape"]);
    watch.tells("ready");
    until("idleness", || status(&world), |seen| seen["status"] != "working");
}

#[test]
fn the_role_moves_on_when_its_holder_is_killed() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_WORK", "0.2")]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    let mut watches: Vec<Watch> = (0..2).map(|_| Watch::start(&world)).collect();
    let holder = || -> Option<u32> {
        let text = std::fs::read_to_string(world.data().join("watcher.lock")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    for round in 0..rounds(5, 100) {
        let live = |watches: &[Watch]| watches.iter().map(|watch| watch.child.id()).collect::<Vec<_>>();
        let ids = live(&watches);
        let held = until("a holder", holder, |held| held.is_some_and(|held| ids.contains(&held))).unwrap();
        let at = watches.iter().position(|watch| watch.child.id() == held).unwrap();
        watches.remove(at).kill();
        // The next watcher records a state that lasts.
        let (text, state) = [("limit", "limit"), ("error", "error")][round % 2];
        world.tmux(&["send-keys", "-t", &pane, "-l", text]);
        world.tmux(&["send-keys", "-t", &pane, "Enter"]);
        watches.push(Watch::start(&world));
        watches[0].tells(state);
    }
    let journal = world.run(&["journal", "tail", "-n", "500"]).stdout;
    let noted =
        journal.lines().filter(|line| line.contains("Falcon is limit") || line.contains("Falcon is error"));
    assert_eq!(noted.count(), rounds(5, 100), "{journal}");
}

/// An `open` that waits for its agent to start watches the other agents meanwhile.
#[test]
fn who_waits_for_an_agent_to_start_watches() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_BLANK", "8")]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    let mut open = world.command(&["open", "claude", "--name", "Raven"]);
    let mut open = open.stdout(Stdio::null()).spawn().unwrap();
    until("the second pane", || world.panes().len(), |panes| *panes == 2);
    world.tmux(&["send-keys", "-t", &pane, "-l", "limit"]);
    world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    assert!(open.wait().unwrap().success());
    let journal = world.run(&["journal", "tail"]).stdout;
    assert!(journal.contains("Falcon is limit"), "{journal}");
}

/// Reads everything that was kept for reviewers.
fn kept(world: &PaneWorld) -> String {
    let dir = std::fs::read_dir(world.data().join("kept")).into_iter().flatten().flatten();
    dir.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect()
}

/// Makes a world with a committed file, and a CLI that works for a while.
fn with_commit() -> PaneWorld {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_WORK", "2"), ("FAKE_HOOKS", "1")]);
    std::fs::write(world.project().join("a.txt"), "one\n").unwrap();
    std::fs::write(world.project().join("spec.md"), "- [ ] T1: first\n").unwrap();
    world.world.git(&["add", "."]);
    world.world.git(&["commit", "-q", "-m", "a"]);
    world
}

/// The material for a reviewer is kept once an agent has finished, if a review was asked for.
#[test]
fn what_is_to_be_reviewed_is_kept() {
    let world = with_commit();
    let opened = world.run(&["open", "claude", "--name", "Falcon", "--review", "--prompt", "say two"]);
    assert_eq!(opened.code, 0, "{opened}");
    std::fs::write(world.project().join("a.txt"), "two\n").unwrap();
    let watch = Watch::start(&world);
    watch.tells("finished");
    let material = until("the material", || kept(&world), |kept| kept.contains("+two"));
    assert!(material.contains("say two") && material.contains("-one"), "{material}");
    // A reviewer that only reads is started.
    let runs = || -> serde_json::Value {
        serde_json::from_str(&world.run(&["runs", "list", "--json"]).stdout).unwrap()
    };
    let runs = until("the reviewer", runs, |runs| !runs["items"][0].is_null());
    let review = &runs["items"][0];
    assert_eq!((&review["role"], &review["safety"]), (&"reviewer".into(), &"suggest".into()), "{review}");
    assert!(review["reviews"]["session"].is_string() && review["by"] == "consort", "{review}");
    world.run(&["runs", "stop", "--all", "--now"]);
}

/// With `monitor.review = tasks`, agents that have a task are reviewed, and only those.
#[test]
fn an_agent_with_a_task_is_reviewed_where_tasks_are() {
    let world = with_commit();
    let watch = Watch::with(&world, &["--set", "monitor.review=tasks"]);
    assert_eq!(world.run(&["open", "claude", "--name", "Raven", "--prompt", "say two"]).code, 0);
    std::fs::write(world.project().join("a.txt"), "two\n").unwrap();
    assert_eq!(watch.tells("finished")["name"], "Raven");
    let claim = format!("run {} task claim T1 --spec spec.md", env!("CARGO_BIN_EXE_consort"));
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon", "--prompt", &claim]).code, 0);
    let listed = world.run(&["task", "list", "--spec", "spec.md"]).stdout;
    assert!(listed.contains("Falcon"), "{listed}");
    assert_eq!(watch.tells("finished")["name"], "Falcon");
    let material = until("the material", || kept(&world), |kept| kept.contains("+two"));
    assert!(material.contains("task claim T1") && !material.contains("Raven"), "{material}");
}
