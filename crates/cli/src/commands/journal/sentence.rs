//! Describes an entry of the journal in a line, for people.

use std::collections::HashMap;

use consort_core::App;
use consort_core::claims::ClaimChange;
use consort_core::claims::HoldMode;
use consort_core::claims::ReleaseCause;
use consort_core::claims::Strength;
use consort_core::convergence::ConvergenceChange;
use consort_core::dispatch::DispatchChange;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::ChangeId;
use consort_core::journal::Entry;
use consort_core::journal::JournalChange;
use consort_core::journal::KeptChange;
use consort_core::journal::Number;
use consort_core::knowledge::Edit;
use consort_core::knowledge::EditChange;
use consort_core::knowledge::KnowledgeChange;
use consort_core::messages::MessageChange;
use consort_core::messages::Recipient;
use consort_core::monitor::MonitorChange;
use consort_core::monitor::RecordedPaneState;
use consort_core::policy::AskAnswer;
use consort_core::policy::DecidedBy;
use consort_core::policy::PolicyChange;
use consort_core::presence::LeaveReason;
use consort_core::presence::PresenceChange;
use consort_core::presence::SessionId;
use consort_core::tasks::TaskChange;
use consort_core::tasks::TaskKey;
use consort_core::text;

use crate::error::CommandError;
use crate::time;

/// Describes an entry in a line.
pub(crate) fn sentence(
    app: &mut App,
    entry: &Entry,
    names: &mut HashMap<SessionId, String>,
) -> Result<String, CommandError> {
    let mut numbers = HashMap::new();
    let mut askers = HashMap::new();
    for kept in &entry.changes {
        if let Change::Messages(change) = &kept.change {
            for id in mentioned(change) {
                numbers.extend(app.message_numbers(&[*id])?.first().map(|number| (*id, *number)));
            }
        }
        if let Change::Policy(PolicyChange::Answered { ask, .. } | PolicyChange::Closed { ask, .. }) =
            &kept.change
        {
            askers.extend(asker(app, *ask)?.map(|session| (*ask, session)));
        }
    }
    let mut name = |session: &SessionId| -> Result<String, CommandError> {
        if !names.contains_key(session) {
            let name = app.name_of(session)?.map_or_else(|| session.to_string(), |name| name.to_string());
            names.insert(session.clone(), name);
        }
        Ok(names[session].clone())
    };
    let mut parts = Vec::new();
    for KeptChange { number, change } in &entry.changes {
        parts.push(match change {
            Change::Presence(change) => presence(change, &entry.actor, &mut name)?,
            Change::Messages(change) => message(change, *number, &numbers, &mut |who| match who {
                Actor::Agent(session) => name(session),
                Actor::Person => Ok("you".into()),
                Actor::Consort => Ok("consort".into()),
            })?,
            Change::Claims(change) => hold(change, number.is_some()),
            Change::Tasks(change) => task(change, &entry.actor, &mut name)?,
            Change::Convergence(change) => convergence(change, *number),
            Change::Knowledge(change) => knowledge(change),
            Change::Monitor(change) => pane(change, *number),
            Change::Policy(change) => policy(change, *number, &askers, &mut name)?,
            Change::Dispatch(change) => dispatch(change, *number),
            Change::Journal(JournalChange::Pruned { through, .. }) => {
                format!("entries up to {through} pruned")
            }
            Change::Unknown(unknown) => format!("{} {}", unknown.room, unknown.change),
            Change::Dropped => continue,
        });
    }
    // The sentence about an agent's own change names the agent.
    let actor = match &entry.actor {
        Actor::Agent(_) => "",
        Actor::Person if says_who(&entry.changes) => "",
        Actor::Person => "you: ",
        Actor::Consort
            if matches!(entry.changes.first(), Some(KeptChange { change: Change::Messages(_), .. })) =>
        {
            ""
        }
        Actor::Consort => "consort: ",
    };
    Ok(text::one_line(&format!("{actor}{}", parts.join("; ")), 500))
}

