//! The verbs of the messages room, one file each, and functions for other rooms: notices, open threads,
//! forgetting old messages.

mod deliver;
mod history;
mod inbox;
mod send;
mod wake;

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::Timestamp;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::host::MachineProcess;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::messages::LetterState;
use crate::messages::Message;
use crate::messages::MessageChange;
use crate::messages::MessageStore;
use crate::messages::MessageType;
use crate::messages::OpenThread;
use crate::messages::Priority;
use crate::messages::RecordedMessage;
use crate::messages::Sender;
use crate::messages::rules;
use crate::messages::rules::DeliveryState;
use crate::presence;
use crate::presence::Agent;
use crate::presence::PresenceStore;
use crate::presence::SessionId;
use crate::project::Project;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

/// Makes the change by which Consort sends agents, or the person if there are none, a message about changes
/// in the same entry.
pub(crate) fn notice(to: &[&Agent], kind: MessageType, priority: Priority, text: String) -> Change {
    let to = match to {
        [] => vec![send::person()],
        agents => agents.iter().map(|agent| send::recipient(agent)).collect(),
    };
    let from = consort();
    let sent = RecordedMessage { from, to, kind, priority, text, reply_to: None, thread: None, key: None };
    Change::Messages(MessageChange::Sent(Box::new(sent)))
}

/// Describes an agent, or the person, as the sender of a message.
fn sender(host: &dyn Host, me: Option<&Agent>) -> Sender {
    send::sender(me, |me| host.branch(&me.location.worktree).or_else(|| me.branch.clone()))
}

/// Describes Consort as the sender of a message.
fn consort() -> Sender {
    let (who, name) = (Actor::Consort, "consort".into());
    Sender { who, name, kind: None, project: None, branch: None, details: None }
}

/// Makes the change by which Consort sends an agent a message. With a key, the message can be taken back.
pub(crate) fn remark(to: &Agent, text: String, key: Option<String>) -> Change {
    let from = consort();
    let (to, kind, priority) = (vec![send::recipient(to)], MessageType::Info, Priority::Normal);
    let sent = RecordedMessage { from, to, kind, priority, text, reply_to: None, thread: None, key };
    Change::Messages(MessageChange::Sent(Box::new(sent)))
}

/// Returns the change that takes back Consort's message with this key, if the session has not read it.
pub(crate) fn take_back(tx: &dyn Tx, session: &SessionId, key: &str) -> Result<Option<Change>, StoreError> {
    let to = Actor::Agent(session.clone());
    let Some(message) = tx.by_key(&Actor::Consort, key)? else { return Ok(None) };
    let is_unheard = tx.unread(&to)?.iter().any(|letter| letter.message.id == message.id);
    let unsaid = Change::Messages(MessageChange::Dropped { to, messages: vec![message.id] });
    Ok(Some(unsaid).filter(|_| is_unheard))
}

/// Returns the changes that remove messages sent before `before` that everyone has read. An unread letter is
/// given up only if its recipient is long gone, and by a change that says so.
pub(crate) fn forget_before(tx: &dyn Tx, before: Timestamp) -> Result<Vec<Change>, StoreError> {
    let long_gone = presence::gone_before(tx, before)?;
    let mut forgotten = Vec::new();
    let mut dropped: BTreeMap<Actor, Vec<ChangeId>> = BTreeMap::new();
    for post in tx.sent_before(before)? {
        let mut is_needed = false;
        for receipt in &post.receipts {
            match &receipt.to {
                _ if receipt.state == LetterState::Read => {}
                Actor::Agent(session) if long_gone(session)? => {
                    dropped.entry(receipt.to.clone()).or_default().push(post.message.id);
                }
                _ => is_needed = true,
            }
        }
        if !is_needed {
            forgotten.push(post.message.id);
        }
    }
    let mut changes: Vec<Change> = dropped
        .into_iter()
        .map(|(to, messages)| Change::Messages(MessageChange::Dropped { to, messages }))
        .collect();
    if !forgotten.is_empty() {
        changes.push(Change::Messages(MessageChange::Forgotten { messages: forgotten }));
    }
    Ok(changes)
}

