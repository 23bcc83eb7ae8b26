//! The MCP resources that a client can read besides calling tools: the agents that are here, and
//! the messages that wait. Reading a resource marks no message as read.

use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::messages::Letter;
use consort_core::messages::UnreadLettersRequest;
use consort_core::messages::quote_letter;
use consort_core::presence::Agent;
use consort_core::text;
use rmcp::model::Resource;
use rmcp::model::ResourceTemplate;

use crate::answer::Problem;
use crate::tools;
use crate::tools::ToolContext;

const OVERVIEW: &str = "consort://overview";
const INBOX: &str = "consort://inbox";
/// The beginning of a message's URI, before its id.
const MESSAGE: &str = "consort://message/";

/// Most waiting messages that are listed one by one.
const MOST: usize = 20;

/// Tells whether a URI is one that a resource can have.
pub(crate) fn exists(uri: &str) -> bool {
    uri == OVERVIEW || uri == INBOX || id(uri).is_some()
}

fn id(uri: &str) -> Option<ChangeId> {
    ChangeId::parse(uri.strip_prefix(MESSAGE)?)
}

/// Lists the resources. An agent does not join by reading the list.
pub(crate) fn list(context: &mut ToolContext<'_>) -> Vec<Resource> {
    let one = |uri: String, name: String, about: String| {
        Resource::new(uri, name).with_description(about).with_mime_type("text/plain")
    };
    let mut all = vec![
        one(OVERVIEW.into(), "overview".into(), "Who is here, and what each is doing".into()),
        one(
            INBOX.into(),
            "inbox".into(),
            "Messages that wait for you; reading them here marks nothing as read".into(),
        ),
    ];
    let Ok(Some(me)) = context.registered_caller() else { return all };
    let project = me.project.id.clone();
    for letter in waiting(context, me).unwrap_or_default().into_iter().take(MOST) {
        let (id, called) = (letter.message.id, letter.message.message_name(Some(&project)));
        let about = format!("From {}", text::one_line(&letter.message.sent.from.name, 40));
        all.push(one(format!("{MESSAGE}{id}"), format!("message {called}"), about));
    }
    all
}

/// Describes the messages that are not listed one by one.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{MESSAGE}{{id}}"), "message")
        .with_description("A message that waits for you, by its id")
        .with_mime_type("text/plain")
}

/// Reads one resource; `None` if it does not exist.
pub(crate) fn read(context: &mut ToolContext<'_>, uri: &str) -> Result<Option<String>, Problem> {
    if let Some(id) = id(uri) {
        let me = context.me()?;
        let (mailbox, project) = (Actor::Agent(me.session.clone()), me.project.id.clone());
        let now = context.app.host().now();
        let letters = waiting(context, me)?;
        return Ok(letters
            .iter()
            .find(|letter| letter.message.id == id)
            .map(|letter| quote_letter(letter, &mailbox, Some(&project), now)));
    }
    let tool = match uri {
        OVERVIEW => "who",
        INBOX => "inbox",
        _ => return Ok(None),
    };
    let answer = tools::call(context, tool, serde_json::json!({ "peek": true }));
    answer.map(|answer| answer.map(|answer| answer.text)).transpose()
}

fn waiting(context: &mut ToolContext<'_>, me: Agent) -> Result<Vec<Letter>, Problem> {
    let request = UnreadLettersRequest { mailbox: Actor::Agent(me.session), from: None, peek: true };
    Ok(context.app.inbox(&request)?)
}
