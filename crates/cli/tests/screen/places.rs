//! Tests of the screen's surroundings: several screens, another store, a closed terminal.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use consort_testkit::PaneWorld;
use consort_testkit::Sealed;
use consort_testkit::Tmux;
use consort_testkit::until;

use super::stage::Screen;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

#[test]
fn the_empty_screen_teaches() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let screen = Screen::open(&world, &[], "");
    screen.shows("No agents are here.");
    screen.shows("install an agent CLI");
    screen.shows("n opens one from here; ? shows all keys.");
    screen.quit();
}

/// Two screens show the same, and either can answer.
#[test]
fn a_second_screen_shows_the_same() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", "first question"]).code, 0);
    let one = Screen::open(&world, &[], "");
    let other = Screen::open(&world, &[], "");
    for screen in [&one, &other] {
        screen.shows("first question");
    }
    other.press(&[".", "a"]);
    other.type_text("an answer");
    other.press(&["Enter"]);
    let inbox = || world.run_as(Some("s1"), &["inbox", "--all"]).stdout;
    until("the answer", inbox, |inbox| inbox.contains("an answer"));
    one.hides("Needs you");
    one.quit();
    other.shows("Falcon");
    other.quit();
}

#[test]
fn it_survives_another_store_and_a_killed_server() {
    let world = world();
    let mut serve = world.consort(["serve", "--port", "0"]);
    let mut server = serve.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let screen = Screen::open(&world, &[], "");
    screen.shows("Raven");
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", "still here"]).code, 0);
    screen.shows("still here");
    // The store is moved away, and another one is made.
    let old = world.path().join("old");
    fs::create_dir_all(&old).unwrap();
    for entry in fs::read_dir(world.data()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("consort.db") {
            fs::rename(entry.path(), old.join(entry.file_name())).unwrap();
        }
    }
    let joined = world.run("agent join --pid $OTHER --kind claude --session s9 --name Heron");
    assert_eq!(joined.code, 0, "{joined}");
    screen.shows("Heron");
    screen.hides("Raven");
    screen.press(&["9"]);
    screen.shows("Heron joined");
    screen.quit();
}

/// `up` starts a tmux session and comes back to it; `down` ends it and lists the agents that go on.
#[test]
fn up_comes_back_and_down_says_who_goes_on() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", "hello"]);
    let nothing = world.run(&["down"]);
    assert!(nothing.code == 1 && nothing.stderr.contains("no screen runs"), "{nothing}");
    let (_, path) = world.environment().iter().rfind(|(name, _)| name == "PATH").unwrap();
    let line = format!(
        "env -u TMUX -u TMUX_PANE 'PATH={path}' {} up; echo back; sleep 600",
        env!("CARGO_BIN_EXE_consort")
    );
    let first = Tmux::start(&world.world, world.environment(), &["sh", "-c", &line]);
    // Connecting is offered once, not in the session again.
    first.wait_for_text("[Y/n/");
    first.run(&["send-keys", "n", "Enter"]);
    first.wait_for_text("? help");
    assert!(world.tmux(&["list-sessions", "-F", "#{session_name}"]).contains("screen"));
    let second = Tmux::start(&world.world, world.environment(), &["sh", "-c", &line]);
    second.wait_for_text("? help");
    // Both terminals show the same screen.
    second.run(&["send-keys", "8"]);
    first.wait_for_text("claims.enforcement");
    // No setting was changed for the screen.
    second.run(&["send-keys", "-l", "/init.offer"]);
    let is_filtered =
        |screen: &String| screen.contains("/init.offer") && !screen.contains("claims.enforcement");
    let shown = until("the setting alone", || first.screen(), is_filtered);
    assert!(!shown.contains("command line"), "{shown}");
    second.run(&["send-keys", "Enter"]);
    let down = world.run(&["down"]);
    assert_eq!(down.code, 0, "{down}");
    assert!(down.stdout.contains("These go on: Falcon (claude)."), "{down}");
    first.wait_for_text("back");
    assert_eq!(world.panes().len(), 1);
}

#[test]
fn a_screen_reader_gets_lines() {
    let world = world();
    let screen = Screen::open(&world, &[], "up --plain");
    screen.shows("Falcon (claude) is idle.");
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", "Shall I merge?"]).code, 0);
    screen.shows("Falcon (claude) needs you, number 1: message.");
    screen.press(&["1 yes"]);
    screen.press(&["Enter"]);
    let inbox = || world.run_as(Some("s1"), &["inbox", "--all"]).stdout;
    until("the answer", inbox, |inbox| inbox.contains("yes"));
    screen.shows("1 does not wait any more.");
    assert!(!screen.text().contains('╭'), "{}", screen.text());
}

/// This holds also in the middle of a key's sequence, and while keys come in.
#[test]
fn a_terminal_that_is_closed_ends_it() {
    let world = world();
    let before = screens(&world);
    let (half_a_key, many) = ("\u{1b}[".to_owned(), "jk".repeat(200));
    for keys in ["", &half_a_key, &many] {
        let screen = Screen::open(&world, &[], "");
        screen.shows("Falcon");
        until("a screen", || screens(&world), |now| *now > before);
        screen.send(keys);
        drop(screen);
        until("its end", || screens(&world), |now| *now == before);
    }
}

/// Counts the processes that show a screen of this world.
fn screens(world: &Sealed) -> usize {
    let listeners = fs::read_dir(world.data().join("listeners"));
    let alive = |name: &str| {
        let pid = name.split('.').nth(1).unwrap_or_default();
        fs::metadata(format!("/proc/{pid}")).is_ok()
    };
    let mut pids: Vec<String> = listeners
        .map(|all| all.flatten().map(|one| one.file_name().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    pids.retain(|name: &String| alive(name));
    pids.len()
}

#[test]
fn a_status_line_says_who_and_what() {
    let world = world();
    fs::File::create(world.project().join("login.md")).unwrap().write_all(b"- [ ] T-1: login\n").unwrap();
    assert_eq!(world.run_as(Some("s1"), &["task", "next", "--spec", "login.md"]).code, 0);
    assert_eq!(world.run_as(Some("s2"), &["send", "Falcon", "hello"]).code, 0);
    assert_eq!(world.run_as(Some("s1"), &["status", "--line"]).stdout, "Falcon · 1 peer · ● 1 · T-1\n");
    assert_eq!(world.run_as(None, &["status", "--line"]).stdout, "you · 2 peers\n");
}
