//! Routes of the messages room: send, reply, inbox.

use consort_core::journal::ChangeId;
use consort_core::messages::MessageName;
use consort_core::messages::MessageType;
use consort_core::messages::Priority;
use consort_core::messages::Recipients;
use consort_core::messages::SendRequest;
use consort_core::messages::UnreadLettersRequest;
use serde::Deserialize;

use super::ApiCall;
use super::ApiResult;
use super::told;
use crate::reply::ApiError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outgoing {
    #[serde(default)]
    to: Vec<String>,
    #[serde(default)]
    everywhere: bool,
    text: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    priority: Option<String>,
    reply: Option<MessageName>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    /// The ids of the messages.
    messages: Vec<ChangeId>,
}

impl ApiCall<'_> {
    pub(super) fn inbox(&mut self, rest: &[&str]) -> ApiResult {
        match rest {
            [] => {
                let mailbox = self.mailbox()?;
                let letters = self.app.inbox(&UnreadLettersRequest { mailbox, from: None, peek: true })?;
                self.items(&letters)
            }
            ["all"] => {
                let mailbox = self.mailbox()?;
                let received = self.app.received(&mailbox, self.about.limit())?;
                self.items(&received)
            }
            ["sent"] => {
                let from = self.mailbox()?;
                let sent = self.app.sent(&from, self.about.limit())?;
                self.items(&sent)
            }
            ["thread", name] => {
                let project = self.project()?.map(|project| project.id);
                let name = name.parse().map_err(ApiError::malformed)?;
                let thread = self.app.thread(&name, project.as_ref())?;
                self.items(&thread)
            }
            _ => Err(ApiError::not_found()),
        }
    }

    /// Sends an answer to a message.
    pub(super) fn reply(&mut self, name: &str, reply: Outgoing) -> ApiResult {
        let name = name.parse().map_err(ApiError::malformed)?;
        self.send(Outgoing { reply: Some(name), ..reply })
    }

    pub(super) fn send(&mut self, send: Outgoing) -> ApiResult {
        let to = match (send.everywhere, send.to.is_empty(), &send.reply) {
            (true, ..) => Recipients::Everywhere,
            (false, true, Some(_)) => Recipients::Sender,
            (false, ..) => Recipients::Named(send.to),
        };
        let unknown = |what: &str| ApiError::malformed(format!("there is no {what} of that name"));
        let kind = send.kind.map(|kind| MessageType::named(&kind).ok_or_else(|| unknown("type")));
        let priority = send.priority.map(|name| Priority::named(&name).ok_or_else(|| unknown("priority")));
        let request = SendRequest {
            caller: self.caller.clone(),
            to,
            kind: kind.transpose()?.unwrap_or_default(),
            priority: priority.transpose()?,
            text: send.text,
            reply_to: send.reply,
            key: send.key,
            project: self.project()?.map(|project| project.id),
            ..SendRequest::default()
        };
        let outcome = self.app.send(&request)?;
        for (agent, activity) in self.app.idle_recipients(&request, &outcome).unwrap_or_default() {
            self.calls.wake(&agent, &activity);
        }
        told(self.app.wrap_one("message", &outcome))
    }

    /// Marks messages as read, once a client has shown them to somebody: until then they wait.
    pub(super) fn read(&mut self, read: &Read) -> ApiResult {
        let mailbox = self.mailbox()?;
        let request = UnreadLettersRequest { mailbox: mailbox.clone(), from: None, peek: true };
        let mut letters = self.app.inbox(&request)?;
        letters.retain(|letter| read.messages.contains(&letter.message.id));
        self.app.mark_read(&mailbox, &letters)?;
        let read: Vec<ChangeId> = letters.iter().map(|letter| letter.message.id).collect();
        self.items(&read)
    }
}
