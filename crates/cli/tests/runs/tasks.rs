//! Tests of runs that take tasks of a spec.

use std::fs;

use consort_testkit::until;
use serde_json::Value;

use super::stage::Stage;
use super::stage::parent;
use super::stage::signal;

fn stage() -> Stage {
    let stage = Stage::new();
    let spec =
        "# Shop\n\n- [ ] T-1: {say first}\n- [ ] T-2: {say second} (depends: T-1)\n- [ ] T-3: {exit 1}\n";
    fs::write(stage.world.project().join("spec.md"), spec).unwrap();
    stage
}

/// Returns the state of a task, in a word.
fn task(stage: &Stage, id: &str) -> String {
    let tasks = stage.json(&["task", "list", "--spec", "spec.md"]);
    let task = tasks["items"].as_array().unwrap().iter().find(|task| task["id"] == id).unwrap().clone();
    match &task["record"]["state"] {
        Value::Object(state) => state.keys().next().unwrap().clone(),
        _ => "untouched".into(),
    }
}

#[test]
fn a_run_takes_the_next_task_and_completes_it() {
    let stage = stage();
    let ran = stage.ran(&["run", "--task", "next", "--spec", "spec.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "first\n"), "{ran}");
    assert_eq!(task(&stage, "T-1"), "done");
    let prompt = stage.calls()[0]["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.starts_with("Do task T-1: ") && prompt.contains("spec.md"), "{prompt}");
    assert_eq!(stage.show("1")["takes"], serde_json::json!({ "spec": "spec.md", "id": "T-1" }));
    // The task that depended on it is ready, and words beside the task become part of the prompt.
    let ran = stage.ran(&["run", "--task", "T-2", "--spec", "spec.md", "and {say besides}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "besides\n"), "{ran}");
    assert_eq!(task(&stage, "T-2"), "done");
    let ran = stage.ran(&["run", "--task", "T-2", "--spec", "spec.md"]);
    assert!(ran.code == 4 && ran.stderr.contains("was completed by"), "{ran}");
    assert_eq!(stage.list().len(), 2, "what was refused is no run");
    stage.is_sound();
}

#[test]
fn a_run_that_fails_gives_its_task_back() {
    let stage = stage();
    let ran = stage.ran(&["run", "--task", "T-3", "--spec", "spec.md"]);
    assert_eq!(ran.code, 8, "{ran}");
    assert_eq!(task(&stage, "T-3"), "free");
    // A retry of the run takes the task again.
    let ran = stage.ran(&["runs", "retry", "1"]);
    assert_eq!((ran.code, task(&stage, "T-3").as_str()), (8, "free"), "{ran}");
    assert_eq!(stage.show("2")["takes"]["id"], "T-3");
    let ran = stage.ran(&["runs", "resume", "2", "{say well}"]);
    assert_eq!((ran.code, task(&stage, "T-3").as_str()), (0, "done"), "{ran}");
    stage.is_sound();
}

/// No other run takes the task meanwhile, and it is free again however the run ends.
#[test]
fn a_task_is_the_runs_while_it_runs() {
    let stage = stage();
    let number = stage.detach(&["--task", "T-1", "--spec", "spec.md", "{consort whoami}{sleep 60}"]);
    let worker = stage.called(1)[0]["pid"].as_u64().unwrap() as u32;
    assert_eq!(task(&stage, "T-1"), "claimed");
    let name = stage.show(&number)["agent"]["name"].clone();
    let its_task = || {
        let who = stage.json(&["who"]);
        let agent = who["items"].as_array().unwrap().iter().find(|agent| agent["name"] == name);
        agent.map(|agent| agent["task"].clone())
    };
    let told = until("a run is an agent", its_task, Option::is_some);
    assert_eq!(told.unwrap(), "T-1");
    for word in ["T-1", "next"] {
        let ran = stage.ran(&["run", "--task", word, "--spec", "spec.md", "{say mine}"]);
        // The only other task that is ready makes its run fail.
        assert!(matches!(ran.code, 4 | 8), "{word}: {ran}");
        assert_eq!(task(&stage, "T-1"), "claimed", "{word}");
    }
    signal(parent(worker).unwrap(), 9);
    assert_eq!(stage.ended(&number)["state"], "interrupted");
    assert_eq!(task(&stage, "T-1"), "free");
    stage.is_sound();
}

/// The agent of the run may complete or drop its task, and the run's end does not change that.
#[test]
fn its_agent_may_complete_it_or_give_it_back() {
    let stage = stage();
    let ran = stage.ran(&["run", "--task", "T-1", "--spec", "spec.md", "{consort task|done}"]);
    assert!(ran.code == 0 && ran.stdout.contains("Completed T-1"), "{ran}");
    assert_eq!(task(&stage, "T-1"), "done");
    let ran = stage.ran(&["run", "--task", "T-2", "--spec", "spec.md", "{consort task|drop}"]);
    assert!(ran.stdout.contains("Gave back T-2"), "{ran}");
    assert_eq!(task(&stage, "T-2"), "free");
    stage.is_sound();
}

/// Several runs that take the next task at once each get a different task.
#[test]
fn no_two_runs_take_the_same_task() {
    let stage = Stage::new();
    let lines: String = (1..=4).map(|at| format!("- [ ] T-{at}: {{say done {at}}}\n")).collect();
    fs::write(stage.world.project().join("spec.md"), lines).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let ran = stage.ran(&["run", "--task", "next", "--spec", "spec.md"]);
                assert_eq!(ran.code, 0, "{ran}");
            });
        }
    });
    let mut taken: Vec<String> =
        stage.list().iter().map(|run| run["takes"]["id"].as_str().unwrap().to_owned()).collect();
    taken.sort();
    assert_eq!(taken, ["T-1", "T-2", "T-3", "T-4"]);
    stage.is_sound();
}
