//! Tests of supervisors, workers and their children that are killed.

use std::time::Duration;
use std::time::Instant;

use consort_testkit::random_below;
use consort_testkit::rounds;
use consort_testkit::until;

use super::stage::Stage;
use super::stage::is_alive;
use super::stage::of_runs;
use super::stage::parent;
use super::stage::signal;

/// Waits until a process is gone, which may take the kernel some seconds.
fn gone(pid: u32) {
    let since = Instant::now();
    until("it is gone", || is_alive(pid), |alive| !alive);
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}

#[test]
fn a_worker_dies_with_its_supervisor_and_its_children_at_the_next_command() {
    let stage = Stage::new();
    let number = stage.detach(&["{say begun}{child}{sleep 60}"]);
    let worker = stage.called(1)[0]["pid"].as_u64().unwrap() as u32;
    let child = until("it has a child", || stage.children(), |all| all.len() == 1).remove(0);
    let supervisor = parent(worker).unwrap();
    signal(supervisor, 9);
    gone(worker);
    assert!(child.is_alive(), "it is in a session of its own");
    let list = stage.list();
    assert_eq!(list[0]["state"], "interrupted", "{list:?}");
    assert!(!child.is_alive());
    let run = stage.show(&number);
    assert!(run["cost_usd"].is_null() && !run["ended_at"].is_null(), "{run}");
    // The session is known from the worker's output, so the run can be resumed.
    let ran = stage.ran(&["runs", "resume", &number, "{say went on}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "went on\n"), "{ran}");
    assert_eq!(stage.calls()[1]["resumed"], format!("session-{worker}"));
    stage.is_sound();
}

/// A command that waits for the run returns.
#[test]
fn a_supervisor_that_dies_is_noticed_by_who_waits() {
    let stage = Stage::new();
    let mut waiting = stage.spawn(&["run", "{child}{sleep 60}"]);
    let worker = stage.called(1)[0]["pid"].as_u64().unwrap() as u32;
    until("it has a child", || stage.children(), |all| all.len() == 1);
    signal(parent(worker).unwrap(), 9);
    assert_eq!(waiting.wait().unwrap().code(), Some(8));
    assert_eq!(stage.state("1"), "interrupted");
    assert!(!stage.children()[0].is_alive());
}

#[test]
fn a_worker_that_is_killed_has_failed() {
    let stage = Stage::new();
    let number = stage.detach(&["{say a part}{child}{sleep 60}"]);
    let worker = stage.called(1)[0]["pid"].as_u64().unwrap() as u32;
    until("it has a child", || stage.children(), |all| all.len() == 1);
    signal(worker, 9);
    let run = stage.ended(&number);
    assert_eq!(run["state"], "error", "{run}");
    assert!(run["error"].as_str().unwrap().contains("signal 9"), "{run}");
    assert_eq!(run["result"], "a part");
    assert!(!stage.children()[0].is_alive());
    stage.is_sound();
}

/// Whatever process is killed at whatever time, nothing runs on, no run is lost or doubled, and each
/// run's state is what was seen.
#[test]
fn kills_at_random_leave_no_orphans_and_honest_states() {
    let stage = Stage::new();
    let many = rounds(12, 200);
    let mut killed = [0; 3];
    for round in 0..many {
        // Starts four runs, each with a role of its own, because failures are counted per role.
        let runs: Vec<String> = (0..4)
            .map(|at| {
                stage.detach(&[
                    "--role",
                    ["dev", "scout", "builder", "planner"][at],
                    "--safety",
                    "suggest",
                    "{say begun}{child}{sleep 0.4}{say done}",
                ])
            })
            .collect();
        let wait = Duration::from_millis(random_below(700));
        std::thread::sleep(wait);
        let whom = random_below(3) as usize;
        let found = of_runs(&stage);
        let at = random_below(found.len().max(1) as u64) as usize;
        if let Some(victim) = found.get(at).and_then(|pid| victim(&stage, whom, *pid)) {
            signal(victim, 9);
            killed[whom] += 1;
        }
        for number in &runs {
            let run = stage.ended(number);
            let state = run["state"].as_str().unwrap();
            match state {
                "done" => assert_eq!(run["result"], "done", "round {round}: {run}"),
                "error" => {
                    assert!(run["error"].as_str().unwrap().contains("signal 9"), "round {round}: {run}")
                }
                "interrupted" => {}
                _ => panic!("round {round}: {run}"),
            }
        }
        stage.list();
        let left = of_runs(&stage);
        assert!(left.is_empty(), "round {round}: {left:?}");
        assert!(!stage.children().iter().any(|child| child.is_alive()), "round {round}");
        // Successes in between, because failures in a row would stop new runs.
        if round % 2 == 1 {
            for role in ["dev", "scout", "builder", "planner"] {
                assert_eq!(stage.ran(&["run", "--role", role, "--safety", "suggest", "{say well}"]).code, 0);
            }
        }
    }
    let list = stage.list();
    let mut numbers: Vec<i64> = list.iter().map(|run| run["number"].as_i64().unwrap()).collect();
    numbers.reverse();
    let all = (many * 4 + many / 2 * 4) as i64;
    assert_eq!(
        numbers,
        (1..=all.min(1000)).map(|at| at + (all - 1000).max(0)).collect::<Vec<_>>(),
        "none is lost or there twice"
    );
    let calls = stage.calls();
    let runs: std::collections::BTreeSet<&str> =
        calls.iter().filter_map(|call| call["run"].as_str()).collect();
    assert!(runs.len() == calls.len() && runs.len() <= all as usize, "none was done twice");
    eprintln!(
        "killed: {} supervisors, {} workers, {} children, of {all} runs",
        killed[0], killed[1], killed[2]
    );
    assert!(killed.iter().sum::<i32>() as usize * 3 >= many, "this tried nothing");
    stage.is_sound();
}

/// Chooses the process to kill: the supervisor of a process, the process itself if it is a worker, or
/// a child.
fn victim(stage: &Stage, whom: usize, pid: u32) -> Option<u32> {
    let children = stage.children();
    let is_child = children.iter().any(|child| child.pid == pid && child.is_alive());
    match (whom, is_child) {
        (0, false) => parent(pid).filter(|pid| *pid > 1 && is_supervisor(*pid)),
        (1, false) => Some(pid),
        _ => children.into_iter().rev().find(|child| child.is_alive()).map(|child| child.pid),
    }
}

fn is_supervisor(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("\0supervise\0")
}
