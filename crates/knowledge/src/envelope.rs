//! Converts an answer into the JSON that is shown to programs.

use consort_core::Timestamp;
use serde_json::Value;
use serde_json::json;

use crate::Answer;

impl Answer {
    /// Converts an answer that was asked for as JSON: the members if it is a single list, else the
    /// answers of all expressions. Answers before an error are kept beside the error.
    pub fn envelope(&self, now: Timestamp) -> Value {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line));
        let (mut answers, mut notes, mut error) = (Vec::new(), Vec::new(), Value::Null);
        for line in self.text.lines().map(parse) {
            // No record has a field named `note` or `cut`.
            if let Some(note) = line.get("note").or_else(|| line.get("cut")) {
                notes.push(note.clone());
            } else if self.has_failed && line.get("error").is_some() {
                let hints: Vec<&Value> = line.get("hint").into_iter().collect();
                let at = line.get("at").and_then(Value::as_str).map(|at| format!(" at {at}"));
                let message =
                    format!("{}{}", line["error"].as_str().unwrap_or_default(), at.unwrap_or_default());
                error = json!({ "kind": "query", "message": message, "hints": hints });
            } else {
                answers.push(line);
            }
        }
        let mut whole = match (answers.as_mut_slice(), &error) {
            ([Value::Array(items)], Value::Null) => {
                json!({ "at": now.utc(), "items": std::mem::take(items) })
            }
            ([one], Value::Null) => json!({ "at": now.utc(), "answer": one.take() }),
            _ => json!({ "at": now.utc(), "items": answers }),
        };
        for (name, value) in [("notes", Value::from(notes)), ("error", error)] {
            if !value.is_null() && value != json!([]) {
                whole[name] = value;
            }
        }
        whole
    }
}
