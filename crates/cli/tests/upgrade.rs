//! What a program before this one has left is taken over.

#![expect(clippy::unwrap_used, reason = "a helper that cannot go on should stop the test")]

use std::fs;
use std::path::Path;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

/// What the program with schema 4 recorded: two agents, a reservation, a claim, a
/// letter that waits and one that was read, and a task at work.
const STORE: &str = include_str!("upgrade/v4.sql");

/// Runs a line of Python on a database.
fn python(world: &Sealed, database: &Path, script: &str, input: &str) -> String {
    let mut python = world.command("python3");
    python.args(["-c", &format!("import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); {script}")]);
    let ran = world.ran_with(python.arg(database), input.as_bytes());
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

/// A world in which that program was at work a moment ago.
fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    fs::write(world.project().join("spec.md"), "## TASK-01: the first\n## TASK-02: the second\n").unwrap();
    let pid = world.seat().pid();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let ticks = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let seconds =
        python(&world, Path::new(":memory:"), "import time; print(int(time.time()) - 5, end='')", "");
    let facts = [
        ("@PID@", pid.to_string()),
        ("@START@", format!("{}-{ticks}", &boot[..8])),
        ("@HOST@", host.trim().to_owned()),
        ("@PROJECT@", world.project().canonicalize().unwrap().display().to_string()),
        ("@SECONDS@", seconds),
    ];
    let store = facts.iter().fold(STORE.to_owned(), |store, (name, fact)| store.replace(name, fact));
    fs::create_dir_all(world.data()).unwrap();
    python(&world, &world.data().join("consort.db"), "db.executescript(sys.stdin.read())", &store);
    world
}

#[test]
fn a_store_of_the_last_version_is_taken_over_and_kept() {
    let world = world();
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    let names: Vec<&Value> = who["agents"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, [&json!("Falcon"), &json!("Raven")]);

    let inbox = |session| world.run_as(Some(session), &["inbox"]).stdout;
    assert!(inbox("s2").contains("> an old letter"));
    assert_eq!(inbox("s1"), "");
    let write = |path: &str| {
        let path = world.project().join(path);
        let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Edit",
            "tool_input": { "file_path": path } });
        world.hook("PreToolUse", &call).stdout
    };
    assert!(write("src/a.rs").contains("reserved by Falcon") && write("free.rs").is_empty());
    let tasks = world.run("tasks --spec spec.md").stdout;
    assert!(tasks.contains("Raven"), "{tasks}");
    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify[check], json!([]), "{check}");
    }

    // The copy of the old store, for a person who goes back to the old program.
    let count = "print(*db.execute('SELECT count(*) FROM journal').fetchone(), *db.execute('PRAGMA user_version').fetchone())";
    assert_eq!(python(&world, &world.data().join("consort.db.v4"), count, ""), "10 4\n");
}

/// Only what that program has marked as its own goes.
#[test]
fn what_the_last_version_kept_beside_its_store_is_replaced() {
    let world = world();
    let data = world.data();
    for (name, text) in [
        ("pulses/.consort-directory", ""),
        ("pulses/s1.now", "{}"),
        ("published", "consort 1 2 3"),
        ("knowledge.db", "an index"),
        ("mail/letters", "somebody else's"),
    ] {
        fs::create_dir_all(data.join(name).parent().unwrap()).unwrap();
        fs::write(data.join(name), text).unwrap();
    }
    // The session that was at work goes on, and hears what waited.
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Read", "tool_input": {} });
    let heard = world.hook("PostToolUse", &call).stdout;
    assert!(heard.contains("an old letter"), "{heard}");
    assert!(!data.join("pulses").exists() && !data.join("knowledge.db").exists());
    assert!(data.join("published/store").is_file());
    assert_eq!(fs::read_to_string(data.join("mail/letters")).unwrap(), "somebody else's");
}
