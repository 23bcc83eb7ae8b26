//! Collects everything that waits for the person: questions that a hook holds, panes that show a question or
//! a problem, mail, contested holds.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::claims::HoldView;
use consort_core::journal::Actor;
use consort_core::journal::ChangeId;
use consort_core::journal::Number;
use consort_core::messages::Letter;
use consort_core::messages::UnreadLettersRequest;
use consort_core::monitor::AttentionReason;
use consort_core::monitor::PaneSubject;
use consort_core::policy::AskKind;
use consort_core::policy::AskRecord;
use consort_core::presence::Agent;
use consort_core::presence::Caller;
use consort_core::presence::CallerFacts;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use super::waiting;
use super::waiting::WaitingAgent;
use crate::error::CommandError;
use crate::error::CommandResult;
use crate::world::World;
use crate::world::caller_facts;

/// Something that waits for the person, with the number by which it is answered.
pub(crate) struct InboxItem {
    pub(crate) number: Number,
    pub(crate) what: Waits,
}

/// The things that can wait for the person.
pub(crate) enum Waits {
    /// A question for which a hook waits.
    Asks {
        record: Box<AskRecord>,
        agent: Box<Agent>,
    },
    /// A question or a problem that a pane shows.
    Pane(Box<WaitingAgent>),
    Mail(Box<Letter>),
    Contest(Box<HoldView>),
}

/// Collects everything that waits, the questions first.
pub(crate) fn all(world: &World, app: &mut App) -> Result<Vec<InboxItem>, CommandError> {
    let caller = caller_facts(app);
    all_of(world, app, &caller, &|_| true)
}

/// Collects everything that waits, but looks only at the panes that `is_wanted` accepts.
pub(crate) fn all_of(
    world: &World,
    app: &mut App,
    caller: &CallerFacts,
    is_wanted: &dyn Fn(&PaneSubject) -> bool,
) -> Result<Vec<InboxItem>, CommandError> {
    let mut found = Vec::new();
    for record in app.open_asks()? {
        if let Some((agent, _)) = app.present_session(&record.ask.session)? {
            found.push(Waits::Asks { record: Box::new(record), agent: Box::new(agent) });
        }
    }
    for pane in waiting::all_of(world, app, is_wanted)? {
        let session = pane.subject.agent.as_ref().map(|agent| &agent.session);
        let is_held =
            |one: &Waits| matches!(one, Waits::Asks { agent, .. } if Some(&agent.session) == session);
        if !found.iter().any(is_held) {
            found.push(Waits::Pane(Box::new(pane)));
        }
    }
    // A contest by the person does not wait for the person.
    let is_contested =
        |view: &HoldView| view.hold.contest.as_ref().is_some_and(|contest| contest.by != Actor::Person);
    let contested = app.holds(caller, None, 0)?.holds.into_iter().filter(is_contested);
    found.extend(contested.map(|view| Waits::Contest(Box::new(view))));
    // The person's mail is for nobody else's eyes.
    if matches!(app.caller(caller)?, Caller::Person) {
        let mail = app.inbox(&UnreadLettersRequest { mailbox: Actor::Person, from: None, peek: true })?;
        // A message that asks something waits until it is answered, read or not.
        let asked = app.unanswered(&Actor::Person)?.into_iter().map(Letter::of_read_message);
        found.extend(mail.into_iter().chain(asked).map(|letter| Waits::Mail(Box::new(letter))));
    }
    let keys: Vec<String> = found.iter().map(Waits::key).collect();
    let numbers = app.waiting_numbers(&keys);
    Ok(numbers.into_iter().zip(found).map(|(number, what)| InboxItem { number, what }).collect())
}

/// Marks a message to the person as read.
pub(crate) fn mark_read(app: &mut App, message: ChangeId) -> CommandResult {
    let request = UnreadLettersRequest { mailbox: Actor::Person, from: None, peek: false };
    let letters = app.inbox_where(&request, |id| id == message)?;
    Ok(app.mark_read(&Actor::Person, &letters)?)
}

