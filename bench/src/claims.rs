//! Claims: what the guard before a write costs, and who wins a race.

use std::io::Read as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::Sample;
use consort_bench::caller;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use consort_core::App;
use consort_core::claims::HoldRequest;
use consort_core::claims::Mode;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::Strength;
use consort_core::claims::Which;
use consort_core::tasks::TaskRequest;
use consort_host::Machine;
use consort_sqlite::Access;
use consort_sqlite::Store;
use serde_json::json;

/// As an argument: be one of those who race.
pub(crate) const RACER: &str = "racer";

pub(crate) fn run(rounds: usize, races: usize) {
    guard(rounds);
    for what in ["path", "task"] {
        race(what, 64, races);
    }
}

/// A hook before a write, against five hundred reservations of others.
fn guard(rounds: usize) {
    let home = Home::new(50, 10_000);
    let mut app = home.app();
    for n in 0..500 {
        let what = match n % 5 {
            0 => format!("src/module{n}/"),
            1 => format!("src/module{n}/*.rs"),
            2 => format!("docs/**/page{n}.md"),
            _ => format!("src/file{n}.rs"),
        };
        take(&mut app, &home.cwd, &format!("s{}", n % 40), &what).unwrap();
    }
    drop(app);
    home.payload("s45");
    let call = |name: &str, tool: &str, input: serde_json::Value| {
        let payload = home.dir.path().join(format!("{name}.json"));
        let call = json!({ "session_id": "s45", "cwd": home.cwd, "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input });
        std::fs::write(&payload, call.to_string()).unwrap();
        payload
    };
    let free = call("free", "Edit", json!({ "file_path": home.cwd.join("src/free.rs") }));
    let held = call("held", "Edit", json!({ "file_path": home.cwd.join("src/file3.rs") }));
    let shell = call(
        "shell",
        "Bash",
        json!({ "command": "cd src && sed -i 's/old/new/' free.rs && cargo fmt --check" }),
    );
    let looks = call("looks", "Bash", json!({ "command": "grep -rn 'fn login' src | head -20" }));
    let mut floor = Command::new(release("floor"));
    sealed(&mut floor, Path::new("/dev/null"));
    let mut candidates = [
        ("floor: a process that does nothing", floor, &free),
        ("PreToolUse(Edit), free", home.hook("PreToolUse", &free), &free),
        ("PreToolUse(Edit), held by another: denied", home.hook("PreToolUse", &held), &held),
        ("PreToolUse(Bash), writes what is free", home.hook("PreToolUse", &shell), &shell),
        ("PreToolUse(Bash), only looks", home.hook("PreToolUse", &looks), &looks),
    ];
    let mut taken: Vec<Vec<Duration>> = candidates.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for _ in 0..rounds {
        for ((_, command, stdin), taken) in candidates.iter_mut().zip(&mut taken) {
            command.stdin(std::fs::File::open(stdin).unwrap());
            taken.push(once(command));
        }
    }
    println!("the guard, 500 reservations of 40 others, {rounds} rounds interleaved, spawn + wait, µs");
    println!("{:42} {:>8} {:>8} {:>8}", "", "median", "p95", "ratio");
    let samples: Vec<Sample> = taken.into_iter().map(Sample::new).collect();
    let floor = samples[0].quantile(0.5);
    for ((name, ..), sample) in candidates.iter().zip(&samples) {
        let (median, p95) = (sample.quantile(0.5), sample.quantile(0.95));
        println!("{name:42} {median:8.0} {p95:8.0} {:8.2}", median / floor);
    }
    println!();
}

fn take(app: &mut App, cwd: &Path, session: &str, what: &str) -> Option<()> {
    let request = HoldRequest {
        caller: caller(app, session),
        cwd: cwd.to_owned(),
        what: vec![what.to_owned()],
        strength: Strength::Blocking,
        mode: Mode::Exclusive,
        reason: None,
        ttl: None,
    };
    app.hold(&request).ok().map(drop)
}

/// All want the same at the same time, round after round: one gets it.
fn race(what: &str, processes: usize, rounds: usize) {
    let home = Home::new(processes, 100);
    std::fs::write(home.cwd.join("spec.md"), "## TASK-01: the only one\n").unwrap();
    let mut racers: Vec<Child> = (0..processes)
        .map(|n| {
            let mut racer = Command::new(release("bench"));
            let session = format!("s{n}");
            sealed(
                racer.args([RACER, what, home.dir.path().to_str().unwrap(), &session]),
                Path::new("/dev/null"),
            );
            racer.current_dir(&home.cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let start = Instant::now();
    let mut wrong = 0;
    for _ in 0..rounds {
        let winners = all(&mut racers, b'g').into_iter().filter(|answer| *answer == b'w').count();
        wrong += usize::from(winners != 1);
        all(&mut racers, b'e');
    }
    let took = start.elapsed();
    for mut racer in racers {
        drop(racer.stdin.take());
        racer.wait().unwrap();
    }
    let sound = if home.is_sound() { "sound" } else { "DAMAGED" };
    println!(
        "{processes} processes race for one {what}, {rounds} rounds: {:.0} rounds/s ({:.0} tries/s), {wrong} without \
         exactly one winner, journal {sound}",
        rounds as f64 / took.as_secs_f64(),
        (rounds * processes) as f64 / took.as_secs_f64(),
    );
}

/// Says a word to all, and hears what each answers.
fn all(racers: &mut [Child], word: u8) -> Vec<u8> {
    for racer in &mut *racers {
        racer.stdin.as_mut().unwrap().write_all(&[word]).unwrap();
    }
    let answer = |racer: &mut Child| {
        let mut answer = [0];
        racer.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
        answer[0]
    };
    racers.iter_mut().map(answer).collect()
}

/// One that races: tries when told to, and lets go when told to.
pub(crate) fn be_a_racer(what: &str, home: &Path, session: &str) {
    let store = Store::new(home.join("consort.db"), Access::Command);
    let mut app = App::new(store, Machine::new(home));
    let cwd = std::env::current_dir().unwrap();
    let task = |app: &mut App| TaskRequest {
        caller: caller(app, session),
        cwd: cwd.clone(),
        spec: Some("spec.md".into()),
        id: Some("TASK-01".into()),
        words: None,
        is_for_new: false,
    };
    let (mut stdin, mut stdout) = (std::io::stdin(), std::io::stdout());
    let mut has_won = false;
    let mut word = [0];
    while stdin.read_exact(&mut word).is_ok() {
        let is_task = what == "task";
        let answer = match word[0] {
            b'g' => {
                has_won = match is_task {
                    true => {
                        let task = task(&mut app);
                        app.claim_task(&task)
                    }
                    .is_ok(),
                    false => take(&mut app, &cwd, session, "the/only/one.rs").is_some(),
                };
                if has_won { b'w' } else { b'l' }
            }
            _ if has_won && is_task => {
                let task = task(&mut app);
                app.unclaim_task(&task).unwrap();
                b'k'
            }
            _ if has_won => {
                let what = Which::Mine;
                let (caller, cwd) = (caller(&mut app, session), cwd.clone());
                app.release(&ReleaseRequest { caller, cwd, what, strength: None, force: false }).unwrap();
                b'k'
            }
            _ => b'k',
        };
        stdout.write_all(&[answer]).unwrap();
        stdout.flush().unwrap();
    }
}
