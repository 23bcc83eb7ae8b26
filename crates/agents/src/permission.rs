//! Reads a CLI's question to the person from a hook's payload, and writes the answer in the CLI's JSON.

use consort_core::hooks::AskCall;
use consort_core::hooks::Dialog;
use consort_core::hooks::HookEvent;
use consort_core::hooks::ToolUse;
use consort_core::policy::AskAnswer;
use consort_core::policy::AskItem;
use consort_core::policy::AskKind;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::payload::without_lone_surrogates;

/// The most characters of a question that are kept: more than anyone reads before an answer.
const LONGEST_TEXT: usize = 8_000;

/// Makes the event of a question to the person, from a payload that is about this tool.
pub(crate) fn asked(tool: ToolUse, payload: &[u8], dialog: Dialog) -> HookEvent {
    let payload = value(payload).unwrap_or_default();
    let input = [&payload["tool_input"], &payload["toolInput"]].into_iter().find(|input| !input.is_null());
    let input = input.unwrap_or(&Value::Null);
    let questions = questions(input);
    let kind = match tool.name.as_str() {
        "ExitPlanMode" => AskKind::Plan,
        _ if !questions.is_empty() => AskKind::Question,
        _ => AskKind::Permission,
    };
    let can_be_always = payload["permission_suggestions"].as_array().is_some_and(|all| !all.is_empty())
        || payload["always"].as_array().is_some_and(|all| !all.is_empty());
    let mut text = shown(input, &questions);
    let end = text.char_indices().nth(LONGEST_TEXT).map(|(end, _)| end);
    if let Some(end) = end {
        text.truncate(end);
        text.push_str("\n… (more in the agent's own dialog)");
    }
    let is_cut = end.is_some();
    HookEvent::Asks(Box::new(AskCall { tool, kind, text, is_cut, questions, can_be_always, dialog }))
}

/// Parses a payload, which may contain half a surrogate pair if JavaScript wrote it.
fn value(payload: &[u8]) -> Option<Value> {
    serde_json::from_slice(payload).ok().or_else(|| {
        let repaired = without_lone_surrogates(payload)?;
        serde_json::from_slice(&repaired).ok()
    })
}

/// Returns the text that the person has to decide about.
fn shown(input: &Value, questions: &[AskItem]) -> String {
    let text = |name: &str| input[name].as_str();
    let lines =
        |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
    if let Some(whole) = ["command", "plan", "diff", "patch"].into_iter().find_map(text) {
        return whole.to_owned();
    }
    if !questions.is_empty() {
        return questions.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    }
    let path = text("file_path").or_else(|| text("filePath")).unwrap_or_default();
    match (text("old_string"), text("new_string"), text("content")) {
        (Some(old), Some(new), _) => format!("{path}\n{}{}", lines('-', old), lines('+', new)),
        (_, _, Some(content)) => format!("{path}\n{}", lines('+', content)),
        _ if input.as_object().is_none_or(Map::is_empty) => path.to_owned(),
        _ => serde_json::to_string_pretty(input).unwrap_or_default(),
    }
}

fn questions(input: &Value) -> Vec<AskItem> {
    let one = |question: &Value| {
        let label = |option: &Value| option["label"].as_str().or(option.as_str()).map(str::to_owned);
        Some(AskItem {
            text: question["question"].as_str()?.to_owned(),
            options: question["options"].as_array().into_iter().flatten().filter_map(label).collect(),
            takes_many: question["multiSelect"].as_bool().or(question["multiple"].as_bool()).unwrap_or(false),
        })
    };
    input["questions"].as_array().into_iter().flatten().filter_map(one).collect()
}

/// Writes the decision in Claude Code's JSON, which other CLIs share; `None` for an answer that only Claude
/// Code understands if the CLI is another.
pub(crate) fn decision(payload: &[u8], answer: &AskAnswer, is_claude: bool) -> Option<Value> {
    let payload = value(payload)?;
    Some(match answer {
        AskAnswer::Deny(reason) => json!({ "behavior": "deny", "message": reason }),
        AskAnswer::Allow if is_claude && payload["tool_name"] == "ExitPlanMode" => {
            json!({ "behavior": "allow", "updatedInput": {} })
        }
        AskAnswer::Allow => json!({ "behavior": "allow" }),
        AskAnswer::Always if is_claude => {
            json!({ "behavior": "allow", "updatedPermissions": payload["permission_suggestions"] })
        }
        AskAnswer::Chosen(chosen) if is_claude => {
            let questions = &payload["tool_input"]["questions"];
            let asked = questions.as_array()?.iter().filter_map(|one| one["question"].as_str());
            let answers: Map<String, Value> =
                asked.zip(chosen).map(|(question, answer)| (question.to_owned(), json!(answer))).collect();
            json!({ "behavior": "allow", "updatedInput": { "questions": questions, "answers": answers } })
        }
        AskAnswer::Always | AskAnswer::Chosen(_) => return None,
    })
}

/// Writes the decision inside the JSON that Claude Code and Codex expect around it.
pub(crate) fn nested(payload: &[u8], answer: &AskAnswer, is_claude: bool) -> Option<String> {
    let decision = decision(payload, answer, is_claude)?;
    Some(
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } })
            .to_string(),
    )
}
