//! Tests that stores of earlier versions are taken over.

use std::fs;
use std::path::Path;

use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

/// A store of the program with schema 4: two agents, a reservation, a claim, a
/// letter that waits and one that was read, and a claimed task.
const V4: &str = include_str!("upgrade/v4.sql");

/// A store of the last program before entries had a form, with schema 6: the same
/// and more, with a contest, a thread, deliveries, predictions and knowledge.
const V6: &str = include_str!("upgrade/v6.sql");

/// Runs a line of Python on a database.
fn python(world: &Sealed, database: &Path, script: &str, input: &str) -> String {
    let mut python = world.command("python3");
    python.args(["-c", &format!("import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); {script}")]);
    let ran = world.ran_with(python.arg(database), input.as_bytes());
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout
}

/// Makes a world with this store, in which the earlier program ran a moment ago.
fn world(store: &str) -> Sealed {
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
    let store = facts.iter().fold(store.to_owned(), |store, (name, fact)| store.replace(name, fact));
    fs::create_dir_all(world.data()).unwrap();
    python(&world, &world.data().join("consort.db"), "db.executescript(sys.stdin.read())", &store);
    world
}

#[test]
fn a_store_of_the_last_version_is_taken_over_and_kept() {
    let world = world(V4);
    let who: Value = serde_json::from_str(&world.run("who --json").stdout).unwrap();
    let names: Vec<&Value> = who["items"].as_array().unwrap().iter().map(|agent| &agent["name"]).collect();
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
    let tasks = world.run("task list --spec spec.md").stdout;
    assert!(tasks.contains("Raven"), "{tasks}");
    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify["journal"][check], json!([]), "{check}");
    }

    // The old store is kept as a copy, for a person who goes back to the old program.
    let count = "print(*db.execute('SELECT count(*) FROM journal').fetchone(), *db.execute('PRAGMA user_version').fetchone())";
    assert_eq!(python(&world, &world.data().join("consort.db.v4"), count, ""), "10 4\n");
}

/// Messages and reservations, which people called by the number of their entry, get numbers of their own.
#[test]
fn entries_without_a_form_are_rewritten() {
    let world = world(V6);
    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    assert_eq!(verify["journal"]["entries"], 30);
    for check in ["missing", "differences", "integrity", "unknown", "unreadable"] {
        assert_eq!(verify["journal"][check], json!([]), "{check}");
    }
    // Messages, their threads and their receipts.
    let letters = world.run_as(Some("s2"), &["inbox"]).stdout;
    assert!(letters.contains("#4 info") && letters.contains("> an old letter"), "{letters}");
    let thread = world.run_as(Some("s1"), &["inbox", "--thread", "3"]).stdout;
    assert!(thread.contains("#2 info, from you") && thread.contains("in reply to #2"), "{thread}");
    assert!(thread.contains("to Raven (read"), "{thread}");
    assert!(world.run("inbox").stdout.contains("#5 info, from Falcon"));
    let next = world.run_as(Some("s1"), &["send", "Raven", "new"]).stdout;
    assert_eq!(next, "Sent message #8 to Raven.\n", "seven were sent before");
    // Reservations, the contest about one of them, tasks.
    let holds = world.run("holds list").stdout;
    for line in [
        "docs/  Falcon (claude on main), exclusive",
        "#2: \"the layout\"",
        "#1: \"the layout\"",
        "#3, on TASK-02 [contested by Wren",
    ] {
        assert!(holds.contains(line), "{line}: {holds}");
    }
    assert_eq!(
        world.run_as(Some("s1"), &["reserve", "new.rs"]).stdout,
        "Reserved new.rs (reservation #4).\n"
    );
    let tasks = world.run("task list --spec spec.md").stdout;
    assert!(tasks.contains("[Raven") && tasks.contains("#2]"), "{tasks}");
    // Predictions and knowledge.
    let past = world.run("radar history").stdout;
    assert!(past.contains("#2 Falcon and Raven") && past.contains("#1 Falcon and Raven"), "{past}");
    assert!(world.run("know query (get-principles)").stdout.contains("small-steps"));
    let verify = world.run("journal verify");
    assert_eq!(verify.code, 0, "{verify}");
}

/// Only files that the earlier program has marked as its own are removed.
#[test]
fn what_the_last_version_kept_beside_its_store_is_replaced() {
    let world = world(V4);
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
    // The session that was running goes on, and gets the mail that waited.
    let call = json!({ "session_id": "s2", "cwd": world.project(), "tool_name": "Read", "tool_input": {} });
    let heard = world.hook("PostToolUse", &call).stdout;
    assert!(heard.contains("an old letter"), "{heard}");
    assert!(!data.join("pulses").exists() && !data.join("knowledge.db").exists());
    assert!(data.join("published/store").is_file());
    assert_eq!(fs::read_to_string(data.join("mail/letters")).unwrap(), "somebody else's");
}