fn presence(
    change: &PresenceChange,
    actor: &Actor,
    name: &mut dyn FnMut(&SessionId) -> Result<String, CommandError>,
) -> Result<String, CommandError> {
    Ok(match change {
        PresenceChange::RepositorySeen { project, .. } => {
            format!("project {} first seen ({})", project.name, project.id)
        }
        PresenceChange::Joined(agent) => {
            let branch = agent.branch.as_ref().map_or_else(String::new, |branch| format!(" on {branch}"));
            format!("{} joined ({} in {}{branch})", agent.name, agent.kind, agent.project.name)
        }
        PresenceChange::Renamed { from, name, .. } => format!("{from} is now {name}"),
        PresenceChange::Left { session, reason } => {
            let why = match reason {
                LeaveReason::Ended => "left: session ended",
                LeaveReason::Asked if *actor == Actor::Person => "was sent away",
                LeaveReason::Asked => "left",
                LeaveReason::Died => "is gone: process ended",
                LeaveReason::Silent => "is gone: not heard from",
                LeaveReason::Replaced => "was replaced by another session of its process",
            };
            format!("{} {why}", name(session)?)
        }
        PresenceChange::Forgotten { session } => format!("session {session} forgotten"),
    })
}

/// Tells whether the sentence itself begins with the actor.
fn says_who(changes: &[KeptChange]) -> bool {
    let first = changes.first().map(|kept| &kept.change);
    matches!(first, Some(Change::Messages(_) | Change::Claims(_) | Change::Tasks(_)))
}

fn convergence(change: &ConvergenceChange, number: Option<Number>) -> String {
    match change {
        ConvergenceChange::Predicted { pair, signal, .. } => {
            let [one, other] = pair.each_ref().map(|party| &party.name);
            let number =
                number.map_or_else(|| " still".to_owned(), |number| format!(" (prediction #{number})"));
            let kind = signal.kind.as_str();
            let about = signal.files.iter().chain(&signal.topics).chain(&signal.domains).cloned();
            format!(
                "{one} and {other} may meet{number}: {kind}, {:.2}, {}",
                signal.confidence,
                text::first_few(about, 4)
            )
        }
        ConvergenceChange::Resolved { number, outcome, how, tally, .. } => {
            format!("prediction #{number} {}: {how}; threshold {:.2}", outcome.words(), tally.threshold)
        }
        ConvergenceChange::Assigned { topic, domain: Some(domain) } => format!("{topic} belongs to {domain}"),
        ConvergenceChange::Assigned { topic, domain: None } => format!("{topic} belongs to no domain"),
        ConvergenceChange::Learned { learned } => {
            format!("learned of {}", text::counted_noun(learned.len(), "topic"))
        }
    }
}

/// Names the entities of a batch; `consort know` shows their content.
fn knowledge(change: &KnowledgeChange) -> String {
    let names = |edits: &mut dyn Iterator<Item = &Edit>| {
        let named = edits.filter_map(|edit| match &edit.change {
            EditChange::Set { field, value } if matches!(field.as_str(), "name" | "path" | "from") => {
                Some(text::one_line(value.as_str().unwrap_or_default(), 60))
            }
            _ => None,
        });
        text::first_few(named.collect::<Vec<_>>(), 4)
    };
    match change {
        KnowledgeChange::Edited { edits, .. } => match names(&mut edits.iter()) {
            names if names.is_empty() => "something known was changed".to_owned(),
            names => format!("knowledge recorded: {names}"),
        },
        KnowledgeChange::Merged { edits, ahead, .. } => {
            let count = text::counted_noun(edits.len(), "word");
            let ahead = match ahead.len() {
                0 => String::new(),
                more => format!(" ({} dated too far ahead and left out)", text::counted_noun(more, "word")),
            };
            let names = names(&mut edits.iter().map(|one| &one.edit));
            format!("knowledge from elsewhere, {count}{ahead}: {names}")
        }
    }
}

