//! What the person is notified of: once, by the person's own program, and not at night.

use std::fs;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;

/// A world whose notifications are lines of a file.
fn world(more: &str) -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let directory = world.home().join(".config/consort");
    fs::create_dir_all(&directory).unwrap();
    let told = world.path().join("told");
    let command = format!("printf '%s\\\\n--\\\\n' \\\"$CONSORT_TEXT\\\" >> {}", told.display());
    fs::write(directory.join("config.toml"), format!("[notify]\ncommand = \"{command}\"\n{more}")).unwrap();
    world.with_falcon_and_raven()
}

/// What was told once so many times something was, or all after a while.
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

/// Runs something while the person follows what waits, twice at once.
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
