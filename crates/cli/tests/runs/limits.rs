//! Tests of providers' limits: runs wait for the end of a limit, and go on one by one.

use consort_testkit::until;

use super::stage::Stage;

#[test]
fn a_run_waits_for_the_end_of_a_limit_and_goes_on_in_its_session() {
    let stage = Stage::new();
    let number = stage.detach(&["{limit 8}{say never}"]);
    let run = until("it is parked", || stage.show(&number), |run| !run["parked_until_at"].is_null());
    assert_eq!(run["state"], "pending", "{run}");
    assert!(stage.ran(&["runs", "list"]).stdout.contains("waits until "));
    // Other runs are not started before the limit ends.
    let early = stage.run("{say too early}");
    assert!(early.code == 4 && early.stderr.contains("not started (provider)"), "{early}");
    let calls = stage.called(2);
    assert_eq!(calls[1]["resumed"], format!("session-{}", calls[0]["pid"]), "{calls:?}");
    assert!(calls[1]["prompt"].as_str().unwrap().contains("Go on"), "{calls:?}");
    assert!(stage.ran(&["runs", "logs", &number]).stdout.contains("waits until "));
    let run = stage.ended(&number);
    // The stub does nothing with the prompt to go on, so the run fails.
    assert_eq!(run["state"], "error", "{run}");
    assert_eq!(
        (run["cost_usd"].as_f64(), run["parked_until_at"].is_null()),
        (Some(0.25), true),
        "what the first attempt cost counts"
    );
    stage.is_sound();
}

#[test]
fn a_parked_run_can_be_stopped() {
    let stage = Stage::new();
    let number = stage.detach(&["{say before}{limit 600}"]);
    until("it is parked", || stage.show(&number), |run| !run["parked_until_at"].is_null());
    let ran = stage.ran(&["runs", "stop", &number]);
    assert!(ran.code == 0 && ran.stdout.contains("cancelled"), "{ran}");
    assert_eq!(stage.calls().len(), 1);
}

/// A worker whose CLI would try again for ever is ended, and its run waits for the end of the limit.
#[test]
fn a_run_whose_cli_waits_for_ever_is_parked() {
    let stage = Stage::new();
    let number = stage.detach(&["--cli", "opencode", "{stuck}{say never}"]);
    let run = until("it is parked", || stage.show(&number), |run| !run["parked_until_at"].is_null());
    assert_eq!(run["state"], "pending", "{run}");
    let pid = stage.calls()[0]["pid"].as_u64().unwrap() as u32;
    assert!(!super::stage::is_alive(pid), "its worker is ended");
    let ran = stage.ran(&["runs", "stop", &number]);
    assert!(ran.code == 0 && ran.stdout.contains("cancelled"), "{ran}");
}

/// Ten runs that meet the limit in the same moment go on one after the other.
#[test]
fn parked_runs_do_not_come_back_all_at_once() {
    let stage = Stage::new();
    let runs: Vec<String> = std::thread::scope(|scope| {
        let start = || stage.detach(&["{sleep 1}{limit 900}"]);
        let all: Vec<_> = (0..10).map(|_| scope.spawn(start)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let parked = || -> Vec<String> {
        stage.list().iter().filter_map(|run| run["parked_until_at"].as_str().map(str::to_owned)).collect()
    };
    let mut times = until("all are parked", parked, |times| times.len() == 10);
    times.sort();
    times.dedup();
    assert_eq!(times.len(), 10, "each has a time of its own: {times:?}");
    assert_eq!(runs.len(), 10);
    assert_eq!(stage.ran(&["runs", "stop", "--all", "--now"]).code, 0);
    stage.is_sound();
}
