//! Tests of the budgets of runs.

use super::stage::Stage;
use super::stage::of_runs;

fn in_cents(dollars: &serde_json::Value) -> i64 {
    (dollars.as_f64().unwrap_or_else(|| panic!("{dollars}")) * 100.0).round() as i64
}

/// Returns the cost of all runs of today, in cents.
fn spent(stage: &Stage) -> i64 {
    let cost = stage.json(&["runs", "cost"]);
    cost["items"].as_array().unwrap().iter().map(|one| in_cents(&one["cost_usd"])).sum()
}

#[test]
fn a_streaming_run_is_stopped_at_its_cap_and_keeps_its_partial_result() {
    let stage = Stage::new();
    let ran = stage.ran(&["run", "--cli", "opencode", "--budget", "0.5", "{steps 300 0.05}"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stdout.starts_with("step "), "{ran}");
    let run = stage.show("1");
    assert_eq!(run["state"], "budget_exceeded", "{run}");
    let cents = in_cents(&run["cost_usd"]);
    assert!((50..=150).contains(&cents), "{cents} cents of 50");
    assert!(of_runs(&stage).is_empty());
    assert_eq!(spent(&stage), cents, "it is charged");
    stage.is_sound();
}

#[test]
fn what_is_not_left_is_refused_before_anything_starts() {
    let stage = Stage::new();
    stage.set("budget.day", "1");
    assert_eq!(stage.run("{say a}{cost 0.6}").code, 0);
    let ran = stage.run("{say b}{cost 0.6}");
    assert_eq!(ran.code, 4, "{ran}");
    assert!(ran.stderr.contains("not started (budget)") && ran.stderr.contains("$0.40"), "{ran}");
    assert_eq!((stage.list().len(), stage.calls().len()), (1, 1), "what was refused is no run");
    // A run whose own budget is still left is started.
    assert_eq!(stage.ran(&["run", "--budget", "0.2", "{say c}{cost 0.2}"]).code, 0);
    assert_eq!(spent(&stage), 80);
    stage.is_sound();
}

#[test]
fn failed_runs_are_charged_and_what_is_unknown_is_said() {
    let stage = Stage::new();
    assert_eq!(stage.run("{cost 0.3}{fail no}").code, 8);
    assert_eq!(stage.run("{say free?}").code, 0);
    assert_eq!(spent(&stage), 30);
    let cost = stage.ran(&["runs", "cost"]);
    assert!(cost.stdout.contains("$0.30 + 1 run of unknown cost"), "{cost}");
    assert!(stage.list()[0]["cost_usd"].is_null());
    assert!(stage.ran(&["runs", "list"]).stdout.contains("unknown"));
}

/// Money that is set aside for one run is not available to another.
#[test]
fn parallel_starts_never_exceed_the_day() {
    let stage = Stage::new();
    stage.set("budget.day", "2");
    assert_eq!(stage.run("{say known now}{cost 0.5}").code, 0);
    let codes: Vec<i32> = std::thread::scope(|scope| {
        let start = || stage.run("{sleep 2}{say more}{cost 0.5}").code;
        let all: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let started = codes.iter().filter(|code| **code == 0).count();
    assert!(codes.iter().all(|code| [0, 4].contains(code)), "{codes:?}");
    // The bound allows for a run that gets more money just before it ends.
    assert!((1..=3).contains(&started), "{codes:?}");
    assert_eq!(spent(&stage), 50 + 50 * started as i64);
    let states: Vec<String> = stage.list().iter().map(|run| run["state"].to_string()).collect();
    assert!(states.iter().all(|state| state == "\"done\""), "none is stopped that has answered: {states:?}");
    stage.is_sound();
}

#[test]
fn tokens_have_a_cap_too() {
    let stage = Stage::new();
    let roles = stage.world.project().join(".consort");
    std::fs::create_dir_all(&roles).unwrap();
    std::fs::write(roles.join("roles.toml"), "[dev]\ntoken_budget = 100\n").unwrap();
    let ran = stage.ran(&["run", "--cli", "opencode", "{steps 300 0}"]);
    assert_eq!(ran.code, 4, "{ran}");
    assert_eq!(stage.list()[0]["state"], "budget_exceeded");
}
