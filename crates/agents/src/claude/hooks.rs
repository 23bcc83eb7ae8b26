//! The hook dialect of Claude Code: parses the payloads that it sends to hooks, and
//! writes our answers in its JSON.

use consort_core::hooks::Dialog;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::hooks::Replaces;

use crate::payload::Payload;
use crate::payload::Tools;
use crate::payload::met_read_only;
use crate::permission;
use crate::reply;

const TOOLS: Tools = Tools {
    write: &["Edit", "Write", "MultiEdit", "NotebookEdit"],
    read: &["Read"],
    shell: &["Bash"],
    patch: &[],
};

pub(super) fn read(event: &str, payload: &[u8]) -> Option<HookCall> {
    read_with(event, payload, &TOOLS, Replaces::Nobody, Dialog::IsUsable)
}

/// Reads a payload of a CLI that has Claude Code's events but other names for its tools; `usual` says which
/// session a new session of that CLI usually replaces.
pub(crate) fn read_with(
    event: &str,
    bytes: &[u8],
    tools: &Tools,
    usual: Replaces,
    dialog: Dialog,
) -> Option<HookCall> {
    let mut repaired = Vec::new();
    let mut payload = Payload::parse(bytes, &mut repaired)?;
    let event = match event {
        "SessionStart" => payload.session_start(usual),
        "UserPromptSubmit" => HookEvent::Prompt(payload.prompt.0.take().unwrap_or_default()),
        "PreToolUse" => HookEvent::ToolBefore(payload.tool(tools)?),
        "PostToolUse" | "PostToolUseFailure" => HookEvent::ToolAfter {
            failed: event == "PostToolUseFailure",
            met_read_only: met_read_only(bytes),
            tool: payload.tool(tools).unwrap_or_default(),
        },
        "PermissionRequest" => permission::asked(payload.tool(tools)?, bytes, dialog),
        // The session has been idle for a minute: nothing is asked of the person.
        "Notification" if payload.notification_type.is("idle_prompt") => HookEvent::Idle,
        "Notification" => {
            HookEvent::Waiting(payload.message.0.take().unwrap_or_else(|| "your attention".into()))
        }
        "Stop" => payload.turn_end(),
        "StopFailure" => HookEvent::TurnFailed(payload.error.0.take().unwrap_or_else(|| "an error".into())),
        "SubagentStart" => HookEvent::SubagentStart {
            id: payload.agent_id.0.clone()?,
            kind: payload.agent_type.0.take().unwrap_or_else(|| "subagent".into()),
        },
        "SubagentStop" => HookEvent::SubagentStop { id: payload.agent_id.0.clone()? },
        "PreCompact" => HookEvent::Compacting,
        "SessionEnd" => payload.session_end(),
        _ => return None,
    };
    payload.call(event)
}

/// Writes an answer. At the end of a turn, context is enough to keep the session going. Blocking the stop
/// would do so too, but shows the model the same text twice, once as an error of ours.
pub(super) fn write(event: &str, reply: &HookReply) -> Option<String> {
    reply::nested(event, reply)
}