fn hold(change: &ClaimChange, is_new: bool) -> String {
    match change {
        ClaimChange::Held(hold) => {
            let (label, resource) = (&hold.label, hold.resource.shown());
            let verb = match hold.strength {
                Strength::Advisory => "claims",
                Strength::Blocking => "reserves",
                Strength::Overridden => return format!("{label} lets everyone write {resource}"),
            };
            let again = if is_new { "" } else { " again" };
            let mode = if hold.mode == HoldMode::Shared { " (shared)" } else { "" };
            let reason = hold.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{label} {verb} {resource}{again}{mode}{reason}")
        }
        ClaimChange::Contested { key, contest } => {
            let reason = contest.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} contests {}{reason}", contest.label, key.resource.shown())
        }
        // Only an override is held in Consort's name.
        ClaimChange::Released { key, .. } if key.holder == Actor::Consort => {
            format!("the override of {} is over", key.resource.shown())
        }
        ClaimChange::Released { key, why } => {
            let why = match why {
                ReleaseCause::Asked => "released",
                ReleaseCause::HolderGone => "free: its holder is gone",
                ReleaseCause::TakenOver => "taken over by its holder's new session",
                ReleaseCause::Expired => "free: its time was up",
                ReleaseCause::Forced => "taken from its holder",
            };
            format!("{} is {why}", key.resource.shown())
        }
    }
}

fn pane(change: &MonitorChange, number: Option<Number>) -> String {
    match change {
        MonitorChange::Opened(opened) => {
            let number = number.map_or_else(String::new, |number| format!(" #{number}"));
            format!("{} ({}) opened in pane{number}, {}", opened.name, opened.cli, opened.place.address)
        }
        MonitorChange::Turned(turn) => {
            let about = turn.about.as_ref().map_or_else(String::new, |about| format!(": {about}"));
            let verb = if turn.state == RecordedPaneState::Exited { "has" } else { "is" };
            format!("{} {verb} {}{about}", turn.name, turn.state.as_str())
        }
        MonitorChange::Closed { name, .. } => format!("the pane of {name} is closed"),
    }
}

fn dispatch(change: &DispatchChange, number: Option<Number>) -> String {
    match change {
        DispatchChange::Asked { spec, .. } => {
            let number = number.unwrap_or_default();
            format!("run {number}: {} ({}, {}) is to do: {}", spec.name, spec.role, spec.cli, spec.title)
        }
        DispatchChange::Started { number, .. } => format!("run {number} was started"),
        DispatchChange::Reserved { number, amount, .. } => {
            format!("${:.2} are set aside for run {number}", amount.dollars())
        }
        DispatchChange::Parked { number, until, why, .. } => {
            format!("run {number} waits until {}: {why}", time::local(*until))
        }
        DispatchChange::Ended { number, end, .. } => {
            let why =
                end.failure.as_ref().map_or_else(String::new, |failure| format!(": {}", failure.message));
            format!("run {number} {}{why}", end.state.predicate())
        }
        DispatchChange::Refused { gate, why, title } => {
            format!("a run was refused ({gate}): {why}; it was to do: {title}")
        }
        DispatchChange::Hidden { .. } => "earlier runs are not listed any more".to_owned(),
    }
}

/// Finds the session that has asked a question, if that is still known.
fn asker(app: &mut App, ask: ChangeId) -> Result<Option<SessionId>, CommandError> {
    let entry = app.journal_entry(ask.entry)?;
    let asked = entry.and_then(|entry| entry.changes.into_iter().nth(ask.place as usize));
    Ok(match asked.map(|kept| kept.change) {
        Some(Change::Policy(PolicyChange::Asked(ask))) => Some(ask.session),
        _ => None,
    })
}

fn policy(
    change: &PolicyChange,
    number: Option<Number>,
    askers: &HashMap<ChangeId, SessionId>,
    name: &mut dyn FnMut(&SessionId) -> Result<String, CommandError>,
) -> Result<String, CommandError> {
    let number = number.unwrap_or_default();
    let asker = change.subject().and_then(|ask| askers.get(&ask)).map(&mut *name).transpose()?;
    let asker = asker.unwrap_or_else(|| "an agent".to_owned());
    Ok(match change {
        PolicyChange::Added(rule) => {
            let pattern = rule.pattern.as_ref().map_or_else(String::new, |pattern| format!(" {pattern}"));
            format!("rule #{number} added: {} {}{pattern}", rule.effect.as_str(), rule.tool)
        }
        PolicyChange::Removed { number, .. } => format!("rule #{number} removed"),
        PolicyChange::Asked(ask) => {
            let (who, text) = (name(&ask.session)?, text::one_line(&ask.text, 160));
            format!("{who} asks (#{number}): {} {text}", ask.tool)
        }
        PolicyChange::Answered { answer, by, .. } => {
            let by = match by {
                // The line begins with `you`.
                DecidedBy::Person => String::new(),
                DecidedBy::Opener => ", by its opener".to_owned(),
                DecidedBy::Rule { number, .. } => format!(", by rule #{number}"),
                DecidedBy::Setting(rule) => format!(", by the setting {rule}"),
            };
            match answer {
                AskAnswer::Allow => format!("{asker} is allowed to{by}"),
                AskAnswer::Always => format!("{asker} is allowed to{by}, from now on"),
                AskAnswer::Deny(reason) => {
                    format!("{asker} is refused{by}: {}", text::one_line(reason, 160))
                }
                AskAnswer::Chosen(chosen) => {
                    format!("{asker} is answered{by}: {}", text::first_few(chosen.clone(), 4))
                }
            }
        }
        PolicyChange::Closed { was_answered: true, .. } => format!("{asker} has its answer"),
        PolicyChange::Closed { was_answered: false, .. } => {
            format!("{asker} was answered in its terminal, or left it")
        }
    })
}

