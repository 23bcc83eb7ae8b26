//! The hook dialect of our own plugins, for the agent CLIs that have plugins instead of hooks: a plugin only
//! calls `consort hook`.

use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;
use consort_core::policy::AskAnswer;
use consort_core::presence::Activity;
use consort_core::presence::Status;
use serde::Serialize;
use serde_json::json;

use crate::payload::Payload;
use crate::payload::Tools;
use crate::payload::met_read_only;
use crate::permission;
use crate::plugin_file;

/// Longest time that a plugin waits for our hook, in milliseconds.
const PATIENCE: u32 = 3_000;

pub(crate) fn read(event: &str, bytes: &[u8], tools: &Tools) -> Option<HookCall> {
    let (met_read_only, mut repaired) = (met_read_only(bytes), Vec::new());
    let mut payload = Payload::parse(bytes, &mut repaired)?;
    let event = match event {
        "session-start" => payload.session_start(Replaces::Nobody),
        "prompt" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
        "tool-before" => HookEvent::ToolBefore(payload.tool(tools)?),
        "tool-after" => HookEvent::ToolAfter {
            failed: payload.error.0.is_some(),
            met_read_only,
            tool: payload.tool(tools).unwrap_or_default(),
        },
        "waiting" => HookEvent::Waiting(payload.message.0.take().unwrap_or_else(|| "your attention".into())),
        "asks" => permission::asked(payload.tool(tools)?, bytes, Dialog::IsUsable),
        "resumed" => HookEvent::Resumed,
        "resting" => HookEvent::Idle,
        "wait" | "mail" => HookEvent::Woken,
        "end" => HookEvent::TurnEnd { may_go_on: true, runs_on: true },
        "idle" => HookEvent::TurnEnd { may_go_on: false, runs_on: true },
        "failed" => HookEvent::TurnFailed(payload.error.0.take().unwrap_or_else(|| "an error".into())),
        "session-end" => payload.session_end(),
        _ => return None,
    };
    payload.call(event)
}

/// Writes an answer as `{"context": …}`, `{"deny": …}` or `{"rewrite": …}`.
pub(crate) fn write(reply: &HookReply) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Reply<'a> {
        Context(&'a str),
        Deny(&'a str),
        Rewrite(&'a str),
    }

    let reply = match reply {
        // A plugin cannot make its CLI ask about a tool that the rules allow.
        HookReply::Silence | HookReply::Ask(_) => return None,
        HookReply::Context(text) | HookReply::GoOn(text) => Reply::Context(text),
        HookReply::Deny(reason) => Reply::Deny(reason),
        HookReply::Rewrite(command) => Reply::Rewrite(command),
    };
    serde_json::to_string(&reply).ok()
}

/// Writes the person's answer to a question, for the plugin to pass on to its CLI.
pub(crate) fn write_answer(answer: &AskAnswer) -> String {
    match answer {
        AskAnswer::Allow => json!({ "reply": "once" }),
        AskAnswer::Always => json!({ "reply": "always" }),
        AskAnswer::Deny(reason) => json!({ "reply": "reject", "message": reason }),
        AskAnswer::Chosen(chosen) => json!({ "answers": chosen.iter().map(|one| [one]).collect::<Vec<_>>() }),
    }
    .to_string()
}

/// Tells whether a session is being woken already: while it is idle, its plugin listens for the notification
/// that was sent.
pub(crate) fn is_woken(activity: &Activity) -> bool {
    activity.status == Status::Idle
}

/// Writes the text of a plugin: constants with the program to call, the part that all plugins share, and the
/// CLI's own part. A missing program must never stop an agent, so every failure is an empty answer.
pub(crate) fn plugin_text(template: &str, kind: &str, program: &str) -> String {
    let notice = plugin_file::NOTICE;
    // Only a project's plugin calls the program by its name; the user may have a plugin of their own too.
    let level = if program.contains('/') { "[]" } else { "[\"--project\"]" };
    let (line, program) = (plugin_file::PROGRAM_PREFIX, serde_json::Value::from(program));
    let shared = include_str!("plain.js");
    format!(
        "// {notice}\n{line}{program}\nconst KIND = \"{kind}\"\nconst PATIENCE = {PATIENCE}\nconst LEVEL = {level}\n{shared}{template}"
    )
}
