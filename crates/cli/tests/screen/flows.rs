//! Tests of what a person does on the screen, from the beginning to the end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use consort_testkit::PaneWorld;
use consort_testkit::Sealed;
use consort_testkit::until;
use serde_json::Value;

use super::stage::Screen;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    world.with_falcon_and_raven()
}

fn inbox(world: &Sealed, session: &str) -> String {
    world.run_as(Some(session), &["inbox", "--all"]).stdout
}

#[test]
fn a_question_and_a_permission_are_answered_in_place() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", "ask me a question"]);
    let screen = Screen::open(&world.world, world.environment(), "up --here --yes");
    screen.shows("Needs you (1)");
    screen.shows("1 Red · 2 Blue");
    screen.press(&[".", "a", "2"]);
    until("the answer", || world.cli.submitted_texts(), |noted| noted.contains(&"answered: Blue".to_owned()));
    screen.hides("Needs you");
    world.run(&["open", "claude", "--name", "Heron", "--prompt", "ask for permission"]);
    screen.shows("permission");
    screen.press(&[".", "a"]);
    screen.type_text("deny");
    screen.press(&["Enter"]);
    until("the refusal", || world.cli.submitted_texts(), |noted| noted.contains(&"answered: No".to_owned()));
    screen.quit();
}

#[test]
fn a_message_is_replied_to_and_all_are_written_to() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", "-t", "question", "Shall I merge?"]).code, 0);
    let screen = Screen::open(&world, &[], "");
    screen.shows("Shall I merge?");
    // A question that was read still waits for an answer.
    screen.press(&["2", "Right", "Enter"]);
    screen.hides("1 unread");
    screen.press(&["Escape"]);
    // Waits, because a key right after Esc would be read as a key with Alt.
    screen.shows("Enter to write to Falcon");
    screen.press(&["Left"]);
    screen.shows("▸ Agents");
    screen.press(&["1"]);
    screen.shows("Needs you (1)");
    screen.press(&[".", "a"]);
    screen.type_text("yes, merge it");
    screen.press(&["Enter"]);
    until("the reply", || inbox(&world, "s1"), |inbox| inbox.contains("yes, merge it"));
    screen.hides("Needs you");
    screen.press(&["Escape", "b"]);
    screen.shows("To all agents of");
    screen.type_text("the release is tomorrow");
    screen.press(&["Enter"]);
    for session in ["s1", "s2"] {
        until("the broadcast", || inbox(&world, session), |inbox| inbox.contains("the release is tomorrow"));
    }
    // The messages are shown in the conversations with the agent and with all.
    screen.press(&["2"]);
    screen.shows("Messages ── you ── 2 peers");
    screen.press(&["Right"]);
    screen.shows("▸ ○ Falcon");
    screen.shows("─ You ── #");
    screen.press(&["Left", "Left"]);
    screen.shows("▸ + All");
    screen.shows("the release is tomorrow");
    assert_eq!(world.run_as(Some("s2"), &["send", "@me", "I am done"]).code, 0);
    screen.shows("1 unread");
    screen.press(&["Left"]);
    screen.shows("I am done");
    // A message that was only passed by stays unread; Enter, which begins an answer, marks it as read.
    screen.press(&["Enter"]);
    screen.hides("1 unread");
    screen.press(&["Escape"]);
    screen.quit();
}

#[test]
fn a_pane_is_brought_to_the_front() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[("FAKE_HOOKS", "1")]);
    world.run(&["open", "claude", "--name", "Falcon", "--prompt", "hello there"]);
    let screen = Screen::open(&world.world, world.environment(), "up --here --yes");
    screen.shows("Falcon");
    screen.shows("? help");
    // The agent's pane is shown beside the list.
    screen.press(&["Right"]);
    screen.shows("Claude Code v2.1.325");
    screen.press(&["f"]);
    screen.hides("? help");
    screen.shows("[consort] 0:Falcon");
    screen.shows("Claude Code v2.1.325");
    // The tmux server in between takes the first C-b.
    screen.press(&["C-b", "C-b", "d"]);
    screen.shows("? help");
    screen.press(&["x"]);
    screen.shows("Interrupt Falcon?");
    screen.press(&["n"]);
    screen.shows("Left as it is.");
    screen.quit();
}

#[test]
fn a_contest_is_resolved_and_a_reservation_overridden() {
    let world = world();
    assert_eq!(world.run_as(Some("s1"), &["reserve", "src/auth/", "--reason", "login"]).code, 0);
    let screen = Screen::open(&world, &[], "");
    screen.press(&["4"]);
    screen.shows("auth/");
    screen.press(&["o"]);
    let word = screen.word();
    screen.type_text("wrong");
    screen.press(&["Enter"]);
    screen.shows("That was not the word");
    screen.press(&["o"]);
    let again = screen.word();
    assert_ne!(word, again);
    screen.type_text(&again);
    screen.press(&["Enter"]);
    screen.shows("open to everyone for now");
    screen.press(&["u"]);
    screen.hides("open to everyone for now");
    // Another agent contests the path, and the person releases it from its holder.
    assert_eq!(world.run_as(Some("s2"), &["holds", "contest", "src/auth/", "--reason", "release"]).code, 0);
    screen.shows("Needs you (1)");
    screen.shows("wants src/auth/");
    let waiting = world.run("waiting").stdout;
    assert!(waiting.contains("it is decided at") && !waiting.contains("it goes on at"), "{waiting}");
    assert!(waiting.contains("     free it: consort release --force 'src/auth/'\n"), "{waiting}");
    screen.press(&[".", "a"]);
    screen.shows("release it from Falcon: it is free to take (asks)");
    screen.press(&["2"]);
    let word = screen.word();
    screen.type_text(&word);
    screen.press(&["Enter"]);
    screen.shows("Released src/auth/.");
    screen.hides("Needs you");
    let held = world.run("holds list").stdout;
    assert!(!held.contains("Falcon"), "{held}");
    screen.quit();
}

