//! Tests of many real processes on one store.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::Value;

/// Starts `n` threads at once and waits for them all.
fn at_once(n: usize, run: impl Fn(usize) + Sync) {
    let gate = std::sync::Barrier::new(n);
    std::thread::scope(|scope| {
        for i in 0..n {
            let (gate, run) = (&gate, &run);
            scope.spawn(move || {
                gate.wait();
                run(i);
            });
        }
    });
}

#[test]
fn sixty_four_sessions_that_want_one_name_get_sixty_four() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    let names = Mutex::new(BTreeSet::new());
    at_once(64, |i| {
        let session = format!("s{i}");
        let arguments =
            ["agent", "join", "--pid", "$OTHER", "--kind", "test", "--session", &session, "--json"];
        let ran = world.ran(world.consort(arguments).env("CONSORT_NAME", "Raven"));
        let outcome: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        let name = outcome["agent"]["name"].as_str().unwrap().to_owned();
        assert!(names.lock().unwrap().insert(name.clone()), "{name} was given twice");
    });
    let names = names.into_inner().unwrap();
    let expected: BTreeSet<String> =
        std::iter::once("Raven".to_owned()).chain((2..=64).map(|n| format!("Raven{n}"))).collect();
    assert_eq!(names, expected);
    // One process made the store; the others made no backup of it.
    let is_copy = |name: &str| name.starts_with("consort.db.v");
    let entries = std::fs::read_dir(world.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let copies: Vec<_> = entries.filter(|name| is_copy(&name.to_string_lossy())).collect();
    assert!(copies.is_empty(), "{copies:?}");
}

#[test]
fn what_was_acknowledged_survives_a_third_of_the_writers_being_killed() {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.run("status");
    let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
    let killed = std::sync::atomic::AtomicUsize::new(0);
    at_once(128, |i| {
        for round in 0..6 {
            let session = format!("s{i}-{round}");
            let arguments = ["agent", "join", "--pid", "$OTHER", "--kind", "test", "--session", &session];
            let mut child = world.consort(arguments).stdout(Stdio::piped()).spawn().unwrap();
            if (i + round) % 3 == 0 {
                // Killed at any moment of its life, with the moments spread over all processes.
                std::thread::sleep(Duration::from_micros((i * 7_919 + round * 104_729) as u64 % 60_000));
                let _ = child.kill();
            }
            let mut said = String::new();
            child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
            let status = child.wait().unwrap();
            if said.starts_with("Joined as ") {
                acknowledged.lock().unwrap().insert(session);
            } else {
                // Only a killed process may have printed nothing.
                assert!(!status.success() && status.code().is_none(), "{session}: {said} {status}");
                killed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    });
    let killed = killed.into_inner();
    assert!(killed > 10, "only {killed} died in time: this tried nothing");

    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify["journal"][check], serde_json::json!([]), "{check}");
    }
    let journal = world.run("journal tail -n 100000 --json").stdout;
    let journal: Value = serde_json::from_str(&journal).unwrap();
    let recorded: BTreeSet<String> = journal["items"].as_array().unwrap().iter().filter_map(joined).collect();
    let acknowledged = acknowledged.lock().unwrap();
    let lost: Vec<_> = acknowledged.difference(&recorded).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}

/// The first of many processes makes the store; none loses what another has recorded.
#[test]
fn forty_eight_sessions_start_on_a_new_machine_at_once() {
    for _ in 0..4 {
        let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
        at_once(48, |i| {
            let call = serde_json::json!({ "session_id": format!("s{i}"), "cwd": world.project() });
            let ran = world.hook("SessionStart", &call);
            assert!(ran.stdout.contains("You are "), "s{i} was told nothing");
        });
        let sessions = std::fs::read_dir(world.data().join("sessions")).unwrap().flatten();
        assert_eq!(sessions.filter(|session| session.path().join("state").exists()).count(), 48);
        assert!(!world.data().join("hook.log").exists());
    }
}

/// Returns the session that an entry has registered.
fn joined(entry: &Value) -> Option<String> {
    let changes = entry["changes"].as_array()?;
    changes.iter().find_map(|kept| kept["change"]["joined"]["session"].as_str().map(str::to_owned))
}
