//! Tests of many real processes that want the same path or task, some of them killed.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_testkit::Sealed;
use serde_json::Value;

const AGENTS: usize = 16;

fn world() -> Sealed {
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    for n in 1..=AGENTS {
        let line = format!("agent join --pid $OTHER --kind test --session s{n} --name Agent{n}");
        assert_eq!(world.run(&line).code, 0);
    }
    world
}

/// Runs a command as an agent; `None` if it was killed on the way.
fn run(world: &Sealed, agent: usize, arguments: &[&str], kill_after: Option<u64>) -> Option<(i32, String)> {
    let mut command = world.consort(arguments.iter().copied());
    let child = world.spawn_as_agent(command.env("CONSORT_SESSION", format!("s{agent}")));
    if let Some(micros) = kill_after {
        std::thread::sleep(Duration::from_micros(micros));
        child.kill();
    }
    let (output, _, code) = child.output(b"");
    // The code is negative if a signal ended the process.
    (code >= 0).then(|| (code, String::from_utf8_lossy(&output).into_owned()))
}

fn assert_sound(world: &Sealed) {
    let verify: Value = serde_json::from_str(&world.run("journal verify --json").stdout).unwrap();
    for check in ["missing", "differences", "integrity", "unknown"] {
        assert_eq!(verify["journal"][check], serde_json::json!([]), "{check}");
    }
}

#[test]
fn a_path_has_one_holder_at_a_time_with_holders_killed() {
    let world = world();
    // The agent that believes to hold the path; 0 is nobody.
    let holder = AtomicUsize::new(0);
    let (granted, killed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for agent in 1..=AGENTS {
            let (world, holder, granted, killed) = (&world, &holder, &granted, &killed);
            scope.spawn(move || {
                for round in 0..25usize {
                    let seed = (agent * 7_919 + round * 104_729) as u64;
                    let kill_after = seed.is_multiple_of(3).then_some(seed % 25_000);
                    let what = ["the/only/one.rs", "the/only/", "the/**/*.rs"][round % 3];
                    match run(world, agent, &["reserve", what], kill_after) {
                        None => drop(killed.fetch_add(1, Ordering::SeqCst)),
                        Some((0, _)) => {
                            granted.fetch_add(1, Ordering::SeqCst);
                            let before = holder.swap(agent, Ordering::SeqCst);
                            assert!(before == 0 || before == agent, "{before} and {agent} both hold it");
                            std::thread::sleep(Duration::from_millis(2));
                            assert_eq!(holder.swap(0, Ordering::SeqCst), agent, "taken away");
                        }
                        Some((code, _)) => assert_eq!(code, 4),
                    }
                    // Releases also what a killed command may have reserved.
                    let (code, _) = run(world, agent, &["release"], None).unwrap();
                    assert_eq!(code, 0);
                }
            });
        }
    });
    let (granted, killed) = (granted.into_inner(), killed.into_inner());
    assert!(granted > 10 && killed > 10, "{granted} granted, {killed} killed: this tried too little");
    assert_eq!(world.run("holds list").stdout, "Nothing is reserved.\n");
    assert!(!std::fs::read_to_string(world.data().join("published/store")).unwrap().contains("\nby\t"));
    assert_sound(&world);
}

#[test]
fn every_task_is_done_once_with_workers_killed() {
    let world = world();
    let spec: String = (1..=60).map(|n| format!("- [ ] TASK-{n}: do {n}\n")).collect();
    std::fs::write(world.project().join("spec.md"), spec).unwrap();
    let done = std::sync::Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for agent in 1..=AGENTS {
            let (world, done) = (&world, &done);
            scope.spawn(move || {
                for round in 0..400usize {
                    let seed = (agent * 7_919 + round * 104_729) as u64;
                    let kill_after =
                        |salt: u64| (seed + salt).is_multiple_of(4).then_some((seed + salt) % 25_000);
                    let next = ["task", "next", "--spec", "spec.md", "--json"];
                    if let Some((4, _)) = run(world, agent, &next, kill_after(0))
                        && world.run("task list --spec spec.md").stdout.contains("60 of 60 done")
                    {
                        return;
                    }
                    // Completes the task in hand, even if it was claimed by a command that was killed.
                    let complete = ["task", "done", "--spec", "spec.md", "--json"];
                    if let Some((0, said)) = run(world, agent, &complete, kill_after(1)) {
                        let said: Value = serde_json::from_str(&said).unwrap();
                        let id = said["task"]["id"].as_str().unwrap().to_owned();
                        assert!(done.lock().unwrap().insert(id.clone()), "{id} was done twice");
                    }
                }
                panic!("it does not come to an end");
            });
        }
    });
    let journal = world.run("journal tail -n 100000 --json").stdout;
    let mut completed = BTreeSet::new();
    let journal: Value = serde_json::from_str(&journal).unwrap();
    for entry in journal["items"].as_array().unwrap() {
        for change in entry["changes"].as_array().unwrap() {
            if let Some(id) = change["change"]["completed"]["id"].as_str() {
                assert!(completed.insert(id.to_owned()), "{id} was completed twice");
            }
        }
    }
    assert_eq!(completed.len(), 60);
    assert!(done.into_inner().unwrap().is_subset(&completed), "what was acknowledged is recorded");
    assert_sound(&world);
}
