//! What the readers of all CLIs have in common: JSON lines, what a tool is about, and how
//! an end without a result is told.

use consort_core::Timestamp;
use consort_core::dispatch::Failure;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use consort_core::text;
use serde_json::Value;

use crate::failure;

/// How much is kept of what a tool is about or why it failed.
const LINE: usize = 200;

/// Where a tool's input says most, the best first.
const TELLING: &[&str] = &[
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "name",
];

/// A line of standard output as JSON, if it is an object.
pub(crate) fn object(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok()
}

/// A text within JSON.
pub(crate) fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// What a tool with that input is about: the command, the path or whatever says most.
pub(crate) fn about(input: &Value) -> String {
    let Value::Object(fields) = input else {
        return text::one_line(input.as_str().unwrap_or_default(), LINE);
    };
    let told = TELLING.iter().find_map(|name| fields.get(*name)?.as_str());
    match told {
        Some(told) => text::one_line(told, LINE),
        None if fields.is_empty() => String::new(),
        None => text::one_line(&input.to_string(), LINE),
    }
}

/// A tool that has begun.
pub(crate) fn begins(id: &str, tool: &str, about: String) -> WorkerEvent {
    WorkerEvent::ToolBegins { id: id.to_owned(), tool: text::one_line(tool, LINE), about }
}

/// A tool that has ended; what it says matters where it failed.
pub(crate) fn ends(id: &str, is_ok: bool, said: &str) -> WorkerEvent {
    let why = (!is_ok && !said.trim().is_empty()).then(|| text::one_line(said, LINE));
    WorkerEvent::ToolEnds { id: id.to_owned(), is_ok, why }
}

/// The text of a message's content: a string, or parts of which some are text.
pub(crate) fn content(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let parts = value.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

/// What matters of standard error: from where it says that it is an error, else the last of
/// it.
fn complaint(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    let from = lines.iter().position(is_error).unwrap_or(lines.len().saturating_sub(3));
    lines[from..].iter().take(3).copied().collect::<Vec<_>>().join("\n")
}

/// What a process says whose output told no end: a failure unless a signal ended it, which
/// the exit itself says.
pub(crate) fn cut_short(exit: &WorkerExit, now: Timestamp) -> Option<Failure> {
    let said = complaint(&exit.stderr);
    match exit.code? {
        0 => Some(failure::other(if said.is_empty() { "it ended without a result" } else { &said })),
        code => {
            let mut failure = failure::read(None, &said, now);
            if said.is_empty() {
                failure.message = format!("it ended with exit code {code}");
            }
            Some(failure)
        }
    }
}

/// A number within JSON as a count of attempts or turns.
pub(crate) fn small(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| number.try_into().ok())
}

/// The status of a provider's answer within JSON.
pub(crate) fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|number| number.try_into().ok())
}