/// Most messages that are searched for open threads.
const LOOKED_THROUGH: usize = 50;

/// Returns the questions of the last day that an agent has not answered, and its own that nobody has
/// answered, newest first. Unread messages are left out, because they are shown to the agent anyway.
pub(crate) fn open_threads(tx: &dyn Tx, me: &Agent, now: Timestamp) -> Result<Vec<OpenThread>, StoreError> {
    let (mailbox, since) = (Actor::Agent(me.session.clone()), now.minus(Timestamp::DAY));
    // Usually there is nothing, and the start of a session waits for this.
    if !tx.has_correspondence(&mailbox, since)? {
        return Ok(Vec::new());
    }
    let received = tx.received(&mailbox, since, LOOKED_THROUGH)?;
    let sent = tx.sent_by(&mailbox, since, LOOKED_THROUGH)?;
    let open = rules::open_threads(&mailbox, &received, &sent, now);
    let mut open: Vec<Message> = open.into_iter().cloned().collect();
    name_projects(tx, Some(&me.project.id), open.iter_mut())?;
    let view = |message: &Message| {
        let is_mine = message.sent.from.who == mailbox;
        let other =
            if is_mine { message.sent.to.first().map(|to| &to.who) } else { Some(&message.sent.from.who) };
        let with = other.map_or_else(|| Ok(String::new()), |other| name_of(tx, other))?;
        Ok(OpenThread { called: message.message_name(Some(&me.project.id)), with, is_mine })
    };
    open.iter().map(view).collect()
}

/// Counts the unread letters of each mailbox.
pub(crate) fn unread_counts(store: &dyn MessageStore) -> Result<BTreeMap<Actor, usize>, StoreError> {
    store.unread_counts()
}

/// Returns a function that tells the state of a process's delivery to this mailbox; each process is looked up
/// only once.
fn delivery_states<'a>(
    host: &'a dyn Host,
    flags: &'a dyn SideFiles,
    mailbox: &'a Actor,
) -> impl Fn(&MachineProcess) -> DeliveryState + 'a {
    let known: RefCell<Vec<(MachineProcess, DeliveryState)>> = RefCell::default();
    move |by| {
        if let Some((_, state)) = known.borrow().iter().find(|(process, _)| process == by) {
            return *state;
        }
        // The order matters: a delivering process first notes that it has shown everything, and then ends.
        let is_alive = host.is_alive_anywhere(by);
        let state = match mailbox {
            Actor::Agent(session) if flags.was_shown(session, by) => DeliveryState::Shown,
            _ if is_alive => DeliveryState::Busy,
            _ => DeliveryState::CutShort,
        };
        known.borrow_mut().push((by.clone(), state));
        state
    }
}

/// Fills in the project names of messages that belong to other projects than `here`.
fn name_projects<'a>(
    store: &dyn PresenceStore,
    here: Option<&ProjectId>,
    messages: impl Iterator<Item = &'a mut Message>,
) -> Result<(), StoreError> {
    let is_elsewhere = |message: &&mut Message| message.project.is_some() && message.project.as_ref() != here;
    let mut elsewhere = messages.filter(is_elsewhere).peekable();
    if elsewhere.peek().is_none() {
        return Ok(());
    }
    let projects = store.projects()?;
    for message in elsewhere {
        message.project_name = message.project.as_ref().and_then(|id| project_name(&projects, id));
    }
    Ok(())
}

/// Returns the name of a project, unless another project has the same name.
fn project_name(projects: &[Project], id: &ProjectId) -> Option<String> {
    let found = projects.iter().find(|project| project.id == *id)?;
    let is_namesake = |other: &Project| other.name == found.name && other.id != found.id;
    (!projects.iter().any(is_namesake)).then(|| found.name.clone())
}

/// Returns the name of a mailbox's owner.
fn name_of(store: &dyn PresenceStore, who: &Actor) -> Result<String, StoreError> {
    Ok(match who {
        Actor::Person => "your user".into(),
        Actor::Consort => "consort".into(),
        Actor::Agent(session) => {
            store.agent(session)?.map_or_else(|| session.to_string(), |(agent, _)| agent.name.to_string())
        }
    })
}