fn task(
    change: &TaskChange,
    actor: &Actor,
    name: &mut dyn FnMut(&SessionId) -> Result<String, CommandError>,
) -> Result<String, CommandError> {
    let TaskKey { spec, id } = change.key();
    let what = format!("{id} of {}", spec.path);
    Ok(match change {
        TaskChange::Claimed { worker, .. } => {
            let reason = worker.words.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} claims {what}{reason}", worker.name)
        }
        TaskChange::Completed { worker, .. } => {
            let notes = worker.words.as_ref().map_or_else(String::new, |notes| format!(": {notes}"));
            format!("{} completes {what}{notes}", worker.name)
        }
        TaskChange::Freed { holder_gone: true, .. } => format!("{what} is free: its worker is gone"),
        TaskChange::Freed { worker: Actor::Agent(session), .. } if actor != &Actor::Person => {
            format!("{} gives back {what}", name(session)?)
        }
        TaskChange::Freed { .. } => format!("{what} is given back"),
    })
}

/// Returns the messages that a change is about, besides one that it sends.
fn mentioned(change: &MessageChange) -> &[ChangeId] {
    match change {
        MessageChange::Sent(_) => &[],
        MessageChange::Delivered { messages, .. }
        | MessageChange::Read { messages, .. }
        | MessageChange::Inherited { messages, .. }
        | MessageChange::Dropped { messages, .. }
        | MessageChange::Forgotten { messages } => messages,
    }
}

fn message(
    change: &MessageChange,
    number: Option<Number>,
    numbers: &HashMap<ChangeId, Number>,
    name: &mut dyn FnMut(&Actor) -> Result<String, CommandError>,
) -> Result<String, CommandError> {
    let list = |messages: &[ChangeId]| {
        let known: Vec<String> =
            messages.iter().filter_map(|id| Some(format!("#{}", numbers.get(id)?))).collect();
        match known.len() == messages.len() {
            true => format!("message{} {}", if known.len() == 1 { "" } else { "s" }, known.join(", ")),
            false => text::counted_noun(messages.len(), "message"),
        }
    };
    Ok(match change {
        MessageChange::Sent(sent) => {
            let called = |to: &Recipient| match to.who {
                Actor::Person => "you".to_owned(),
                _ => to.name.clone(),
            };
            let to = sent.to.iter().map(called).collect::<Vec<_>>().join(", ");
            let what = text::one_line(&sent.text, 120);
            format!(
                "{} to {to}: message #{} {}: {what}",
                sent.from.name,
                number.unwrap_or(0),
                sent.kind.as_str()
            )
        }
        MessageChange::Delivered { to, messages, .. } => {
            let was = if *to == Actor::Person { "were" } else { "was" };
            format!("{} {was} handed {}", name(to)?, list(messages))
        }
        MessageChange::Read { to, messages } => {
            let has = if *to == Actor::Person { "have" } else { "has" };
            format!("{} {has} read {}", name(to)?, list(messages))
        }
        MessageChange::Inherited { from, to, messages } => {
            let (from, to) = (name(from)?, name(to)?);
            format!("{to} takes over what waited for {from} before: {}", list(messages))
        }
        MessageChange::Dropped { to, messages } => {
            format!("{} is gone and never read {}", name(to)?, list(messages))
        }
        MessageChange::Forgotten { messages } => format!("forgotten: {}", list(messages)),
    })
}
