//! Tests of runs: agents that work without a terminal, here a stub that does what its
//! prompt says.

mod batches;
mod bounds;
mod budgets;
mod chains;
mod crashes;
mod ends;
mod following;
mod full_disk;
mod gates;
mod limits;
mod reviews;
mod stage;
mod tasks;
mod worktrees;

use std::fs;

use serde_json::Value;
use stage::Stage;

#[test]
fn a_run_prints_its_result() {
    let stage = Stage::new();
    let ran = stage.run("{tool Bash}{say All is well.}{cost 0.02}");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "All is well.\n"), "{ran}");
    assert!(ran.stderr.contains("Bash") && ran.stderr.contains("is done"), "{ran}");
    let run = stage.json(&["run", "{tool Read}{say Again.}{cost 0.02}"])["run"].clone();
    assert_eq!(
        (&run["state"], &run["result"], &run["cost_usd"]),
        (&"done".into(), &"Again.".into(), &0.02.into())
    );
    assert_eq!(
        (&run["tools"], &run["model"], &run["agent"]["cli"]),
        (&1.into(), &"stub".into(), &"claude".into())
    );
    assert_eq!((&run["tokens"]["input"], &run["tokens"]["output"]), (&10.into(), &5.into()));
    let numbers: Vec<Value> = stage.list().into_iter().map(|run| run["number"].clone()).collect();
    assert_eq!(numbers, [2, 1]);
    stage.is_sound();
}

#[test]
fn a_task_comes_from_an_argument_a_file_or_standard_input() {
    let stage = Stage::new();
    let from_stdin = stage.world.ran_with(&mut stage.consort(&["run", "-"]), b"{say from stdin}");
    assert_eq!(from_stdin.stdout, "from stdin\n", "{from_stdin}");
    let file = stage.world.project().join("task.txt");
    fs::write(&file, "{say from a file}\n").unwrap();
    assert_eq!(stage.ran(&["run", "--file", "task.txt"]).stdout, "from a file\n");
    let from_stdin = stage.world.ran_with(&mut stage.consort(&["run", "--file", "-"]), b"{say once more}");
    assert_eq!(from_stdin.stdout, "once more\n", "{from_stdin}");
    let missing = stage.ran(&["run", "--file", "nowhere.txt"]);
    assert!(missing.code == 1 && missing.stderr.contains("nowhere.txt"), "{missing}");
    let long = format!("{}{{length}}", "ä".repeat(50_000));
    assert_eq!(stage.run(&long).stdout, "50008 ä\n");
    let dash = stage.ran(&["run", "--", "--help is what {length} begins with"]);
    assert_eq!(dash.stdout, "35 -\n", "{dash}");
    fs::write(&file, "-p {length}").unwrap();
    assert_eq!(stage.ran(&["run", "--file", "task.txt"]).stdout, "11 -\n");
    for empty in ["", "  \n"] {
        let ran = stage.run(empty);
        assert!(ran.code == 4 && ran.stderr.contains("the task is empty"), "{ran}");
    }
    assert_eq!(stage.list().len(), 6, "what was refused is no run");
}

/// A worker gets neither keys of other CLIs nor variables of the session that asks for the run.
#[test]
fn a_worker_gets_what_it_needs_and_no_other_keys() {
    let stage = Stage::new();
    stage.set("dispatch.environment", "CARGO_*");
    let mut command = stage.consort(&["run", "{environment}"]);
    for (name, value) in [
        ("ANTHROPIC_API_KEY", "own"),
        ("OPENAI_API_KEY", "of codex"),
        ("GEMINI_API_KEY", "of gemini"),
        ("AWS_SECRET_ACCESS_KEY", "of none"),
        ("CARGO_HOME", "named"),
        ("LANG", "C"),
    ] {
        command.env(name, value);
    }
    let ran = stage.world.ran(&mut command);
    let got: Value = serde_json::from_str(&ran.stdout).unwrap();
    for (name, value) in
        [("ANTHROPIC_API_KEY", "own"), ("CARGO_HOME", "named"), ("LANG", "C"), ("TERM", "dumb")]
    {
        assert_eq!(got[name], value, "{ran}");
    }
    for name in ["OPENAI_API_KEY", "GEMINI_API_KEY", "AWS_SECRET_ACCESS_KEY", "COLUMNS"] {
        assert!(got[name].is_null(), "{name}: {ran}");
    }
    assert_eq!(got["CONSORT_RUN"], stage.list()[0]["id"]);
}

#[test]
fn what_is_missing_is_said_before_anything_begins() {
    let stage = Stage::new();
    let ran = stage.ran(&["run", "{say no}", "--role", "scuot"]);
    assert!(ran.code == 1 && ran.stderr.contains("scout"), "{ran}");
    for (name, text) in [("roles.toml", "[dev]\nmodle = \"opus\"\n"), ("roles.toml", "[dev\n")] {
        let dir = stage.world.project().join(".consort");
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(name), text).unwrap();
        let ran = stage.run("{say no}");
        assert!(ran.code == 1 && ran.stderr.contains("line ") && ran.stderr.contains("roles.toml"), "{ran}");
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), text);
        fs::remove_file(dir.join(name)).unwrap();
    }
    let ran = stage.ran(&["run", "{say no}", "--cwd", "nowhere"]);
    assert!(ran.code == 1 && ran.stderr.contains("nowhere"), "{ran}");
    for name in ["claude", "opencode"] {
        fs::remove_file(stage.world.path().join("bin").join(name)).unwrap();
    }
    let mut command = stage.consort(&["run", "{say no}", "--cli", "claude"]);
    let ran = stage.world.ran(command.env("PATH", stage.world.path().join("bin")));
    assert!(ran.code == 1 && ran.stderr.contains("not on PATH"), "{ran}");
    let mut command = stage.consort(&["run", "{say no}"]);
    let ran = stage.world.ran(command.env("PATH", stage.world.path().join("bin")));
    assert!(ran.code == 1 && ran.stderr.contains("no agent CLI is installed"), "{ran}");
    assert_eq!(stage.list().len(), 0);
}

/// A program that cannot be executed is found when it is started.
#[test]
fn a_program_that_cannot_be_started_fails_the_run() {
    let stage = Stage::new();
    fs::write(stage.world.path().join("bin/claude"), "#!/nowhere/at/all\n").unwrap();
    let ran = stage.ran(&["run", "{say no}", "--cli", "claude"]);
    assert!(ran.code == 8 && ran.stderr.contains("cannot start"), "{ran}");
    assert_eq!(stage.list()[0]["state"], "error");
    stage.is_sound();
}
