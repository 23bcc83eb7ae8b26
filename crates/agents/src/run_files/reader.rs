//! Takes typed values out of a parsed file, and collects the mistakes in it with their positions.

use consort_core::dispatch::is_argument;
use consort_core::text;

use super::node::Field;
use super::node::Node;
use super::node::NodeValue;

/// A mistake in a file, with its position.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    pub(super) fn new(text: &str, at: usize, message: String, hint: Option<String>) -> Self {
        let before = text.get(..at.min(text.len())).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: text::one_line(&message, 300),
            hint,
        }
    }
}

/// Prints `line 3, column 1: a role has no key modle (did you mean `model`?)`.
impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}

/// A text that is being read, and the mistakes that were found in it.
pub(super) struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, problems: Vec::new() }
    }

    /// Returns `read`, or the mistakes if there are any.
    pub(super) fn end<T>(self, read: T) -> Result<T, Vec<Problem>> {
        if self.problems.is_empty() { Ok(read) } else { Err(self.problems) }
    }

    pub(super) fn problem(&mut self, at: usize, message: impl Into<String>, hint: Option<String>) {
        self.problems.push(Problem::new(self.text, at, message.into(), hint));
    }

    /// Returns the fields of a table that have known keys, each once, and notes all others as mistakes.
    pub(super) fn table<'n>(&mut self, node: &'n Node, what: &str, keys: &[&str]) -> Vec<&'n Field> {
        let NodeValue::Table(fields) = &node.value else {
            self.problem(node.at, format!("{what} is a table with the keys {}", keys.join(", ")), None);
            return Vec::new();
        };
        let mut known: Vec<&Field> = Vec::new();
        for field in fields {
            let name = text::foreign(&field.key, 60);
            if known.iter().any(|one| one.key == field.key) {
                self.problem(field.at, format!("{name} is there twice"), None);
            } else if keys.contains(&field.key.as_str()) {
                known.push(field);
            } else {
                let hint = match text::nearest(&field.key, keys.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("its keys: {}", keys.join(", ")),
                };
                self.problem(field.at, format!("{what} has no key {name}"), Some(hint));
            }
        }
        known
    }

    /// Reads a text that is not blank.
    pub(super) fn text(&mut self, field: &Field) -> Option<String> {
        match &field.node.value {
            NodeValue::Text(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => self.not_a(field, "a text"),
        }
    }

    pub(super) fn flag(&mut self, field: &Field) -> Option<bool> {
        match field.node.value {
            NodeValue::Flag(flag) => Some(flag),
            _ => self.not_a(field, "`true` or `false`"),
        }
    }

    pub(super) fn number(&mut self, field: &Field, least: u64, most: u64) -> Option<u64> {
        match field.node.value {
            NodeValue::Whole(number) => u64::try_from(number).ok().filter(|n| (least..=most).contains(n)),
            _ => None,
        }
        .or_else(|| self.not_a(field, &format!("a number from {least} to {most}")))
    }

    pub(super) fn texts(&mut self, field: &Field) -> Vec<String> {
        let all = match &field.node.value {
            NodeValue::List(nodes) => nodes.iter().map(Node::as_text).collect::<Option<Vec<&str>>>(),
            _ => None,
        };
        match all.or_else(|| self.not_a(field, "a list of texts")) {
            Some(all) => all.into_iter().map(str::to_owned).collect(),
            None => Vec::new(),
        }
    }

    /// Reads the name of a model, as it is given to a CLI.
    pub(super) fn model(&mut self, field: &Field) -> Option<String> {
        match &field.node.value {
            NodeValue::Text(text) if is_argument(text) => Some(text.clone()),
            _ => self.not_a(field, "a model's name, one word"),
        }
    }

    /// Notes a mistake if a required task is blank.
    pub(super) fn require_task(&mut self, node: &Node, what: &str, task: &str) {
        if task.trim().is_empty() {
            self.problem(node.at, format!("{what} needs a `task`"), None);
        }
    }

    /// Reads the name of a supported CLI.
    pub(super) fn cli(&mut self, field: &Field) -> Option<String> {
        let name = self.text(field)?;
        if crate::find(&name).is_some() {
            return Some(name);
        }
        let kinds = || crate::ALL.iter().map(|cli| cli.kind());
        let hint = match text::nearest(&name, kinds()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", kinds().collect::<Vec<_>>().join(", ")),
        };
        self.problem(field.node.at, format!("there is no CLI {}", text::foreign(&name, 60)), Some(hint));
        None
    }

    /// Notes that a value is not of the wanted kind.
    pub(super) fn not_a<T>(&mut self, field: &Field, wanted: &str) -> Option<T> {
        self.problem(field.node.at, format!("`{}` needs {wanted}", field.key), None);
        None
    }
}

impl Node {
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }
}
