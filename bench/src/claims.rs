//! Benchmarks of claims: the cost of the guard before a write, and races for one path or task.

use std::io::Read as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

use consort_bench::Home;
use consort_bench::caller;
use consort_bench::once;
use consort_bench::release;
use consort_bench::sealed;
use consort_core::App;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldRequest;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::tasks::TaskRequest;
use consort_host::Machine;
use consort_sqlite::Store;
use consort_sqlite::StoreUser;
use serde_json::json;

use crate::candidate;
use crate::floor;
use crate::interleaved;
use crate::table;

/// The argument that makes this program a process of the race.
pub(crate) const RACER: &str = "racer";

pub(crate) fn run(rounds: usize, races: usize) {
    guard(rounds, 500);
    guard(rounds.min(300), 5_000);
    for what in ["path", "task"] {
        race(what, 64, races);
    }
}

/// Measures a hook before a write, beside reservations of others.
fn guard(rounds: usize, reservations: usize) {
    let home = Home::new(50, 10_000);
    let mut app = home.app();
    for owner in 0..40 {
        let of_owner = (0..reservations).filter(|n| n % 40 == owner).map(|n| match n % 5 {
            0 => format!("src/module{n}/"),
            1 => format!("src/module{n}/*.rs"),
            2 => format!("docs/**/page{n}.md"),
            _ => format!("src/file{n}.rs"),
        });
        take(&mut app, &home.cwd, &format!("s{owner}"), of_owner.collect()).unwrap();
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
    let status = home.consort(&["status"]);
    home.enter();
    let candidates = vec![
        candidate("floor: a process that does nothing", floor(&free), &free),
        candidate("PreToolUse(Edit), free", home.hook("PreToolUse", &free), &free),
        candidate("PreToolUse(Edit), held by another: denied", home.hook("PreToolUse", &held), &held),
        candidate("PreToolUse(Bash), writes what is free", home.hook("PreToolUse", &shell), &shell),
        candidate("PreToolUse(Bash), only looks", home.hook("PreToolUse", &looks), &looks),
        candidate("status", status, &free),
    ];
    interleaved(&format!("the guard, {reservations} reservations of 40 others"), rounds, candidates);
    reserving(&home, rounds.min(200), reservations);
}

/// Measures `reserve` and `release`, each round with another path.
fn reserving(home: &Home, rounds: usize, reservations: usize) {
    let run = |arguments: &[&str]| once(&mut home.consort(arguments));
    let mut taken = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        let path = format!("src/new{round}.rs");
        taken[0].push(once(&mut floor(Path::new("/dev/null"))));
        taken[1].push(run(&["reserve", &path]));
        taken[2].push(run(&["release", &path]));
    }
    let names = ["floor: a process that does nothing", "reserve", "release"].map(str::to_owned);
    table(
        &format!("beside {reservations} reservations, {rounds} rounds, spawn + wait, µs"),
        names.into_iter().zip(taken),
    );
}

fn take(app: &mut App, cwd: &Path, session: &str, what: Vec<String>) -> Option<()> {
    let request = HoldRequest {
        caller: caller(app, session),
        cwd: cwd.to_owned(),
        what,
        strength: Strength::Blocking,
        mode: HoldMode::Exclusive,
        reason: None,
        ttl: None,
    };
    app.hold(&request).ok().map(drop)
}

/// Lets many processes try to take the same path or task at the same time, round after round, and
/// counts the rounds without exactly one winner.
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

/// Sends a byte to all racers, and returns what each answers.
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

/// Plays one process of the race: tries when told to, and releases when told to.
pub(crate) fn be_a_racer(what: &str, home: &Path, session: &str) {
    let store = Store::new(home.join("consort.db"), StoreUser::Command);
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
                    false => take(&mut app, &cwd, session, vec!["the/only/one.rs".to_owned()]).is_some(),
                };
                if has_won { b'w' } else { b'l' }
            }
            _ if has_won && is_task => {
                let task = task(&mut app);
                app.unclaim_task(&task).unwrap();
                b'k'
            }
            _ if has_won => {
                let what = ReleaseTarget::Mine;
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
