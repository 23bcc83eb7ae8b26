//! Tests of batches: several tasks side by side.

use std::fs;

use serde_json::Value;

use super::stage::Stage;

/// Runs a batch; returns the JSON line of each result, and the exit code.
fn results(stage: &Stage, arguments: &[&str]) -> (Vec<Value>, i32) {
    let ran = stage.ran(&[&["runs", "batch", "--json"], arguments].concat());
    let lines = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{ran}")));
    (lines.collect(), ran.code)
}

#[test]
fn answers_of_many_are_never_mixed() {
    let stage = Stage::new();
    let many = 32;
    let tasks: Vec<String> =
        (0..many).map(|at| format!("task {at}: {{say part {at}}}{{tool Bash}}{{say answer {at}}}")).collect();
    fs::write(stage.world.project().join("tasks.txt"), format!("# all of them\n\n{}\n", tasks.join("\n")))
        .unwrap();
    let (found, code) = results(&stage, &["tasks.txt", "--concurrency", "32", "--stagger", "0ms"]);
    assert_eq!((found.len(), code), (many, 0), "{found:?}");
    let mut seen: Vec<i64> = Vec::new();
    for one in &found {
        let run = &one["run"];
        let task = run["task"].as_str().unwrap();
        let number: i64 = task.strip_prefix("task ").unwrap().split(':').next().unwrap().parse().unwrap();
        assert_eq!(run["result"], format!("answer {number}"), "{run}");
        assert_eq!(run["state"], "done");
        seen.push(number);
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..many as i64).collect::<Vec<_>>());
    for (at, one) in found.iter().enumerate() {
        for other in &found[at + 1..] {
            let (one, other) = (&one["run"], &other["run"]);
            let time = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
            let is_beside = time(one, "asked_at") < time(other, "ended_at")
                && time(other, "asked_at") < time(one, "ended_at");
            assert!(!is_beside || one["agent"]["name"] != other["agent"]["name"], "{one} {other}");
        }
    }
    assert_eq!(stage.list().len(), many);
    stage.is_sound();
}

#[test]
fn results_come_as_they_are_there() {
    let stage = Stage::new();
    let (found, code) = results(&stage, &["{sleep 3}{say slow}", "{say quick}", "--stagger", "0ms"]);
    let said: Vec<&Value> = found.iter().map(|one| &one["run"]["result"]).collect();
    assert_eq!((said, code), (vec![&"quick".into(), &"slow".into()], 0));
    let ran = stage.ran(&["runs", "batch", "{say again}"]);
    assert!(ran.stderr.contains("1 task: ") && ran.stderr.contains("1 of 1 task done"), "{ran}");
}

#[test]
fn what_one_failure_means_for_the_others_is_chosen() {
    let stage = Stage::new();
    let tasks = ["{exit 1}", "{sleep 1}{say second}", "{say third}"];
    let batch = |more: &[&str]| {
        results(&stage, &[&tasks[..], &["--concurrency", "1", "--stagger", "0ms"], more].concat())
    };
    let (found, code) = batch(&["--on-failure", "stop"]);
    assert_eq!((found.len(), code), (1, 8), "{found:?}");
    let (found, code) = batch(&["--on-failure", "continue"]);
    assert_eq!((found.len(), code), (3, 8), "{found:?}");
    let (found, code) = results(
        &stage,
        &["{say quick}", "{sleep 60}", "--stagger", "0ms", "--on-failure", "deadline", "--within", "4s"],
    );
    let states: Vec<&Value> = found.iter().map(|one| &one["run"]["state"]).collect();
    assert_eq!((states, code), (vec![&"done".into(), &"cancelled".into()], 8));
    let ran = stage.ran(&["runs", "batch", "{say x}", "--on-failure", "deadline"]);
    assert_eq!(ran.code, 2, "{ran}");
    stage.is_sound();
}

#[test]
fn a_mistake_in_a_file_starts_nothing() {
    let stage = Stage::new();
    fs::write(stage.world.project().join("tasks.toml"), "[[tasks]]\ntask = \"{say a}\"\nrol = \"dev\"\n")
        .unwrap();
    let ran = stage.ran(&["runs", "batch", "tasks.toml"]);
    assert!(ran.code == 1 && ran.stderr.contains("line 3, column 1"), "{ran}");
    assert_eq!(stage.list().len(), 0);
}

#[test]
fn a_file_that_is_not_there_is_no_task() {
    let stage = Stage::new();
    for words in [&["/nonexistent/tasks.txt"][..], &["tasks.toml"], &["{say one}", "plan.md"]] {
        let ran = stage.ran(&[&["runs", "batch"], words].concat());
        assert!(ran.code == 1 && ran.stderr.contains("there is no file"), "{ran}");
    }
    assert!(stage.list().is_empty());
    // A single word can be a task.
    assert_eq!(stage.ran(&["runs", "batch", "{echo}"]).code, 0);
}
