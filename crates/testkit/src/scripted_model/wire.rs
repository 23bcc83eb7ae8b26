//! The wire formats of the four model APIs in which the scripted model answers agent CLIs.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use serde_json::Value;
use serde_json::json;

use super::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions.
    Chat,
    /// Google's generateContent.
    Generate,
}

impl Api {
    /// Finds the API that a request line asks for; `None` if it asks for no answer of a model.
    pub(super) fn of(line: &str) -> Option<Self> {
        if !line.starts_with("POST") || line.contains("count_tokens") || line.contains("countTokens") {
            return None;
        }
        [
            ("/messages", Self::Messages),
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            ("enerateContent", Self::Generate),
        ]
        .into_iter()
        .find_map(|(path, api)| line.contains(path).then_some(api))
    }

    /// Makes the model's answer: its content type and its body.
    pub(super) fn answer(self, step: Step, request: &Value, line: &str) -> (&'static str, String) {
        let number = next_number();
        let streams = match self {
            Self::Generate => line.contains("streamGenerateContent"),
            Self::Responses => true,
            _ => request["stream"] == json!(true),
        };
        let whole = match self {
            Self::Messages => message(step, &request["model"], number),
            Self::Responses => response(step, number),
            Self::Chat => completion(step, number),
            Self::Generate => content(step),
        };
        if !streams {
            return ("application/json", whole.to_string());
        }
        let events = match self {
            Self::Messages => message_events(&whole),
            Self::Responses => response_events(&whole),
            Self::Chat => completion_events(&whole),
            Self::Generate => format!("data: {whole}\n\n"),
        };
        ("text/event-stream", events)
    }
}

fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn message(step: Step, model: &Value, number: u32) -> Value {
    let (content, stop_reason) = match step {
        Step::Say(text) => (json!({ "type": "text", "text": text }), "end_turn"),
        Step::Use { tool, input } => (
            json!({ "type": "tool_use", "id": format!("toolu_stub{number:06}"), "name": tool, "input": input }),
            "tool_use",
        ),
        Step::Stall | Step::Refuse | Step::Fail(_) | Step::Limit(_) | Step::Meanwhile(..) => {
            (json!({ "type": "text", "text": "" }), "end_turn")
        }
    };
    json!({
        "id": format!("msg_stub{number:06}"), "type": "message", "role": "assistant", "model": model,
        "content": [content], "stop_reason": stop_reason, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 20 },
    })
}

fn message_events(message: &Value) -> String {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    let block = &message["content"][0];
    let (start, delta) = if block["type"] == "text" {
        (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": block["text"] }))
    } else {
        let mut start = block.clone();
        start["input"] = json!({});
        (start, json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }))
    };
    let ending = json!({ "stop_reason": message["stop_reason"], "stop_sequence": null });
    named(&[
        json!({ "type": "message_start", "message": opening }),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": ending, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ])
}

fn response(step: Step, number: u32) -> Value {
    let call = format!("call_stub{number:06}");
    let item = match step {
        // A patch is text, not an object.
        Step::Use { tool, input } if tool == "apply_patch" => {
            json!({ "type": "custom_tool_call", "call_id": call, "name": tool, "input": input["input"] })
        }
        Step::Use { tool, input } => {
            let mut item = json!({ "type": "function_call", "call_id": call, "name": tool, "arguments": input.to_string() });
            if let Some((namespace, name)) = tool.split_once('/') {
                item["namespace"] = json!(namespace);
                item["name"] = json!(name);
            }
            item
        }
        step => json!({
            "type": "message", "role": "assistant", "id": format!("msg_stub{number:06}"),
            "content": [{ "type": "output_text", "text": said(step) }],
        }),
    };
    json!({
        "id": format!("resp_stub{number:06}"), "output": [item],
        "usage": { "input_tokens": 100, "input_tokens_details": null, "output_tokens": 20,
            "output_tokens_details": null, "total_tokens": 120 },
    })
}

fn response_events(response: &Value) -> String {
    named(&[
        json!({ "type": "response.created", "response": { "id": response["id"] } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": response["output"][0] }),
        json!({ "type": "response.completed", "response": response }),
    ])
}

fn completion(step: Step, number: u32) -> Value {
    let (message, reason) = match step {
        Step::Use { tool, input } => {
            let function = json!({ "name": tool, "arguments": input.to_string() });
            let call = json!({ "index": 0, "id": format!("call_stub{number:06}"), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
        step => (json!({ "role": "assistant", "content": said(step) }), "stop"),
    };
    json!({
        "id": format!("chatcmpl-stub{number:06}"), "object": "chat.completion", "created": 1, "model": "stub",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    })
}

fn completion_events(completion: &Value) -> String {
    let choice = &completion["choices"][0];
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = completion.clone();
        chunk["object"] = json!("chat.completion.chunk");
        chunk["choices"] = choices;
        chunk["usage"] = usage;
        format!("data: {chunk}\n\n")
    };
    let delta = json!([{ "index": 0, "delta": choice["message"], "finish_reason": null }]);
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": choice["finish_reason"] }]);
    chunk(delta, Value::Null)
        + &chunk(end, Value::Null)
        + &chunk(json!([]), completion["usage"].clone())
        + "data: [DONE]\n\n"
}

fn content(step: Step) -> Value {
    let part = match step {
        Step::Use { tool, input } => json!({ "functionCall": { "name": tool, "args": input } }),
        step => json!({ "text": said(step) }),
    };
    json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
    })
}

fn said(step: Step) -> String {
    match step {
        Step::Say(text) => text,
        _ => String::new(),
    }
}

/// Formats server-sent events with their names.
fn named(events: &[Value]) -> String {
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect()
}
