//! Tests of reviews of finished runs.

use super::stage::Stage;

fn stage() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.world.project().join("a.txt"), "a\n").unwrap();
    stage.world.git(&["add", "."]);
    stage.world.git(&["commit", "-q", "-m", "files"]);
    stage
}

#[test]
fn what_a_run_did_is_reviewed_by_one_that_only_reads() {
    let stage = stage();
    let run = stage.json(&["run", "--review", "{write a.txt something else}{say changed it}"])["run"].clone();
    assert_eq!((&run["state"], &run["result"]), (&"done".into(), &"changed it".into()), "{run}");
    let review = &run["review"];
    assert_eq!(review["state"], "done", "{run}");
    assert_eq!(review["found"]["completed"], serde_json::json!(["the file"]), "{run}");
    assert_eq!(review["found"]["missed"], serde_json::json!(["its tests"]), "{run}");
    assert_eq!(review["found"]["beyond_scope"], serde_json::json!([]), "{run}");
    let reviewer = stage.show("2");
    assert_eq!(
        (&reviewer["role"], &reviewer["safety"]),
        (&"reviewer".into(), &"suggest".into()),
        "{reviewer}"
    );
    assert_eq!(reviewer["reviews"]["run"], run["id"], "{reviewer}");
    let asked = std::fs::read_to_string(
        stage.world.data().join("runs").join(reviewer["id"].as_str().unwrap()).join("prompt"),
    )
    .unwrap();
    for part in ["{say changed it}", "\n-a\n", "\n+something else\n", "Change nothing."] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let tests = stage.show("2")["review"]["tests"].clone();
    assert_eq!(tests, serde_json::json!(["none at all"]));
    // The person is told of the review.
    let inbox = stage.ran(&["inbox"]).stdout;
    assert!(inbox.contains("Review by ") && inbox.contains("its tests"), "{inbox}");
    stage.is_sound();
}

#[test]
fn what_changed_nothing_or_failed_is_not_reviewed() {
    let stage = stage();
    let ran = stage.ran(&["run", "--review", "{say looked}"]);
    assert!(ran.code == 0 && ran.stderr.contains("nothing to review"), "{ran}");
    assert_eq!(stage.ran(&["run", "--review", "{write a.txt half}{exit 1}"]).code, 8);
    assert_eq!(stage.list().len(), 2);
}

/// Returns the prompt of the second run, which reviews the first.
fn asked_of_reviewer(stage: &Stage) -> String {
    let reviewer = stage.show("2");
    let dir = stage.world.data().join("runs").join(reviewer["id"].as_str().unwrap());
    std::fs::read_to_string(dir.join("prompt")).unwrap()
}

#[test]
fn new_files_are_reviewed() {
    for worktree in [None, Some("--worktree")] {
        let stage = stage();
        let words = ["run", "--review", "{write new.txt brand new}{say done}"];
        let ran = stage.ran(&words.into_iter().chain(worktree).collect::<Vec<_>>());
        assert!(ran.code == 0 && !ran.stderr.contains("nothing to review"), "{ran}");
        let asked = asked_of_reviewer(&stage);
        assert!(asked.contains("new.txt") && asked.contains("\n+brand new\n"), "{asked}");
    }
}

#[test]
fn new_files_that_were_there_before_are_nothing_to_review() {
    let stage = stage();
    std::fs::write(stage.world.project().join("mine.txt"), "mine\n").unwrap();
    let ran = stage.ran(&["run", "--review", "{say looked}"]);
    assert!(ran.code == 0 && ran.stderr.contains("nothing to review"), "{ran}");
}
