//! Gathers the messages between the person and agents for the screen.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_core::App;
use consort_core::journal::Actor;
use consort_core::messages::LetterState;
use consort_core::messages::MessageType;
use consort_core::messages::SentMessage;
use consort_core::messages::UnreadLettersRequest;
use consort_core::project::ProjectId;
use consort_core::text;
use consort_tui::MessageInfo;

use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::OpenWorld;

/// Most messages of each direction that are shown.
const MOST: usize = 200;

/// Lists the messages that the person has sent and received, oldest first.
pub(super) fn read(opened: &mut OpenWorld) -> Result<Vec<MessageInfo>, CommandError> {
    let app = &mut opened.app;
    let unread = app.inbox(&UnreadLettersRequest { mailbox: Actor::Person, from: None, peek: true })?;
    let unread: BTreeSet<String> = unread.iter().map(|letter| letter.message.id.to_string()).collect();
    let mut found = BTreeMap::new();
    let all = app.sent(&Actor::Person, MOST)?.into_iter().chain(app.received(&Actor::Person, MOST)?);
    for sent in all {
        let id = sent.message.id.to_string();
        let is_unread = unread.contains(&id);
        found.insert((sent.message.at, id), message(&sent, is_unread, &opened.project.id));
    }
    Ok(found.into_values().collect())
}

/// Converts a message for the screen.
pub(super) fn message(sent: &SentMessage, is_unread: bool, here: &ProjectId) -> MessageInfo {
    let SentMessage { message, receipts } = sent;
    let is_mine = message.sent.from.who == Actor::Person;
    let name = |who: &Actor, name: &str| match who {
        Actor::Person => "you".to_owned(),
        _ => text::one_line(name, 40),
    };
    let state = |wanted: LetterState| receipts.iter().all(|receipt| receipt.state == wanted);
    let read = receipts.iter().filter(|receipt| receipt.state == LetterState::Read).count();
    let receipt = match receipts.len() {
        0 => None,
        _ if state(LetterState::Read) => Some("read".to_owned()),
        1 if state(LetterState::Delivered) => Some("delivered".to_owned()),
        1 => Some("waiting".to_owned()),
        count => Some(format!("read by {read} of {count}")),
    };
    MessageInfo {
        id: message.id.to_string(),
        called: called(message, here),
        at: message.at,
        from: name(&message.sent.from.who, &message.sent.from.name),
        to: message.sent.to.iter().map(|to| name(&to.who, &to.name)).collect(),
        text: text::printable(&message.sent.text),
        kind: (message.sent.kind != MessageType::Info).then(|| message.sent.kind.as_str().to_owned()),
        is_mine,
        is_unread,
        receipt: receipt.filter(|_| is_mine),
    }
}

/// Returns the name of a message as `consort reply` takes it.
pub(super) fn called(message: &consort_core::messages::Message, here: &ProjectId) -> String {
    message.message_name(Some(here)).trim_start_matches('#').to_owned()
}

/// Marks the messages of an agent to the person as read: they are on the screen.
pub(super) fn mark_read(app: &mut App, from: &str) -> CommandResult {
    let request = UnreadLettersRequest { mailbox: Actor::Person, from: None, peek: true };
    let letters = app.inbox(&request)?;
    let ids: Vec<_> = letters
        .iter()
        .filter(|letter| letter.message.sent.from.name == from)
        .map(|letter| letter.message.id)
        .collect();
    let letters =
        app.inbox_where(&UnreadLettersRequest { peek: false, ..request }, |id| ids.contains(&id))?;
    app.mark_read(&Actor::Person, &letters)?;
    Ok(())
}
