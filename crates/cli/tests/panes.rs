//! Tests of agents in panes, with a fake CLI: opened, listed, shown and closed.

use std::io::BufRead as _;
use std::io::BufReader;

use consort_testkit::PaneWorld;
use consort_testkit::Tmux;
use consort_testkit::until;
use serde_json::Value;

#[test]
fn an_agent_is_opened_and_seen_and_closed() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let opened = world.run(&["open", "claude", "--name", "Falcon"]);
    assert_eq!(opened.code, 0, "{opened}");
    assert!(opened.stdout.starts_with("Falcon (pane 1) is ready in $WORLD/shop"), "{opened}");

    let panes = world.panes();
    assert_eq!(panes.len(), 1, "{panes:?}");
    let pane = &panes[0];
    assert_eq!(
        (&pane["name"], &pane["state"], &pane["number"]),
        (&"Falcon".into(), &"ready".into(), &1.into())
    );
    assert_eq!(pane["opened_by"], "person");
    let screen = world.run(&["pane", "screen", "falcon", "-n", "5"]);
    assert!(screen.stdout.contains("? for shortcuts") && screen.stdout.lines().count() <= 5, "{screen}");

    let closed = world.run(&["pane", "close", "Falcon"]);
    assert_eq!(closed.code, 0, "{closed}");
    assert!(closed.stdout.starts_with("Closed: Falcon\n"), "{closed}");
    assert!(closed.stdout.contains("Resume it: claude --resume 0b1c2d3e"), "{closed}");
    assert!(world.panes().is_empty());
    let journal = world.run(&["journal", "tail"]).stdout;
    for told in ["Falcon (claude) opened in pane #1", "the pane of Falcon is closed"] {
        assert!(journal.contains(told), "{journal}");
    }
    let again = world.run(&["pane", "close", "Falcon"]);
    assert_eq!(again.code, 1, "{again}");
}

/// Closing an agent shows its work, committed or not.
#[test]
fn what_was_done_is_told_at_its_end() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let write = |text: &str| std::fs::write(world.project().join("a.txt"), text).unwrap();
    let commit = || {
        world.world.git(&["add", "."]);
        world.world.git(&["commit", "-q", "-m", "a"]);
    };
    write("one\n");
    commit();
    assert_eq!(world.run(&["open", "2", "claude", "--name", "Falcon"]).code, 0);
    write("two\nthree\n");
    commit();
    std::fs::write(world.project().join("new.txt"), "four\n").unwrap();
    let closed = world.run(&["pane", "close", "Falcon"]);
    assert!(closed.stdout.contains("Not committed there: new.txt (new)\n"), "{closed}");
    assert!(
        closed.stdout.contains("Changed there since it was opened, by anyone: +3 -1 lines (git -C "),
        "{closed}"
    );
    let closed = world.run(&["pane", "close", "Falcon2", "--json"]);
    let closed: serde_json::Value = serde_json::from_str(&closed.stdout).unwrap();
    let diff = closed["items"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("-one") && diff.contains("+two") && diff.contains("+four"), "{diff}");
}

#[test]
fn a_prompt_is_seen_to_arrive_and_its_environment_is_its_own() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_WORK", "3"), ("SECRET_KEY", "kept")]);
    let prompt = "fix the tests\nand the docs; $(rm -rf /) 'quoted'";
    let opened = world.run(&["open", "claude", "--name", "Falcon", "--prompt", prompt, "--json"]);
    let json: Value = serde_json::from_str(&opened.stdout).unwrap();
    assert_eq!((opened.code, &json["pane"]["started"]), (0, &"prompted".into()), "{opened}");
    assert_eq!(world.cli.submitted_texts(), [format!("submitted: {}", prompt.replace('\n', "\\n"))]);
    until("the end of its work", || world.panes(), |panes| panes[0]["state"] == "finished");
    // The prompt was handed over in a file, which is removed.
    assert_eq!(std::fs::read_dir(world.data().join("launch")).unwrap().count(), 0);
    let environment = world.environment_of_pane(&world.panes()[0]);
    assert!(
        environment.contains("SECRET_KEY=kept") && environment.contains("CONSORT_NAME=Falcon"),
        "{environment}"
    );
}

