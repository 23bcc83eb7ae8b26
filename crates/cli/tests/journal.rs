//! Tests of the journal, read as it grows.

use std::fs;
use std::io::BufRead as _;
use std::io::BufReader;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use consort_testkit::Sealed;
use expect_test::expect;
use serde_json::Value;

fn world() -> Sealed {
    Sealed::new(env!("CARGO_BIN_EXE_consort"))
}

fn join(world: &Sealed, name: &str) {
    let ran = world.run(&format!("agent join --pid $OTHER --kind test --session s-{name} --name {name}"));
    assert_eq!(ran.code, 0, "{ran}");
}

/// A running `journal tail --follow`, and the lines it prints with their times.
struct Follower {
    child: Child,
    lines: mpsc::Receiver<(Instant, String)>,
}

impl Follower {
    fn start(world: &Sealed, arguments: &[&str]) -> Self {
        let listeners = || {
            let listeners = fs::read_dir(world.data().join("listeners")).into_iter().flatten().flatten();
            listeners.filter(|pipe| !hidden(pipe)).count()
        };
        let before = listeners();
        let mut command = world.consort(["journal", "tail", "--follow"]);
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send((Instant::now(), line));
            }
        });
        let follower = Self { child, lines };
        // Once the follower's pipe exists, it misses nothing.
        while listeners() == before {
            std::thread::sleep(Duration::from_millis(5));
        }
        follower
    }

    fn next_line(&self) -> (Instant, String) {
        self.lines.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    fn next(&self) -> (Instant, Value) {
        let (at, line) = self.next_line();
        let mut line: Value = serde_json::from_str(&line).unwrap();
        (at, line["entry"].take())
    }
}

