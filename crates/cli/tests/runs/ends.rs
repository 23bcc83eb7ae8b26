//! Tests of the ends of runs: the state and exit code are what was seen.

use std::time::Duration;
use std::time::Instant;

use consort_testkit::until;

use super::stage::Stage;
use super::stage::of_runs;
use super::stage::signal;

#[test]
fn every_end_has_its_state_and_exit_code() {
    let stage = Stage::new();
    for (task, role, code, state, said) in [
        ("{say half}{exit 3}", "dev", 8, "error", "exit"),
        ("{say half}{kill 9}", "dev", 8, "error", "signal 9"),
        ("{say half}{kill 15}", "dev", 8, "error", "signal 15"),
        ("{silent}", "dev", 8, "error", ""),
        ("{garbage}{silent}", "scout", 8, "error", ""),
        ("{say }", "scout", 8, "error", "without a word"),
        ("{fail it broke}", "scout", 8, "error", "it broke"),
        ("{garbage}{say still}", "scout", 0, "done", ""),
    ] {
        let ran = stage.ran(&["run", task, "--role", role]);
        assert_eq!(ran.code, code, "{task}: {ran}");
        assert!(ran.stderr.contains(said), "{task}: {ran}");
        let run = &stage.list()[0];
        assert_eq!(run["state"], state, "{task}: {run}");
        assert_eq!(run["error"].is_null(), state == "done", "{task}: {run}");
        // A cost that nobody reported is unknown, not zero.
        assert!(run["cost_usd"].is_null(), "{task}: {run}");
    }
    assert!(stage.ran(&["runs", "cost"]).stdout.contains("8 runs of unknown cost"));
    stage.is_sound();
}

#[test]
fn what_takes_too_long_is_ended_with_what_there_is() {
    let stage = Stage::new();
    let ran = stage.ran(&["run", "{say as far as I got}{child}{ignore}{sleep 60}", "--timeout", "1s"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (7, "as far as I got\n"), "{ran}");
    let run = &stage.list()[0];
    assert_eq!(run["state"], "timeout");
    assert!(run["agent"]["session"].as_str().unwrap().starts_with("session-"), "{run}");
    assert!(of_runs(&stage).is_empty());
    assert!(!stage.children().iter().any(|child| child.is_alive()));
    stage.is_sound();
}

/// A command that waits for a run is notified of its end, and does not sleep until a next look. The best
/// of a few tries counts, because the machine may be busy.
#[test]
#[expect(clippy::disallowed_methods, reason = "the stub goes by the real clock")]
fn the_end_of_a_run_is_told_at_once() {
    let stage = Stage::new();
    let starts = || std::fs::read_to_string(stage.world.home().join("starts")).unwrap();
    let best = (0..8).map(|_| {
        assert_eq!(stage.run("{say well}").code, 0);
        let returned = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let began: u64 = starts().lines().next_back().unwrap().split(' ').next().unwrap().parse().unwrap();
        returned.saturating_sub(Duration::from_nanos(began))
    });
    // The stub takes most of the time.
    let best = best.min().unwrap();
    assert!(best < Duration::from_millis(80), "{best:?}");
}

/// The supervisor becomes the parent of processes that its worker leaves behind, and ends them,
/// whatever is in their environment.
#[test]
fn nothing_of_a_run_outlives_it() {
    let stage = Stage::new();
    for task in ["{child}{bare}{say done}", "{child}{bare}{kill 9}"] {
        let ran = stage.run(task);
        assert!([0, 8].contains(&ran.code), "{ran}");
        assert!(!stage.children().iter().any(|child| child.is_alive()), "{task}");
    }
    assert_eq!(stage.children().len(), 4);
}

#[test]
fn a_run_is_stopped() {
    let stage = Stage::new();
    let number = stage.detach(&["{say a part}{child}{sleep 60}"]);
    stage.called(1);
    until("it says something", || stage.ran(&["runs", "logs", &number]).stdout, |log| log.contains("a part"));
    let stopped = stage.ran(&["runs", "stop", &number]);
    assert!(stopped.code == 0 && stopped.stdout.contains("cancelled"), "{stopped}");
    let run = stage.show(&number);
    assert_eq!((&run["state"], &run["result"]), (&"cancelled".into(), &"a part".into()));
    assert!(!stage.children().iter().any(|child| child.is_alive()));
    let again = stage.ran(&["runs", "stop", &number]);
    assert!(again.code == 4 && again.stderr.contains("already"), "{again}");
    let runs: Vec<String> = (0..3).map(|_| stage.detach(&["{ignore}{sleep 60}"])).collect();
    stage.called(4);
    let since = Instant::now();
    let all = stage.json(&["runs", "stop", "--all", "--now"]);
    assert!(since.elapsed() < Duration::from_secs(10));
    assert_eq!(all["items"].as_array().unwrap().len(), 3, "{all}");
    assert!(runs.iter().all(|run| stage.state(run) == "cancelled"));
    assert!(stage.ran(&["runs", "stop", "--all"]).stdout.contains("No run is going on"));
    stage.is_sound();
}

/// A detached run does not depend on the process that asked for it.
#[test]
fn a_detached_run_is_its_supervisors_at_once() {
    let stage = Stage::new();
    for _ in 0..10 {
        let number = stage.detach(&["{say yes}"]);
        assert_ne!(stage.list()[0]["state"], "interrupted");
        assert_eq!(stage.ended(&number)["state"], "done");
    }
}

#[test]
fn whoever_waits_may_leave_only_by_stopping_it() {
    let stage = Stage::new();
    let mut waiting = stage.spawn(&["run", "{say so far}{sleep 60}"]);
    stage.called(1);
    signal(waiting.id(), 2);
    assert_eq!(waiting.wait().unwrap().code(), Some(8));
    assert_eq!(stage.list()[0]["state"], "cancelled");
    // A waiting command that is killed leaves its run running.
    let mut waiting = stage.spawn(&["run", "{sleep 2}{say alone}"]);
    stage.called(2);
    waiting.kill().unwrap();
    waiting.wait().unwrap();
    let run = stage.ended("2");
    assert_eq!((&run["state"], &run["result"]), (&"done".into(), &"alone".into()));
}

#[test]
fn a_second_ctrl_c_does_not_wait() {
    let stage = Stage::new();
    let mut command = stage.world.command("python3");
    command.args(["-c", include_str!("ctrl_c.py")]).arg(stage.world.program());
    command.args(["run", "{ignore}{say up}{sleep 60}"]).env("PATH", stage.path());
    let ran = stage.world.ran(&mut command);
    assert!(ran.stdout.contains("Ending it at once."), "{ran}");
    let took = ran.stdout.rsplit("exit 8 after ").next().and_then(|took| took.trim().parse::<u64>().ok());
    // After one Ctrl-C, a worker that ignores the signal would have three seconds.
    assert!(took.is_some_and(|took| took < 2_500), "{ran}");
    assert_eq!(stage.state("1"), "cancelled");
    assert!(of_runs(&stage).is_empty());
    stage.is_sound();
}