/// The variables by which an agent CLI tells its children their session are removed for an opened
/// agent, which is another session.
#[test]
fn markers_of_the_openers_own_session_are_stripped() {
    let world = PaneWorld::new(
        env!("CARGO_BIN_EXE_consort"),
        &[("CLAUDE_CODE_MESSAGING_SOCKET", "/s"), ("CLAUDE_PID", "77"), ("AGENT", "1")],
    );
    assert_eq!(world.run(&["open", "claude"]).code, 0);
    let environment = world.environment_of_pane(&world.panes()[0]);
    for marker in ["CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_PID", "AGENT="] {
        assert!(!environment.contains(marker), "{marker} in {environment}");
    }
}

#[test]
fn a_trust_dialog_is_shown_and_answered_only_by_who_says_so() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_TRUST", "1")]);
    let asked = world.run(&["open", "claude", "--name", "Falcon", "--prompt", "do it"]);
    assert_eq!(asked.code, 1, "{asked}");
    assert!(asked.stdout.contains("Falcon (pane 1) waits for you: Quick safety check"), "{asked}");
    assert_eq!(world.cli.submitted_texts(), [""; 0], "nobody pressed Enter");
    assert!(world.run(&["journal", "tail"]).stdout.contains("Falcon is waiting: Quick safety check"));

    let trusted = world.run(&["open", "claude", "--name", "Raven", "--trust", "--prompt", "do it"]);
    assert_eq!(trusted.code, 0, "{trusted}");
    assert_eq!(world.cli.submitted_texts(), ["answered: Yes, I trust this folder", "submitted: do it"]);
}

#[test]
fn one_that_ends_is_reported_with_its_last_lines() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let ended = world.run(&["open", "claude", "--name", "Falcon", "--prompt", "crash"]);
    assert!(ended.stdout.contains("Falcon (pane 1) has ended"), "{ended}");
    let pane = world.panes().remove(0);
    assert_eq!((ended.code, &pane["state"]), (1, &"dead".into()), "{pane}");
    assert!(world.run(&["journal", "tail"]).stdout.contains("Falcon is dead"));
    std::fs::write(world.project().join("half.txt"), "half done").unwrap();
    let closed = world.run(&["pane", "close", "--all"]);
    assert!(closed.stdout.contains("Closed: Falcon"), "{closed}");
    assert!(closed.stdout.contains("Not committed there: half.txt"), "{closed}");
}

#[test]
fn several_are_opened_at_once_each_in_a_worktree_of_its_own() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let opened = world.run(&["open", "2", "claude", "--name", "Heron", "--worktree"]);
    assert_eq!(opened.code, 0, "{opened}");
    let places: Vec<Value> = world.panes().iter().map(|pane| pane["cwd"].clone()).collect();
    let names: Vec<String> =
        places.iter().map(|place| place.as_str().unwrap().rsplit('/').next().unwrap().into()).collect();
    assert_eq!(names, ["shop-heron", "shop-heron2"]);
    let wrong = world.run(&["open", "0", "claude"]);
    assert_eq!(wrong.code, 2, "{wrong}");
    assert_eq!(world.run(&["open", "emacs"]).code, 2);
    assert_eq!(world.run(&["open", "codex"]).code, 1, "it is not on PATH");
}

#[test]
fn what_looks_like_a_secret_is_not_shown() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let key = format!("AKIA{}", "A1B2C3D4E5F6G7H8");
    assert_eq!(
        world.run(&["open", "claude", "--name", "Falcon", "--prompt", &format!("use {key} now")]).code,
        0
    );
    let screen = world.run(&["pane", "screen", "Falcon"]);
    assert!(screen.stdout.contains("use [redacted] now") && !screen.stdout.contains(&key), "{screen}");
}

#[test]
fn a_screen_is_followed_until_it_is_gone() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    let mut follow = world.command(&["pane", "screen", "Falcon", "--follow", "--json"]);
    let mut follow = follow.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follow.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next()?.unwrap()).ok();
    let first = next().unwrap();
    assert_eq!((&first["screen"]["name"], &first["screen"]["cli"]), (&"Falcon".into(), &"claude".into()));
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    world.tmux(&["send-keys", "-t", &pane, "-l", "half a thought"]);
    let shows = |shown: &Value| shown.to_string().contains("❯ half a thought");
    while !shows(&next().expect("what was typed")) {}
    assert_eq!(world.run(&["pane", "close", "Falcon"]).code, 0);
    while next().is_some() {}
    assert!(follow.wait().unwrap().success());
}

