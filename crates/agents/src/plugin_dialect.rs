//! The hook dialect of our own plugins, for the agent CLIs that have plugins instead of
//! hooks: a plugin calls `consort hook` and nothing else.

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

/// How long a plugin waits for us, in milliseconds.
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

/// `{"context": …}`, `{"deny": …}` or `{"rewrite": …}`.
pub(crate) fn write(reply: &HookReply) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Reply<'a> {
        Context(&'a str),
        Deny(&'a str),
        Rewrite(&'a str),
    }

    let reply = match reply {
        // What its rules allow is not asked about, whatever we say.
        HookReply::Silence | HookReply::Ask(_) => return None,
        HookReply::Context(text) | HookReply::GoOn(text) => Reply::Context(text),
        HookReply::Deny(reason) => Reply::Deny(reason),
        HookReply::Rewrite(command) => Reply::Rewrite(command),
    };
    serde_json::to_string(&reply).ok()
}

/// What a plugin gives its CLI as the person's answer.
pub(crate) fn write_answer(answer: &AskAnswer) -> String {
    match answer {
        AskAnswer::Allow => json!({ "reply": "once" }),
        AskAnswer::Always => json!({ "reply": "always" }),
        AskAnswer::Deny(reason) => json!({ "reply": "reject", "message": reason }),
        AskAnswer::Chosen(chosen) => json!({ "answers": chosen.iter().map(|one| [one]).collect::<Vec<_>>() }),
    }
    .to_string()
}

/// Whether a session is being woken: its plugin listens while it is idle, and
/// there was a notification.
pub(crate) fn is_woken(activity: &Activity) -> bool {
    activity.status == Status::Idle
}

/// A plugin as it is written for this program: how to reach us, what all
/// plugins share, and its own part. A missing program must never stop an agent,
/// so every failure is an empty answer.
pub(crate) fn plugin(template: &str, kind: &str, program: &str) -> String {
    let notice = plugin_file::NOTICE;
    // By name it is a project's, which the user's own may have as well.
    let level = if program.contains('/') { "[]" } else { "[\"--project\"]" };
    let (line, program) = (plugin_file::PROGRAM, serde_json::Value::from(program));
    let shared = include_str!("plain.js");
    format!(
        "// {notice}\n{line}{program}\nconst KIND = \"{kind}\"\nconst PATIENCE = {PATIENCE}\nconst LEVEL = {level}\n{shared}{template}"
    )
}
