//! Writes our answer to a hook in the two JSON forms that agent CLIs understand.

use consort_core::hooks::HookReply;
use serde::Serialize;

/// Writes `{"hookSpecificOutput": {"hookEventName": …, …}}`, the form of Claude Code.
pub(crate) fn nested(event: &str, reply: &HookReply) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reply<'a> {
        hook_specific_output: Output<'a>,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Output<'a> {
        hook_event_name: &'a str,
        #[serde(flatten)]
        flat: Flat<'a>,
    }

    let flat = Flat::new(reply)?;
    serde_json::to_string(&Reply { hook_specific_output: Output { hook_event_name: event, flat } }).ok()
}

/// Writes only the inner fields of [`nested`], without the event's name around them.
pub(crate) fn flat(reply: &HookReply) -> Option<String> {
    serde_json::to_string(&Flat::new(reply)?).ok()
}

/// Writes `{"decision": …, "reason": …}`.
pub(crate) fn decision(decision: &str, reason: &str) -> Option<String> {
    #[derive(Serialize)]
    struct Decision<'a> {
        decision: &'a str,
        reason: &'a str,
    }

    serde_json::to_string(&Decision { decision, reason }).ok()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flat<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
}

impl<'a> Flat<'a> {
    fn new(reply: &'a HookReply) -> Option<Self> {
        let (context, decided) = match reply {
            // A rewritten command would escape the person's rules.
            HookReply::Silence | HookReply::Rewrite(_) => return None,
            HookReply::Context(text) | HookReply::GoOn(text) => (Some(text.as_str()), None),
            HookReply::Deny(reason) => (None, Some(("deny", reason.as_str()))),
            HookReply::Ask(reason) => (None, Some(("ask", reason.as_str()))),
        };
        Some(Self {
            additional_context: context,
            permission_decision: decided.map(|(decision, _)| decision),
            permission_decision_reason: decided.map(|(_, reason)| reason),
        })
    }
}
