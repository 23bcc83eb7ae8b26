//! Reads the files with the steps of a chain of runs.

use std::path::Component;
use std::path::Path;

use consort_core::dispatch::CHECK_TIMEOUT_S;
use consort_core::dispatch::Chain;
use consort_core::dispatch::ChainStep;
use consort_core::dispatch::MOST_STEPS;
use consort_core::dispatch::StepConditions;
use consort_core::text;

use super::Problem;
use super::RunFileFormat;
use super::node;
use super::node::Field;
use super::node::Node;
use super::node::NodeValue;
use super::reader::Reader;

/// The longest timeout of a contract's check, in seconds.
const LONGEST_CHECK_S: u64 = 3_600;

/// Reads a chain: the text `original`, and a list `steps` with a `task` each.
pub fn read_chain(text: &str, form: RunFileFormat) -> Result<Chain, Vec<Problem>> {
    let root = node::parse(text, form).map_err(|problem| vec![problem])?;
    let mut reader = Reader::new(text);
    let mut chain = Chain::default();
    let mut steps_at = root.at;
    for field in reader.table(&root, "a chain", &["original", "steps"]) {
        match (field.key.as_str(), &field.node.value) {
            ("original", _) => chain.original = reader.text(field).unwrap_or_default(),
            (_, NodeValue::List(nodes)) => {
                steps_at = field.at;
                chain.steps = nodes.iter().map(|node| step(&mut reader, node)).collect();
            }
            _ => drop(reader.not_a::<()>(field, "a list of steps")),
        }
    }
    if !(1..=MOST_STEPS).contains(&chain.steps.len()) {
        let count = text::counted_noun(chain.steps.len(), "step");
        let hint = "a step is a table with a `task`: `[[steps]]`, `task = \"…\"`".to_owned();
        reader.problem(steps_at, format!("it has {count}; 1 to {MOST_STEPS} are a chain"), Some(hint));
    }
    reader.end(chain)
}

fn step(reader: &mut Reader<'_>, node: &Node) -> ChainStep {
    let mut step = ChainStep::default();
    for field in reader.table(node, "a step", &["task", "role", "cli", "model", "contract"]) {
        match field.key.as_str() {
            "task" => step.task = reader.text(field).unwrap_or_default(),
            "role" => step.role = reader.text(field),
            "cli" => step.cli = reader.cli(field),
            "model" => step.model = reader.model(field),
            _ => step.contract = Some(contract(reader, field)),
        }
    }
    reader.require_task(node, "a step", &step.task);
    step
}

fn contract(reader: &mut Reader<'_>, field: &Field) -> StepConditions {
    let mut contract = StepConditions { check_timeout_s: CHECK_TIMEOUT_S, ..StepConditions::default() };
    let keys = ["files", "patterns", "check", "check_timeout_s"];
    for field in reader.table(&field.node, "a contract", &keys) {
        match field.key.as_str() {
            "files" => contract.files = files(reader, field),
            "patterns" => contract.patterns = reader.texts(field),
            "check" => contract.check = reader.text(field),
            _ => {
                let timeout = reader.number(field, 1, LONGEST_CHECK_S);
                contract.check_timeout_s = timeout.unwrap_or(CHECK_TIMEOUT_S);
            }
        }
    }
    contract
}

/// Reads a list of paths, and notes a problem if one leads out of the directory that the step works in.
fn files(reader: &mut Reader<'_>, field: &Field) -> Vec<String> {
    let is_below = |file: &String| {
        let mut parts = Path::new(file).components();
        !file.is_empty() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let files = reader.texts(field);
    if let Some(outside) = files.iter().find(|file| !is_below(file)) {
        let message = format!("{} is not a path below where the step works", text::foreign(outside, 120));
        reader.problem(field.node.at, message, None);
    }
    files
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    const TOML: &str = r#"
original = "Add a login page"

[[steps]]
task = "Plan: $ORIGINAL"
role = "planner"
contract = { patterns = ["^# Plan"] }

[[steps]]
task = "Do it: $INPUT"
cli = "codex"
model = "gpt-5"

[steps.contract]
files = ["src/login.rs", "./docs/login.md"]
check = "cargo test"
check_timeout_s = 60
"#;

    const JSON: &str = r##"{
  "original": "Add a login page",
  "steps": [
    { "task": "Plan: $ORIGINAL", "role": "planner", "contract": { "patterns": ["^# Plan"] } },
    { "task": "Do it: $INPUT", "cli": "codex", "model": "gpt-5",
      "contract": { "files": ["src/login.rs", "./docs/login.md"], "check": "cargo test", "check_timeout_s": 60 } }
  ]
}"##;

    #[test]
    fn both_forms_say_the_same() {
        let chain = read_chain(TOML, RunFileFormat::Toml).unwrap();
        assert_eq!(read_chain(JSON, RunFileFormat::Json).unwrap(), chain);
        assert_eq!(chain.original, "Add a login page");
        let [plan, work] = chain.steps.as_slice() else { panic!() };
        assert_eq!((plan.role.as_deref(), plan.task.as_str()), (Some("planner"), "Plan: $ORIGINAL"));
        let contract = work.contract.as_ref().unwrap();
        assert_eq!((contract.check.as_deref(), contract.check_timeout_s), (Some("cargo test"), 60));
        assert_eq!(plan.contract.as_ref().unwrap().check_timeout_s, CHECK_TIMEOUT_S);
    }

    fn problems(text: &str, form: RunFileFormat) -> String {
        read_chain(text, form).unwrap_err().iter().map(|one| format!("{one}\n")).collect()
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let text = "orignal = \"x\"\n[[steps]]\nrole = \"planner\"\n[[steps]]\ntask = \"\"\nmodel = \"--yolo\"\n\
                    [steps.contract]\nfiles = [\"../../etc/passwd\"]\ncheck_timeout_s = 0\n";
        expect![[r#"
            line 1, column 1: a chain has no key orignal (did you mean `original`?)
            line 2, column 1: a step needs a `task`
            line 5, column 8: `task` needs a text
            line 6, column 9: `model` needs a model's name, one word
            line 8, column 9: ../../etc/passwd is not a path below where the step works
            line 9, column 19: `check_timeout_s` needs a number from 1 to 3600
            line 4, column 1: a step needs a `task`
        "#]]
        .assert_eq(&problems(text, RunFileFormat::Toml));
        expect![[r#"
            line 2, column 12: `steps` needs a list of steps
            line 1, column 1: it has 0 steps; 1 to 50 are a chain (a step is a table with a `task`: `[[steps]]`, `task = "…"`)
        "#]]
        .assert_eq(&problems("{\n  \"steps\": 3\n}", RunFileFormat::Json));
        expect![[r#"
            line 2, column 13: a step is a table with the keys task, role, cli, model, contract
            line 2, column 13: a step needs a `task`
        "#]]
        .assert_eq(&problems("{\n  \"steps\": [\"do it\"]\n}", RunFileFormat::Json));
        assert!(problems("{\"steps\": [", RunFileFormat::Json).starts_with("line 1, column "));
        assert!(problems(&"[".repeat(100_000), RunFileFormat::Json).starts_with("line 1, column "));
        assert!(
            problems(&format!("steps = {}", "[".repeat(100_000)), RunFileFormat::Toml)
                .starts_with("line 1, column ")
        );
        assert!(problems("", RunFileFormat::Json).starts_with("line 1, column 1: "));
        assert!(
            problems(r#"{"steps": [{"task": "a", "task": "b"}]}"#, RunFileFormat::Json).contains("twice")
        );
    }
}
