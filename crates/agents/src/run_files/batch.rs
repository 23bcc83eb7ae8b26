//! Reads the files with the tasks of a batch of runs.

use consort_core::dispatch::Batch;
use consort_core::dispatch::BatchTask;
use consort_core::dispatch::Cost;
use consort_core::dispatch::MOST_TASKS;
use consort_core::text;

use super::Problem;
use super::RunFileFormat;
use super::node;
use super::node::Field;
use super::node::Node;
use super::node::NodeValue;
use super::reader::Reader;

const KEYS: &[&str] = &["task", "role", "cli", "model", "worktree", "timeout_s", "budget_usd"];

/// The longest timeout of a run, in seconds.
const LONGEST_S: u64 = 7 * 86_400;

/// The format of a file of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchForm {
    Tables(RunFileFormat),
    /// One task per line; empty lines and lines that begin with `#` are skipped.
    Lines,
}

impl BatchForm {
    /// Chooses the format by the end of a file's name.
    pub fn by_file_name(file: &str) -> Self {
        let name = file.to_ascii_lowercase();
        match name.ends_with(".toml") || name.ends_with(".json") {
            true => Self::Tables(RunFileFormat::by_file_name(file)),
            false => Self::Lines,
        }
    }
}

/// Reads a batch: one task per line, or a list `tasks` whose elements are a text or a table with a `task`.
pub fn read_batch(text: &str, form: BatchForm) -> Result<Batch, Vec<Problem>> {
    let mut reader = Reader::new(text);
    let tasks = match form {
        BatchForm::Lines => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.map(|line| BatchTask { task: line.to_owned(), ..BatchTask::default() }).collect()
        }
        BatchForm::Tables(form) => {
            let root = node::parse(text, form).map_err(|problem| vec![problem])?;
            tasks(&mut reader, &root)
        }
    };
    if !(1..=MOST_TASKS).contains(&tasks.len()) {
        let count = text::counted_noun(tasks.len(), "task");
        reader.problem(0, format!("it has {count}; 1 to {MOST_TASKS} are a batch"), None);
    }
    reader.end(Batch { tasks })
}

fn tasks(reader: &mut Reader<'_>, root: &Node) -> Vec<BatchTask> {
    let list = |nodes: &[Node], reader: &mut Reader<'_>| -> Vec<BatchTask> {
        nodes.iter().map(|node| task(reader, node)).collect()
    };
    // A JSON file may be just the list of tasks.
    if let NodeValue::List(nodes) = &root.value {
        return list(nodes, reader);
    }
    match reader.table(root, "a batch", &["tasks"]).first() {
        Some(Field { node: Node { value: NodeValue::List(nodes), .. }, .. }) => list(nodes, reader),
        Some(field) => reader.not_a(field, "a list of tasks").unwrap_or_default(),
        None => Vec::new(),
    }
}

fn task(reader: &mut Reader<'_>, node: &Node) -> BatchTask {
    let mut task = BatchTask::default();
    if let Some(text) = node.as_text() {
        task.task = text.to_owned();
        reader.require_task(node, "a task", &task.task);
        return task;
    }
    for field in reader.table(node, "a task", KEYS) {
        match field.key.as_str() {
            "task" => task.task = reader.text(field).unwrap_or_default(),
            "role" => task.role = reader.text(field),
            "cli" => task.cli = reader.cli(field),
            "model" => task.model = reader.model(field),
            "worktree" => task.worktree = reader.flag(field).unwrap_or_default(),
            "timeout_s" => task.timeout_s = reader.number(field, 1, LONGEST_S),
            _ => task.budget_usd = dollars(reader, field),
        }
    }
    reader.require_task(node, "a task", &task.task);
    task
}

fn dollars(reader: &mut Reader<'_>, field: &Field) -> Option<Cost> {
    let dollars = match field.node.value {
        NodeValue::Whole(number) => Some(number as f64),
        NodeValue::Number(number) => Some(number),
        _ => None,
    };
    let cost = dollars.filter(|dollars| dollars.is_finite() && *dollars < 1e6).map(Cost::from_dollars);
    match cost.filter(|cost| cost.0 > 0) {
        Some(cost) => Some(cost),
        None => reader.not_a(field, "dollars above 0, as in `0.5`"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_batch_is_lines_or_tables() {
        let lines = "# what is left\nfix the login\n\n  write its test  \n";
        let json = r#"["fix the login", {"task": "write its test"}]"#;
        let toml = "tasks = [\"fix the login\", { task = \"write its test\" }]\n";
        let batch = read_batch(lines, BatchForm::by_file_name("todo.txt")).unwrap();
        assert_eq!(
            batch.tasks.iter().map(|task| task.task.as_str()).collect::<Vec<_>>(),
            ["fix the login", "write its test"]
        );
        assert_eq!(read_batch(json, BatchForm::by_file_name("todo.json")).unwrap(), batch);
        assert_eq!(
            read_batch(&format!("{{\"tasks\": {json}}}"), BatchForm::by_file_name("a.JSON")).unwrap(),
            batch
        );
        assert_eq!(read_batch(toml, BatchForm::by_file_name("todo.toml")).unwrap(), batch);
        let toml = "[[tasks]]\ntask = \"a\"\nrole = \"builder\"\ncli = \"pi\"\nmodel = \"m\"\nworktree = true\n\
                    timeout_s = 60\nbudget_usd = 0.5\n[[tasks]]\ntask = \"b\"\nbudget_usd = 2\n";
        let batch = read_batch(toml, BatchForm::by_file_name("todo.toml")).unwrap();
        let [a, b] = batch.tasks.as_slice() else { panic!() };
        assert_eq!(
            (a.role.as_deref(), a.cli.as_deref(), a.model.as_deref()),
            (Some("builder"), Some("pi"), Some("m"))
        );
        assert!(a.worktree && !b.worktree);
        assert_eq!((a.timeout_s, a.budget_usd), (Some(60), Some(Cost(500_000))));
        assert_eq!(b.budget_usd, Some(Cost(2_000_000)));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        let toml = "[[tasks]]\ntask = \"a\"\nrol = \"dev\"\n[[tasks]]\nworktree = \"yes\"\nbudget_usd = -1\n";
        let problems = read_batch(toml, BatchForm::by_file_name("a.toml")).unwrap_err();
        expect![[r#"
            line 3, column 1: a task has no key rol (did you mean `role`?)
            line 5, column 12: `worktree` needs `true` or `false`
            line 6, column 14: `budget_usd` needs dollars above 0, as in `0.5`
            line 4, column 1: a task needs a `task`
        "#]]
        .assert_eq(&problems.iter().map(|one| format!("{one}\n")).collect::<String>());
        for (text, form) in
            [("# nothing\n", "a.txt"), ("", "a.toml"), ("[]", "a.json"), ("{\"task\": []}", "a.json")]
        {
            assert!(read_batch(text, BatchForm::by_file_name(form)).is_err(), "{text}");
        }
        let many = "x\n".repeat(MOST_TASKS + 1);
        assert!(read_batch(&many, BatchForm::Lines).is_err());
    }
}
