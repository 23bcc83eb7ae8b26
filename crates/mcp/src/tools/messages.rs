//! MCP tools of the messages room: send, inbox.

use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::journal::Number;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::messages::Priority;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::messages::UnreadLettersRequest;
use consort_core::messages::quote_letter;
use consort_core::messages::quote_message;
use consort_core::text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "send",
        about: "Send a message to agents by name, to `all` of this project, or to your user (`@me`).",
        properties: || {
            json!({
                "to": { "type": "array", "items": { "type": "string" }, "description": "names, or the first letters of one" },
                "text": { "type": "string" },
                "type": { "enum": MessageType::ALL.map(MessageType::as_str) },
                "priority": { "enum": Priority::ALL.map(Priority::as_str), "description": "how soon it interrupts" },
                "reply": { "type": ["integer", "string"], "description": "the message this answers; then `to` may be left out" },
            })
        },
        required: &["text"],
        only_reads: false,
    },
    ToolEntry {
        name: "inbox",
        about: "Read the messages that wait for you.",
        properties: || {
            json!({
                "all": { "type": "boolean", "description": "the last ones, read or not" },
                "sent": { "type": "boolean", "description": "what you sent, and who has read it" },
                "thread": { "type": ["integer", "string"], "description": "a message and its replies" },
                "peek": { "type": "boolean", "description": "leave them unread" },
                "read": { "type": "array", "items": { "type": "integer" }, "description": "those that you have, of what is shown again" },
            })
        },
        required: &[],
        only_reads: false,
    },
];

#[derive(Deserialize)]
pub(super) struct SendArgs {
    to: Option<Vec<String>>,
    text: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    reply: Option<MessageName>,
}

pub(super) fn send(context: &mut ToolContext<'_>, send: SendArgs) -> Result<ToolAnswer, Problem> {
    let unknown =
        |what: &str| Problem::user(format!("there is no {what} of that name"), "see the tool's schema");
    let kind = send.kind.as_deref().map(|kind| MessageType::named(kind).ok_or_else(|| unknown("type")));
    let priority =
        send.priority.as_deref().map(|name| Priority::named(name).ok_or_else(|| unknown("priority")));
    let me = context.me()?;
    let to = send.to.unwrap_or_default();
    let is_reply = send.reply.is_some() && to.is_empty();
    let request = SendRequest {
        caller: context.facts(),
        to: if is_reply { Recipients::Sender } else { Recipients::Named(to) },
        kind: kind.transpose()?.unwrap_or_default(),
        priority: priority.transpose()?,
        text: send.text,
        reply_to: send.reply,
        repository: Some(context.app.host().place(&me.location.worktree).repository),
        ..SendRequest::default()
    };
    let outcome = context.app.send(&request)?;
    let names: Vec<&str> = outcome.to.iter().map(|to| to.name.as_str()).collect();
    let called = outcome.message_name();
    let mut text = format!("Sent message {called} to {}.", names.join(", "));
    outcome.failed.iter().for_each(|refusal| text.push_str(&format!("\nNot sent: {refusal}")));
    // An agent that is not woken sees the message with its next prompt.
    let mut woken = Vec::new();
    for (agent, activity) in context.app.idle_recipients(&request, &outcome).unwrap_or_default() {
        if context.calls.wake(&agent, &activity) {
            text.push_str(&format!(" {} was idle and is being woken.", agent.name));
            woken.push(agent.name);
        }
    }
    let failed: Vec<String> = outcome.failed.iter().map(ToString::to_string).collect();
    let data = json!({ "number": outcome.number, "to": names, "failed": failed, "woken": woken });
    Ok(ToolAnswer::new(text, json!({ "message": data })))
}

/// Most bytes of messages that are shown at once.
const LONGEST: usize = 8_000;

#[derive(Deserialize)]
pub(super) struct InboxArgs {
    all: Option<bool>,
    sent: Option<bool>,
    thread: Option<MessageName>,
    peek: Option<bool>,
    #[serde(default)]
    read: Vec<Number>,
}

/// Most messages that are listed of those received or sent.
const LISTED: usize = 20;

/// Lists a thread, or messages sent or received, if asked for; marks none as read.
fn listed(context: &mut ToolContext<'_>, inbox: &InboxArgs) -> Result<Option<ToolAnswer>, Problem> {
    let me = context.me()?;
    let (mailbox, here) = (Actor::Agent(me.session), me.project.id);
    let posts = match inbox {
        InboxArgs { thread: Some(name), .. } => context.app.thread(name, Some(&here))?,
        InboxArgs { sent: Some(true), .. } => context.app.sent(&mailbox, LISTED)?,
        InboxArgs { all: Some(true), .. } => context.app.received(&mailbox, LISTED)?,
        _ => return Ok(None),
    };
    let now = context.app.host().now();
    let mut text = String::new();
    for post in &posts {
        let receipts: Vec<String> = post
            .receipts
            .iter()
            .map(|receipt| format!("{} ({})", receipt.name, format!("{:?}", receipt.state).to_lowercase()))
            .collect();
        let one = quote_message(&post.message, &mailbox, Some(&here), now);
        if text.len() + one.len() > LONGEST {
            break;
        }
        text.push_str(&format!("{one}  to {}\n", text::printable(&receipts.join(", "))));
    }
    let text = if text.is_empty() { "No messages." } else { text.trim_end() };
    let numbers: Vec<Value> = posts.iter().map(|post| json!({ "number": post.message.number })).collect();
    Ok(Some(ToolAnswer::new(text, json!({ "items": numbers, "text": text }))))
}

pub(super) fn inbox(context: &mut ToolContext<'_>, inbox: InboxArgs) -> Result<ToolAnswer, Problem> {
    if let Some(answer) = listed(context, &inbox)? {
        return Ok(answer);
    }
    let me = context.me()?;
    let (mailbox, here) = (Actor::Agent(me.session), Some(&me.project.id));
    context.settle_handed(&mailbox, &inbox.read)?;
    let request = UnreadLettersRequest { mailbox, from: None, peek: true };
    let mut letters = context.app.inbox(&request)?;
    let now = context.app.host().now();
    let (all, mut text, mut shown) = (letters.len(), String::new(), 0);
    for letter in &letters {
        let one = quote_letter(letter, &request.mailbox, here, now);
        if shown > 0 && text.len() + one.len() > LONGEST {
            break;
        }
        text.push_str(&one);
        shown += 1;
    }
    letters.truncate(shown);
    if letters.is_empty() {
        text.push_str("No new messages.");
    } else if !inbox.peek.unwrap_or_default() {
        // Delivered now, and read when the agent calls again: by then it has this answer.
        let ids: Vec<ChangeId> = letters.iter().map(|letter| letter.message.id).collect();
        let request = UnreadLettersRequest { peek: false, ..request };
        let handed = context.app.inbox_where(&request, |id| ids.contains(&id))?;
        context.handing.extend(handed);
    }
    if shown < all {
        text.push_str(&format!("{} more: call this again.", all - shown));
    }
    let text = text.trim_end();
    let numbers: Vec<Value> =
        letters.iter().map(|letter| json!({ "number": letter.message.number })).collect();
    Ok(ToolAnswer::new(text, json!({ "items": numbers, "text": text })))
}