fn hidden(file: &fs::DirEntry) -> bool {
    file.file_name().to_string_lossy().starts_with('.')
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_tells_what_happened() {
    let world = world();
    join(&world, "Raven");
    join(&world, "Bear");
    world.run("agent rename Crow --agent Raven");
    world.run("agent leave --agent Bear");
    let tail = world.run("journal tail").to_string();
    // Times differ from run to run.
    let at = |line: &str| line.get(8..27).is_some_and(|at| at.as_bytes()[4] == b'-');
    let lines =
        tail.lines().map(|line| if at(line) { line.replace(&line[8..27], "<time>") } else { line.into() });
    expect![[r#"
             1  <time>  project shop first seen (path:$WORLD/shop); Raven joined (test in shop)
             2  <time>  Bear joined (test in shop)
             3  <time>  you: Raven is now Crow
             4  <time>  you: Bear was sent away
        [exit 0]
    "#]]
    .assert_eq(&lines.map(|line| line + "\n").collect::<String>());

    assert_eq!(world.run("journal tail -n 1 --json").stdout.lines().count(), 1);
    assert_eq!(world.run("journal tail --since 1h").stdout.lines().count(), 4);
    assert_eq!(world.run("journal tail --since 2999-01-01").stdout, "");
    assert_eq!(world.run("journal tail --project shop").stdout.lines().count(), 4);
    expect![[r#"
        [stderr] Error: `yesterdayish` is not a time
        [stderr] Hint: use `2h`, `30m`, `3d`, `2026-11-01` or `2026-11-01T12:00`
        [exit 1]
    "#]]
    .assert_eq(&world.run("journal tail --since yesterdayish").to_string());
    expect![[r#"
        [stderr] Error: no project called `shp` was ever seen
        [stderr] Hint: did you mean `shop`?
        [exit 1]
    "#]]
    .assert_eq(&world.run("journal tail --project shp").to_string());
}

#[test]
fn a_follower_sees_an_entry_as_it_is_recorded() {
    let world = world();
    join(&world, "First");
    let follower = Follower::start(&world, &["--json", "-n", "0"]);
    let elsewhere = Follower::start(&world, &["--json", "-n", "0", "--project"]);
    for name in ["A", "B", "C"] {
        join(&world, name);
        let ended = Instant::now();
        let (at, entry) = follower.next();
        assert_eq!(entry["changes"][0]["change"]["joined"]["name"], name);
        // The entry is printed before the recording process has ended, or soon after;
        // the regular look alone would take up to two seconds.
        assert!(at < ended + Duration::from_millis(500), "{name} was seen late");
        elsewhere.next();
    }
}

#[test]
fn a_follower_survives_its_store_being_replaced() {
    let world = world();
    join(&world, "Old");
    let follower = Follower::start(&world, &["--json", "-n", "0"]);
    fs::rename(world.data(), world.home().join("moved")).unwrap();
    join(&world, "New");
    let (_, first) = follower.next();
    assert_eq!(first["seq"], 1);
    assert_eq!(first["changes"][1]["change"]["joined"]["name"], "New");
    // The follower is notified of later entries too.
    join(&world, "Newer");
    let (_, second) = follower.next();
    assert_eq!(second["changes"][0]["change"]["joined"]["name"], "Newer");
}

#[test]
fn waiting_costs_nothing() {
    let world = world();
    join(&world, "First");
    let follower = Follower::start(&world, &["--json"]);
    follower.next();
    std::thread::sleep(Duration::from_millis(300));
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", follower.child.id())).unwrap();
        let fields: Vec<u64> =
            stat.rsplit(") ").next().unwrap().split(' ').filter_map(|f| f.parse().ok()).collect();
        // utime and stime, in hundredths of a second.
        fields[10] + fields[11]
    };
    let before = ticks();
    std::thread::sleep(Duration::from_secs(4));
    assert!(ticks() - before <= 2, "it was busy while idle");
}

#[test]
fn damage_has_an_exit_code_and_a_cure() {
    let world = world();
    join(&world, "Raven");
    expect![[r#"
        Sound: 1 entry, last 1.
        [exit 0]
    "#]]
    .assert_eq(&world.run("journal verify").to_string());
    let mut sqlite = world.command("python3");
    let script = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(\"update agents set name='X'\"); c.commit()";
    let ran = world.ran(sqlite.args(["-c", script]).arg(world.data().join("consort.db")));
    assert_eq!(ran.code, 0, "{ran}");
    let found = world.run("journal verify");
    assert_eq!(found.code, 6, "{found}");
    assert!(found.stdout.contains("agents: s-Raven is "), "{found}");
    assert!(found.stderr.contains("consort journal rebuild"));
    expect![[r#"
        Rebuilt the tables from 1 entry.
        [exit 0]
    "#]]
    .assert_eq(&world.run("journal rebuild").to_string());
    assert_eq!(world.run("journal verify").code, 0);
}

#[test]
fn an_entry_that_cannot_be_understood_hides_no_other() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    for (session, name) in [("s1", "Falcon"), ("s2", "Raven")] {
        let join = format!("agent join --pid $OTHER --kind claude --session {session} --name {name}");
        assert_eq!(world.run(&join).code, 0);
    }
    let spoil = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                 db.execute(\"UPDATE journal SET changes = '[{nonsense' WHERE seq = 1\"); db.commit()";
    let mut python = world.command("python3");
    assert_eq!(world.ran(python.args(["-c", spoil]).arg(world.data().join("consort.db"))).code, 0);
    let tail = world.run("journal tail");
    assert_eq!(tail.code, 0, "{tail}");
    assert!(tail.stdout.contains("Raven") && tail.stdout.contains("nonsense"), "{tail}");
    assert_eq!(world.run("journal verify").code, 6);
}

#[test]
fn following_shows_messages_as_they_are_read() {
    let world = world();
    world.git_init();
    let world = world.with_falcon_and_raven();
    let follower = Follower::start(&world, &["-n", "0"]);
    world.run_as(Some("s1"), &["send", "Raven", "hello"]);
    world.run_as(Some("s2"), &["inbox"]);
    let shown: Vec<String> = (0..3).map(|_| follower.next_line().1[29..].to_owned()).collect();
    assert_eq!(
        shown,
        [
            "Falcon to Raven: message #1 info: hello",
            "Raven was handed message #1",
            "Raven has read message #1"
        ]
    );
}
