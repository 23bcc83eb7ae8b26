//! Tests of the person's notifications: once each, by the person's own program, and not at night.

use std::fs;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::PaneWorld;
use consort_testkit::Sealed;
use serde_json::json;

/// Makes a world whose notifications are written to a file.
fn world(more: &str) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    configure(&world, more);
    world.with_falcon_and_raven()
}

fn configure(world: &Sealed, more: &str) {
    let directory = world.home().join(".config/consort");
    fs::create_dir_all(&directory).unwrap();
    let told = world.path().join("told");
    let command = format!("printf '%s\\\\n--\\\\n' \\\"$CONSORT_TEXT\\\" >> {}", told.display());
    fs::write(directory.join("config.toml"), format!("[notify]\ncommand = \"{command}\"\n{more}")).unwrap();
}

/// Waits for `count` notifications, or for a while, and returns all of them.
fn told(world: &Sealed, count: usize) -> Vec<String> {
    let since = Instant::now();
    loop {
        let text = fs::read_to_string(world.path().join("told")).unwrap_or_default();
        let told: Vec<String> =
            text.split("\n--\n").filter(|one| !one.is_empty()).map(str::to_owned).collect();
        if told.len() >= count || since.elapsed() > Duration::from_secs(20) {
            return told;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Runs `act` while two `waiting --follow` of the person's run.
fn followed(world: &Sealed, act: impl FnOnce()) {
    let follow = || {
        let mut command = world.consort(["waiting", "--follow"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut all = [follow(), follow()];
    act();
    for one in &mut all {
        let _ = one.kill();
        let _ = one.wait();
    }
}

#[test]
fn a_message_is_told_once_however_many_look() {
    let world = world("");
    followed(&world, || {
        assert_eq!(world.run_as(Some("s1"), &["send", "@me", "Which branch?"]).code, 0);
        assert_eq!(told(&world, 1), ["Falcon writes: Which branch?"]);
        std::thread::sleep(Duration::from_secs(3));
        assert_eq!(told(&world, 1).len(), 1);
        assert_eq!(world.run_as(Some("s2"), &["send", "@me", "Done."]).code, 0);
        assert_eq!(told(&world, 2)[1..], ["Raven writes: Done."]);
    });
}

#[test]
fn nothing_is_told_in_quiet_hours() {
    let world = world("quiet = \"00:00-23:59\"\n");
    followed(&world, || {
        assert_eq!(world.run_as(Some("s1"), &["send", "@me", "Which branch?"]).code, 0);
        std::thread::sleep(Duration::from_secs(3));
    });
    assert_eq!(fs::read_to_string(world.path().join("told")).unwrap_or_default(), "");
}

#[test]
fn a_repository_names_no_program() {
    let world = world("");
    let directory = world.project().join(".consort");
    fs::create_dir_all(&directory).unwrap();
    let settings = "[notify]\ncommand = \"touch /tmp/never\"\nquiet = \"00:00-23:59\"\n";
    fs::write(directory.join("config.toml"), settings).unwrap();
    let ran = world.run("config get notify.command");
    assert!(ran.stdout.contains("printf"), "{ran}");
    assert!(ran.stderr.contains("notify.command") && ran.stderr.contains("notify.quiet"), "{ran}");
}

/// Messages that came while nobody looked make one notification.
#[test]
fn several_are_told_as_one() {
    let world = world("");
    for (session, text) in [("s1", "the first"), ("s1", "a second"), ("s2", "mine"), ("s2", "a fourth")] {
        assert_eq!(world.run_as(Some(session), &["send", "@me", text]).code, 0);
    }
    followed(&world, || {
        let told = told(&world, 1);
        assert_eq!(told.len(), 1, "{told:?}");
        let lines: Vec<&str> = told[0].lines().collect();
        assert_eq!(
            lines,
            ["Falcon writes: the first", "Falcon writes: a second", "Raven writes: mine", "and 1 more"]
        );
    });
}

/// The hook that holds a question notifies of it after a while without an answer, and hides
/// what looks like a secret.
#[test]
fn a_question_is_told_where_nobody_looks() {
    let world = world("");
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let call = json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash",
        "tool_input": { "command": format!("make all TOKEN={token}") } });
    let mut hook = world.consort(["hook", "claude", "PermissionRequest"]);
    hook.env("CLAUDE_CODE_ENTRYPOINT", "cli");
    let hook = world.spawn_as_agent(&hook);
    let held = std::thread::spawn(move || hook.output(call.to_string().as_bytes()));
    let first = told(&world, 1);
    assert!(first[0].starts_with("Falcon asks: Bash make all") && !first[0].contains(&token), "{first:?}");
    followed(&world, || std::thread::sleep(Duration::from_secs(3)));
    assert_eq!(told(&world, 1).len(), 1);
    assert_eq!(world.run_as(None, &["answer", "1", "deny"]).code, 0);
    held.join().unwrap();
}

/// `waiting --follow` rings its terminal and names the reason, by both kinds of escape sequences.
#[test]
fn the_terminal_is_rung() {
    let world = world("");
    let shown = world.path().join("shown");
    let mut script = world.command("script");
    let follow = format!("{} waiting --follow", world.program().display());
    script.args(["-qfec", &follow]).arg(&shown);
    let mut script =
        script.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let text = "Done; \u{7}\u{1b}]0;evil";
    assert_eq!(world.run_as(Some("s1"), &["send", "@me", text]).code, 0);
    let since = Instant::now();
    let seen = loop {
        let seen = fs::read_to_string(&shown).unwrap_or_default();
        if seen.contains("]777;") || since.elapsed() > Duration::from_secs(30) {
            break seen;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let _ = script.kill();
    let _ = script.wait();
    assert!(seen.contains("\u{7}\u{1b}]9;Falcon writes: Done"), "{seen:?}");
    assert!(seen.contains("\u{1b}]777;notify;Consort;Falcon writes: Done"), "{seen:?}");
    assert!(!seen.contains("\u{1b}]0;evil"), "{seen:?}");
}

/// Each change of an agent in a pane is notified once, by the person's own program and on the desktop.
#[test]
fn what_becomes_of_a_pane_is_told_once() {
    let world = PaneWorld::new(env!("CARGO_BIN_EXE_consort"), &[]);
    configure(&world.world, "desktop = true\n");
    let desktop = world.world.path().join("desktop");
    let program = world.world.path().join("bin/notify-send");
    let line = format!("#!/bin/sh\nprintf '%s|' \"$@\" >> {0}\necho >> {0}\n", desktop.display());
    fs::write(&program, line).unwrap();
    let executable = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(&program, executable).unwrap();
    assert_eq!(world.run(&["open", "claude", "--name", "Falcon"]).code, 0);
    let watch = || world.command(&["pane", "watch"]).stdout(Stdio::null()).spawn().unwrap();
    let mut watchers = [watch(), watch()];
    let pane = world.panes()[0]["pane"].as_str().unwrap().to_owned();
    let submit = |text: &str| {
        world.tmux(&["send-keys", "-t", &pane, "-l", text]);
        world.tmux(&["send-keys", "-t", &pane, "Enter"]);
    };
    let mut expected: Vec<&str> = Vec::new();
    for (prompt, told_of) in [
        ("please ask for permission", "Falcon waits for you: Do you want to proceed?"),
        ("", "Falcon has finished"),
        ("an error please", "Falcon has an error: ● API Error: 500 the model is away"),
        ("reach the limit", "Falcon has hit its limit: 7pm (UTC)"),
        ("crash", "Falcon has crashed"),
    ] {
        submit(prompt);
        expected.push(told_of);
        assert_eq!(told(&world.world, expected.len()), expected, "{}", world.screen(&pane));
    }
    std::thread::sleep(Duration::from_secs(3));
    for watcher in &mut watchers {
        let _ = watcher.kill();
        let _ = watcher.wait();
    }
    assert_eq!(told(&world.world, expected.len()), expected);
    let shown = fs::read_to_string(desktop).unwrap();
    let wanted: Vec<String> =
        expected.iter().map(|text| format!("--app-name=Consort|--|Consort|{text}|")).collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), wanted);
}
