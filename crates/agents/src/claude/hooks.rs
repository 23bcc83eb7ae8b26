//! What Claude Code sends its hooks, and how it wants to be answered.
//!
//! These are its words, not ours: unknown events and fields are ignored, and a
//! field of an unexpected type counts as absent, so nothing it adds can break
//! us.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use consort_core::hooks::Act;
use consort_core::hooks::HookCall;
use consort_core::hooks::HookEvent;
use consort_core::hooks::HookReply;
use consort_core::hooks::ToolUse;
use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    cwd: Cow<'a, str>,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    tool_name: Text,
    #[serde(default)]
    tool_input: Option<ToolInput>,
    #[serde(default)]
    prompt: Text,
    #[serde(default)]
    message: Text,
    #[serde(default)]
    notification_type: Text,
    #[serde(default)]
    error: Text,
    #[serde(default)]
    stop_hook_active: Text,
    #[serde(default)]
    permission_mode: Text,
    #[serde(default)]
    tool_use_id: Text,
    #[serde(default)]
    agent_id: Text,
    #[serde(default)]
    agent_type: Text,
}

#[derive(Default, Deserialize)]
struct ToolInput {
    #[serde(default)]
    file_path: Text,
    #[serde(default)]
    notebook_path: Text,
    #[serde(default)]
    path: Text,
    #[serde(default)]
    command: Text,
}

pub(super) fn read(event: &str, payload: &[u8]) -> Option<HookCall> {
    let payload: Payload<'_> = serde_json::from_slice(payload).ok()?;
    let in_subagent = payload.agent_id.0.is_some();
    let event = match event {
        "SessionStart" => HookEvent::SessionStart,
        "UserPromptSubmit" => HookEvent::Prompt(payload.prompt.0.unwrap_or_default()),
        "PreToolUse" => {
            HookEvent::ToolBefore(tool_use(payload.tool_use_id, payload.tool_name, payload.tool_input)?)
        }
        "PostToolUse" | "PostToolUseFailure" => HookEvent::ToolAfter {
            failed: event == "PostToolUseFailure",
            tool: tool_use(payload.tool_use_id, payload.tool_name, payload.tool_input).unwrap_or_default(),
        },
        "PermissionRequest" => {
            let tool = payload.tool_name.0.unwrap_or_else(|| "a tool".into());
            HookEvent::Waiting(format!("permission for {tool}"))
        }
        // It has been idle for a minute: nothing is asked of the person.
        "Notification" if payload.notification_type.is("idle_prompt") => HookEvent::Idle,
        "Notification" => HookEvent::Waiting(payload.message.0.unwrap_or_else(|| "your attention".into())),
        "Stop" => HookEvent::TurnEnd { may_go_on: !payload.stop_hook_active.is("true") },
        "StopFailure" => HookEvent::TurnFailed(payload.error.0.unwrap_or_else(|| "an error".into())),
        "SubagentStart" => HookEvent::SubagentStart {
            id: payload.agent_id.0?,
            kind: payload.agent_type.0.unwrap_or_else(|| "subagent".into()),
        },
        "SubagentStop" => HookEvent::SubagentStop { id: payload.agent_id.0? },
        "PreCompact" => HookEvent::Compacting,
        "SessionEnd" => HookEvent::SessionEnd,
        _ => return None,
    };
    Some(HookCall {
        session: payload.session_id.into_owned().into(),
        cwd: payload.cwd.into_owned().into(),
        model: payload.model.0,
        in_subagent,
        asks_first: payload.permission_mode.0.map(|mode| mode != "bypassPermissions"),
        event,
    })
}

pub(super) fn write(event: &str, reply: &HookReply) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reply<'a> {
        hook_specific_output: Output<'a>,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Output<'a> {
        hook_event_name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_context: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<&'a str>,
    }

    let mut output = Output {
        hook_event_name: event,
        additional_context: None,
        permission_decision: None,
        permission_decision_reason: None,
    };
    match reply {
        HookReply::Silence => return None,
        HookReply::Deny(reason) => {
            output.permission_decision = Some("deny");
            output.permission_decision_reason = Some(reason);
        }
        // At the end of a turn context is what makes it go on. To block the
        // stopping would do so too, but shows the model the same text twice,
        // once as an error of ours.
        HookReply::Context(text) | HookReply::GoOn(text) => output.additional_context = Some(text),
    }
    serde_json::to_string(&Reply { hook_specific_output: output }).ok()
}

fn tool_use(id: Text, name: Text, input: Option<ToolInput>) -> Option<ToolUse> {
    let (name, input) = (name.0?, input.unwrap_or_default());
    let path: Option<PathBuf> = input.file_path.0.or(input.notebook_path.0).or(input.path.0).map(Into::into);
    let act = match (name.as_str(), path, input.command.0) {
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(path), _) => Act::Writes(vec![path]),
        ("Read", Some(path), _) => Act::Reads(path),
        ("Bash", _, Some(command)) => Act::Runs(command),
        (_, Some(path), _) => Act::Visits(path),
        _ => Act::Other,
    };
    Some(ToolUse { id: id.0.unwrap_or_default(), name, act })
}

/// Text where there is text or a flag; anything else counts as absent.
#[derive(Default)]
struct Text(Option<String>);

impl Text {
    fn is(&self, text: &str) -> bool {
        self.0.as_deref() == Some(text)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyText;

        impl<'de> Visitor<'de> for AnyText {
            type Value = Text;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Text, E> {
                Ok(Text(Some(flag.to_string())))
            }

            fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_unit<E>(self) -> Result<Text, E> {
                Ok(Text(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Text(None))
            }
        }

        deserializer.deserialize_any(AnyText)
    }
}
