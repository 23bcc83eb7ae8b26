//! Functions that the output readers of all CLIs share: they read JSON lines, describe tools, and make the
//! failure of a worker that ended without a result.

use consort_core::Timestamp;
use consort_core::dispatch::Failure;
use consort_core::dispatch::WorkerEvent;
use consort_core::dispatch::WorkerExit;
use consort_core::text;
use serde_json::Value;

use crate::failure;

/// The most characters that are kept of a tool's subject or of its error.
const LINE: usize = 200;

/// The fields of a tool's input that best describe its use, the best first.
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

/// Parses a line of standard output, if it is a JSON object.
pub(crate) fn object(line: &str) -> Option<Value> {
    let line = line.trim();
    if !line.starts_with('{') {
        return None;
    }
    serde_json::from_str(line).ok()
}

/// Returns the text at a JSON pointer.
pub(crate) fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

/// Describes the use of a tool by its input: the command, the path, or whatever says most.
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

/// Makes the event of a tool that has begun.
pub(crate) fn begins(id: &str, tool: &str, about: String) -> WorkerEvent {
    WorkerEvent::ToolBegins { id: id.to_owned(), tool: text::one_line(tool, LINE), about }
}

/// Makes the event of a tool that has ended; `said` is kept only if it failed.
pub(crate) fn ends(id: &str, is_ok: bool, said: &str) -> WorkerEvent {
    let why = (!is_ok && !said.trim().is_empty()).then(|| text::one_line(said, LINE));
    WorkerEvent::ToolEnds { id: id.to_owned(), is_ok, why }
}

/// Returns the text of a message's content, which is a string, or parts of which some are text.
pub(crate) fn content(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    let parts = value.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

/// Returns up to three lines of standard error: from the first that begins with `error`, else the last.
fn complaint(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&str| line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    let from = lines.iter().position(is_error).unwrap_or(lines.len().saturating_sub(3));
    lines[from..].iter().take(3).copied().collect::<Vec<_>>().join("\n")
}

/// Makes the failure of a worker whose output has no end; `None` if a signal ended it, because then the exit
/// itself says so.
pub(crate) fn failure_without_end(exit: &WorkerExit, now: Timestamp) -> Option<Failure> {
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

/// Reads a JSON number as a count of attempts or turns.
pub(crate) fn as_count(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| number.try_into().ok())
}

/// Reads a JSON number as the HTTP status of a provider's answer.
pub(crate) fn status(value: &Value) -> Option<u16> {
    value.as_u64().and_then(|number| number.try_into().ok())
}