#[test]
fn work_is_handed_over_and_a_task_is_proposed() {
    let world = world();
    fs::write(world.project().join("login.md"), "- [ ] T-1: the login page\n- [ ] T-2: log out\n").unwrap();
    for session in ["s1", "s2"] {
        let joined = ["task", "next", "--spec", "login.md"];
        assert_eq!(world.run_as(Some(session), &joined).code, 0);
    }
    let screen = Screen::open(&world, &[], "");
    screen.shows("[T-1]");
    screen.press(&["H"]);
    screen.shows("Hand the work of Falcon over to");
    screen.press(&["1"]);
    screen.shows("Hand the work of Falcon over to Raven?");
    screen.press(&["y"]);
    screen.shows("Handed over to Raven as message #");
    until("the handoff", || inbox(&world, "s2"), |inbox| inbox.contains("handoff"));
    assert_eq!(world.run_as(Some("s1"), &["task", "drop"]).code, 0);
    screen.press(&["3"]);
    screen.shows("Ready (1)");
    screen.press(&["t", "1"]);
    until("the proposal", || inbox(&world, "s1"), |inbox| inbox.contains("Please take T-1"));
    screen.quit();
}

#[test]
fn a_run_is_started_and_its_result_read() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let bin = world.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let stub = include_str!("../runs/stub.py").replace("@CONSORT@", &world.program().to_string_lossy());
    fs::write(bin.join("claude"), stub).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let screen = Screen::open(&world, &[("PATH".to_owned(), path)], "up --here --yes");
    screen.shows("? help");
    screen.press(&["n"]);
    screen.shows("a run: a task without a terminal");
    screen.press(&["1"]);
    screen.type_text("{tool Bash}{say All is well.}{cost 0.02}");
    screen.press(&["Enter"]);
    // The finished run is offered for review, and the screen is back at the same panel.
    screen.shows("run 1 done: ");
    screen.shows("No agents are here.");
    screen.press(&[".", "a"]);
    screen.shows("Ended    Run 1 is done");
    screen.shows(" All is well. ");
    screen.press(&["Escape"]);
    screen.hides("Ended    Run 1");
    screen.hides("Needs you");
    screen.press(&["6"]);
    screen.shows("$0.02");
    screen.quit();
}

#[test]
fn a_diff_is_looked_at_and_something_is_found() {
    let world = world();
    fs::write(world.project().join("a.txt"), "old line\n").unwrap();
    world.git(&["add", "."]);
    world.git(&["commit", "-qm", "first"]);
    fs::write(world.project().join("a.txt"), "new line\n").unwrap();
    let screen = Screen::open(&world, &[], "");
    screen.shows("Falcon");
    screen.press(&["Right", "Right", "Right"]);
    screen.shows("+new line");
    screen.press(&["/"]);
    screen.type_text("rav");
    screen.hides("○ Falcon");
    screen.press(&["Enter", "Escape"]);
    screen.shows("○ Falcon");
    screen.press(&["9", "/"]);
    screen.type_text("Raven joined");
    screen.press(&["Enter"]);
    screen.shows("Raven joined (claude in");
    assert!(!screen.text().contains("Falcon joined"));
    // A typed command is run, and its output is shown.
    screen.press(&["Escape", ":"]);
    screen.type_text("who --json");
    screen.press(&["Enter"]);
    screen.shows("\"items\":");
    screen.press(&["Escape"]);
    screen.quit();
}

#[test]
fn what_protects_less_is_set_with_a_word() {
    let world = world();
    let screen = Screen::open(&world, &[], "");
    screen.press(&["8"]);
    screen.shows("claims.contest_seconds");
    screen.press(&["/"]);
    screen.type_text("contest_seconds");
    screen.press(&["Enter", "Enter"]);
    screen.shows("New value of claims.contest_seconds");
    screen.type_text("60");
    screen.press(&["Enter"]);
    let word = screen.word();
    screen.type_text(&word);
    screen.press(&["Enter"]);
    screen.shows("claims.contest_seconds = 60 in");
    assert_eq!(world.run("config get claims.contest_seconds").stdout, "60\n");
    screen.quit();
}

#[test]
fn the_help_shows_every_key() {
    let world = world();
    let screen = Screen::open(&world, &[], "");
    screen.press(&["?"]);
    screen.shows("go to the next thing that needs you");
    screen.press(&["End"]);
    screen.shows("`:` runs any of them");
    screen.press(&["Escape"]);
    screen.press(&["8"]);
    screen.shows("claims.enforcement");
    screen.press(&["7", "Enter"]);
    screen.type_text("(+ 1 2)");
    screen.press(&["Enter"]);
    screen.shows(" 3 ");
    screen.quit();
    let entries: Value = serde_json::from_str(&world.run("status --json").stdout).unwrap();
    assert!(entries["status"]["entries"].is_number());
}