impl Waits {
    /// Returns a key that tells this thing from all others.
    fn key(&self) -> String {
        match self {
            Self::Asks { record, .. } => format!("ask {}", record.id),
            Self::Pane(pane) => {
                let address = &pane.subject.address;
                let (server, id, why) = (address.server.display(), &address.id, pane.why.as_str());
                // The dialog and the question are part of the key: a number answers only what was seen under
                // it.
                let question = pane.reading.question.as_deref().unwrap_or_default();
                let dialog = text::stable_hash(pane.dialog.as_deref().unwrap_or_default().as_bytes());
                format!("pane {server} {id} {why} {dialog:x} {question}")
            }
            Self::Mail(letter) => format!("mail {}", letter.message.id),
            Self::Contest(view) => format!("contest {} {}", view.hold.resource, view.hold.holder),
        }
    }

    /// Tells whether an answer would allow something.
    pub(crate) fn is_permission(&self) -> bool {
        match self {
            Self::Asks { record, .. } => record.ask.kind != AskKind::Question,
            Self::Pane(pane) => {
                matches!(
                    pane.why,
                    AttentionReason::Permission | AttentionReason::Plan | AttentionReason::Dialog
                )
            }
            Self::Mail(_) | Self::Contest(_) => false,
        }
    }

    /// Returns the name of the agent or sender, as the command line takes it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Asks { agent, .. } => agent.name.to_string(),
            Self::Pane(pane) => pane.subject.name(),
            Self::Mail(letter) => letter.message.sent.from.name.clone(),
            Self::Contest(view) => view.name.clone(),
        }
    }
}

impl InboxItem {
    /// Formats the item as JSON.
    pub(crate) fn json(&self, app: &App) -> Value {
        let mut item = match &self.what {
            Waits::Asks { record, agent } => json!({
                "agent": { "name": agent.name, "cli": agent.kind, "session": agent.session,
                    "machine": agent.location.machine },
                "why": record.ask.kind.as_str(),
                "tool": record.ask.tool,
                "question": record.ask.text,
                "questions": record.ask.questions,
                "about": text::one_line(&format!("{} {}", record.ask.tool, record.ask.text), 300),
                "options": record.options(),
                "pane": agent.location.terminal.pane,
                "since_at": record.at.rfc3339(),
            }),
            Waits::Pane(pane) => pane.item(app),
            Waits::Mail(letter) => {
                let message = &letter.message;
                // Nobody reads an answer to a notice of ours.
                let is_notice = message.sent.from.who == Actor::Consort;
                let options: &[&str] = if is_notice { &[] } else { &["reply"] };
                json!({
                    "agent": { "name": message.sent.from.name, "cli": message.sent.from.kind },
                    "why": "message",
                    "question": message.sent.text,
                    "about": text::one_line(&message.sent.text, 300),
                    "options": options,
                    "since_at": message.at.rfc3339(),
                })
            }
            Waits::Contest(view) => contest(view),
        };
        item["number"] = json!(self.number);
        item
    }
}

/// Returns the commands by which the person decides a contest, each after what it does.
pub(crate) fn deciding(view: &HoldView) -> Vec<(&'static str, String)> {
    let resource = &view.hold.resource;
    let what = text::shell_quoted(&resource.shown());
    if view.yours {
        return vec![
            ("let it go", format!("consort release {what}")),
            ("keep it", format!("consort reserve {what}")),
        ];
    }
    let mut commands = vec![("free it", format!("consort release --force {what}"))];
    if resource.pattern().is_some() {
        commands.push(("open it to everyone for a while", format!("consort holds override {what}")));
    }
    commands
}

fn contest(view: &HoldView) -> Value {
    let contest = view.hold.contest.as_ref();
    let (label, reason) =
        contest.map_or(("somebody", None), |contest| (contest.label.as_str(), contest.reason.as_deref()));
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    json!({
        "agent": { "name": view.name },
        "why": "contest",
        "about": format!("{label} wants {}{reason}", view.hold.resource.shown()),
        "options": ["wait", "override"],
        "commands": deciding(view).into_iter().map(|(does, command)| json!({ "does": does, "command": command })).collect::<Vec<_>>(),
        "since_at": contest.map(|contest| contest.at.rfc3339()),
        "reset_at": contest.map(|contest| Timestamp::rfc3339(contest.until)),
    })
}
