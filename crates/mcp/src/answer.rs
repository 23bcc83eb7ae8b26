//! The result of an MCP tool: text and data, or an error with its hint.

use std::fmt;

use consort_core::Timestamp;
use consort_core::explain::ErrorKind;
use consort_core::explain::Explain;
use rmcp::model::CallToolResult;
use rmcp::model::ContentBlock;
use serde_json::Value;
use serde_json::json;

/// A short text for the model, and the same content as data: some clients show the text,
/// some the data, so both are short.
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    pub(crate) data: Value,
}

impl ToolAnswer {
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data }
    }

    /// Adds the time, for the envelope that all doors have: `{"at", "items"}`, or `{"at", "<noun>"}`.
    pub(crate) fn dated(mut self, now: Timestamp) -> Self {
        self.data["at"] = now.rfc3339().into();
        self
    }
}

/// The reason why a tool could not do as asked.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: ErrorKind,
    message: String,
    hints: Vec<String>,
    /// Further facts about the problem, as data.
    more: Value,
}

impl Problem {
    pub(crate) fn user(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: ErrorKind::User, message: message.into(), hints: vec![hint.into()], more: Value::Null }
    }

    /// Tells whether repeating the call will work.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        self.kind == ErrorKind::Retry
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: String) -> Self {
        self.hints.push(hint);
        self
    }

    pub(crate) fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: Explain> From<E> for Problem {
    fn from(error: E) -> Self {
        let hints = error.hints().iter().map(|hint| for_tools(hint)).collect();
        Self { kind: error.kind(), message: error.to_string(), hints, more: Value::Null }
    }
}

/// The commands that hints name to people at a shell, and the MCP client's way to do the same.
const TOOLS: &[(&str, &str)] = &[
    ("`consort who --all`", "`who` with `all: true`"),
    ("`consort who`", "`who`"),
    ("`consort task list`", "`task` with `action: \"list\"`"),
    ("`consort task next`", "`task` with `action: \"next\"`"),
    ("`consort radar`", "`radar`"),
    ("`consort inbox --all` and `consort inbox --sent` show numbers", "`inbox` shows numbers"),
    ("`--spec <file>` names one", "`spec` names one"),
    ("; `consort agent join --spec <file>` joins with one", ""),
    ("`--everywhere` reaches the agents of other projects, `@me` the person", "`@me` reaches the person"),
    ("; `consort reply <n>` answers a message", ""),
    ("; a text of several words is put in quotes", ""),
];

/// Rewrites a hint in terms of tools. Commands that have no tool stay as they are.
fn for_tools(hint: &str) -> String {
    TOOLS.iter().fold(hint.to_owned(), |hint, (command, tool)| hint.replace(command, tool))
}

/// Converts an answer to the protocol's result, with a notice after it.
pub(crate) fn result(answer: Result<ToolAnswer, Problem>, notice: Option<String>) -> CallToolResult {
    let mut result = result_of(answer);
    result.content.extend(notice.map(ContentBlock::text));
    result
}

fn result_of(answer: Result<ToolAnswer, Problem>) -> CallToolResult {
    match answer {
        Ok(ToolAnswer { text, data }) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(data);
            result
        }
        Err(Problem { kind, message, hints, more }) => {
            let mut text = format!("Error: {message}");
            hints.iter().for_each(|hint| text.push_str(&format!("\nHint: {hint}")));
            let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
            let mut error = json!({ "kind": kind, "message": message, "hints": hints });
            if let Some(more) = more.as_object() {
                more.iter().for_each(|(name, value)| error[name] = value.clone());
            }
            result.structured_content = Some(json!({ "error": error }));
            result
        }
    }
}