#[test]
fn a_window_of_its_own_shows_the_pane() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let (kitty, log) = (world.world.path().join("bin/kitty"), world.world.path().join("kitty.log"));
    std::fs::write(&kitty, format!("#!/bin/sh\necho \"$@\" TMUX=$TMUX >> {}\n", log.display())).unwrap();
    std::fs::set_permissions(&kitty, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let opened = world.run(&["open", "claude", "--name", "Falcon", "--attach=window"]);
    assert_eq!(opened.code, 0, "{opened}");
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    let shown = format!("tmux -u -S {} attach-session -t {pane} TMUX=\n", world.socket().display());
    let logged = || std::fs::read_to_string(&log).unwrap_or_default();
    until("a window", logged, |logged| *logged == shown);
    assert_eq!(world.run(&["pane", "attach", "Falcon", "--window"]).code, 0);
    until("another window", logged, |logged| *logged == shown.repeat(2));
    std::fs::remove_file(&kitty).unwrap();
}

/// An opened agent may do no more than the agent that opens it.
#[test]
fn an_agent_opens_nothing_looser_than_itself_and_closes_only_its_own() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    assert_eq!(
        world
            .run(&[
                "agent",
                "join",
                "--pid",
                "$OTHER",
                "--kind",
                "claude",
                "--session",
                "s1",
                "--name",
                "Raven"
            ])
            .code,
        0
    );
    for loose in [&["--permissions", "full"][..], &["--trust"], &["--", "--dangerously-skip-permissions"]] {
        let refused = world.run_as_agent(&[&["open", "claude"], loose].concat());
        assert_eq!(refused.code, 4, "{loose:?}: {refused}");
    }
    let refused = world.run_as_agent(&["pane", "close", "Falcon"]);
    assert_eq!(refused.code, 4, "{refused}");
    let opened = world.run_as_agent(&["open", "claude", "--name", "Wren", "--permissions", "plan"]);
    assert_eq!(opened.code, 0, "{opened}");
    assert_eq!(world.run_as_agent(&["pane", "close", "--all"]).code, 0);
    let left: Vec<Value> = world.panes().iter().map(|pane| pane["name"].clone()).collect();
    assert_eq!(left, ["Falcon"]);
}

/// A pane that the person started by hand has more in it than the agent, so it is not closed.
#[test]
fn a_pane_of_the_persons_own_is_brought_to_the_front_and_not_closed() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HOOKS", "1")]);
    let with = world.command(&["with", "claude"]);
    let text = |text: &std::ffi::OsStr| text.to_str().unwrap().to_owned();
    let environment: Vec<(String, String)> =
        with.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
    // A program in tmux runs with the path of the client, so the path is set here.
    let (_, path) = environment.iter().rfind(|(name, _)| name == "PATH").unwrap();
    let by_hand = format!("PATH={path} {} with claude; sleep 1000", env!("CARGO_BIN_EXE_consort"));
    let tmux = Tmux::start(&world.world, &environment, &["sh", "-c", &by_hand]);
    tmux.run(&["new-window", "sleep 1000"]);
    let look = || (world.panes(), tmux.run(&["capture-pane", "-p", "-t", ":0"]));
    let (panes, _) = until("its pane", look, |(panes, _)| panes.len() == 1);
    let name = panes[0]["name"].as_str().unwrap();
    let in_front = || tmux.run(&["display-message", "-p", "#{window_index}"]).trim().to_owned();
    assert_eq!(in_front(), "1");
    let focused = world.run(&["pane", "focus", name]);
    assert_eq!((focused.code, focused.stdout), (0, format!("{name} is in front.\n")));
    assert_eq!(in_front(), "0");
    let refused = world.run(&["pane", "close", name]);
    assert!(refused.code == 1 && refused.stderr.contains("was not opened by consort"), "{refused}");
    assert_eq!(world.panes().len(), 1);
}

/// The environment with which a tmux server was started does not reach an opened agent.
#[test]
fn an_agent_is_opened_in_a_server_with_another_environment() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    let elsewhere = ["HOME", "XDG_DATA_HOME", "CONSORT_HOME"].map(|name| (name.into(), "/nowhere".into()));
    let tmux = Tmux::start(&world.world, &elsewhere, &["sleep", "1000"]);
    let server = tmux.run(&["display-message", "-p", "#{socket_path},#{pid},0"]);
    let mut open = world.command(&["open", "claude", "--name", "Falcon"]);
    let opened = world.world.ran(open.env("TMUX", server.trim()));
    assert!(opened.code == 0 && opened.stdout.starts_with("Falcon (pane 1) is ready"), "{opened}");
}
