//! Recording what is foreseen, and what has come of what was.

use super::Sighting;
use crate::App;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::convergence::ConvergenceChange;
use crate::convergence::ConvergenceStore as _;
use crate::convergence::Party;
use crate::convergence::Prediction;
use crate::convergence::PredictionNote;
use crate::convergence::TrailNotes;
use crate::convergence::rules;
use crate::convergence::told;
use crate::convergence::topics;
use crate::engine::Engine;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::host::Host;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::EntryId;
use crate::journal::JournalStore as _;
use crate::journal::NewEntry;
use crate::messages;
use crate::messages::MessageType;
use crate::presence;
use crate::presence::Agent;
use crate::presence::PresenceStore as _;
use crate::presence::SessionId;

/// How many messages between two are looked through.
const LETTERS: usize = 20;

impl<E: Engine, H: Host> App<E, H> {
    /// Settles what has come of earlier predictions, and records what is
    /// foreseen now. Both hear of it by a message; but `me` is told here.
    pub(super) fn foresee(
        &mut self,
        found: Vec<Sighting>,
        me: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let (notes, pulses) = (self.engine.notes(), self.engine.pulses());
        let mut tx = self.engine.write()?;
        let mut endings =
            settle(&notes, &mut tx, now, |prediction| me.is_none_or(|me| prediction.concerns(me)))?;
        let mut topics = Vec::new();
        let mut record = |tx: &mut E::Tx<'_>, agent: Option<&Agent>, change: Change| {
            let project = agent.map(|agent| agent.project.id.clone());
            let id = EntryId::new(now, self.host.random());
            let entry = NewEntry { id, at: now, project, actor: Actor::Consort, changes: vec![change] };
            topics.extend(entry.topics());
            tx.record(&entry)
        };
        for (agent, change) in endings.drain(..) {
            record(&mut tx, agent.as_ref(), Change::Convergence(change))?;
        }
        let mut known: Vec<PredictionNote> =
            tx.active_predictions()?.iter().map(PredictionNote::from).collect();
        known.extend(tx.past_predictions()?.iter().map(PredictionNote::from));
        let mut lines = Vec::new();
        for Sighting { pair, signal } in found {
            let of_pair = || known.iter().filter(|note| note.pair == pair);
            if !of_pair().all(|note| rules::is_news(note, &signal, now)) {
                continue;
            }
            let (Some((one, None)), Some((other, None))) = (tx.agent(&pair[0])?, tx.agent(&pair[1])?) else {
                continue;
            };
            if ![&one, &other].iter().all(|agent| presence::is_alive(&self.host, &pulses, agent)) {
                continue;
            }
            let again = of_pair().find(|note| note.ended.is_none()).map(|note| note.number);
            let party =
                |agent: &Agent| Party { session: agent.session.clone(), name: agent.name.to_string() };
            let pair = [party(&one), party(&other)];
            let change = ConvergenceChange::Predicted { again, pair: pair.clone(), signal: signal.clone() };
            let number = record(&mut tx, Some(&one), Change::Convergence(change))?;
            let number = again.unwrap_or(number);
            let prediction = Prediction { number, at: now, pair, signal, ended: None };
            for agent in [&one, &other] {
                let line = told::line(&prediction, &agent.session);
                if me == Some(&agent.session) {
                    lines.push(format!("[consort] {line}"));
                } else {
                    let change = messages::remark(&mut tx, agent, line)?;
                    record(&mut tx, Some(agent), change)?;
                }
            }
        }
        tx.commit()?;
        self.host.ring(&topics);
        Ok(lines)
    }
}

/// What has come of predictions that have not ended, with one of each two.
pub(super) fn settle(
    notes: &impl TrailNotes,
    tx: &mut impl Tx,
    now: Timestamp,
    concerns: impl Fn(&Prediction) -> bool,
) -> Result<Vec<(Option<Agent>, ConvergenceChange)>, StoreError> {
    let mut tally = tx.tally()?;
    let mut endings = Vec::new();
    for prediction in tx.active_predictions()?.into_iter().filter(concerns) {
        let since = since(notes, tx, &prediction)?;
        if let Some((outcome, how)) = rules::verdict(prediction.at, now, &since) {
            tally = tally.with(outcome);
            let number = prediction.number;
            let agent = tx.agent(&prediction.pair[0].session)?.map(|(agent, _)| agent);
            endings.push((agent, ConvergenceChange::Resolved { number, outcome, how, tally }));
        }
    }
    Ok(endings)
}

fn since(notes: &impl TrailNotes, tx: &impl Tx, prediction: &Prediction) -> Result<rules::Since, StoreError> {
    let made = prediction.at;
    let mut since = rules::Since { understanding: understanding(tx, prediction)?, ..Default::default() };
    for party in &prediction.pair {
        if !matches!(tx.agent(&party.session)?, Some((_, None))) {
            since.left = Some(party.name.clone());
        }
    }
    if let [Some(one), Some(other)] = prediction.pair.each_ref().map(|party| notes.trail(&party.session)) {
        let theirs: Vec<&str> = other.written_after(made).collect();
        since.written =
            one.written_after(made).filter(|path| theirs.contains(path)).map(str::to_owned).collect();
        since.written.sort();
        since.written.dedup();
        let both_speak = |topic: &&String| one.speaks_after(made, topic) && other.speaks_after(made, topic);
        since.spoken = prediction.signal.topics.iter().filter(both_speak).cloned().collect();
        since.both_went_on = one.goes_on_after(made) && other.goes_on_after(made);
    }
    Ok(since)
}

/// How the two have come to an understanding after the prediction: by a message
/// that is about it, or because one has claimed what it is about.
fn understanding(tx: &impl Tx, prediction: &Prediction) -> Result<Option<String>, StoreError> {
    let signal = &prediction.signal;
    let is_about = |text: &str| {
        let names = signal.files.iter().filter_map(|file| file.rsplit('/').next());
        let is_named = names.into_iter().any(|name| text.contains(name));
        is_named
            || topics(text, &[])
                .iter()
                .any(|topic| signal.topics.contains(topic) || signal.domains.contains(topic))
    };
    let [one, other] = prediction.pair.each_ref().map(|party| Actor::Agent(party.session.clone()));
    for post in tx.between(&one, &other, LETTERS)?.iter().rev() {
        let (sent, number) = (&post.message.sent, post.message.number);
        let is_offer = matches!(sent.kind, MessageType::Handoff | MessageType::Delegate | MessageType::Ack);
        if number > prediction.number && (is_offer || is_about(&sent.text)) {
            return Ok(Some(format!("{} wrote to the other: message {number}", sent.from.name)));
        }
    }
    let project = tx.agent(&prediction.pair[0].session)?.map(|(agent, _)| agent.project.id);
    for hold in tx.holds(project.as_ref())? {
        let is_one_of_them = |actor: &Actor| *actor == one || *actor == other;
        let is_new = |at: Timestamp| at > prediction.at;
        let what = hold.resource.shown();
        let covers = |file: &String| {
            hold.resource.pattern().is_some_and(|held| held.overlaps(&Pattern::file(file), Case::Matters))
        };
        let is_about = is_about(&what)
            || hold.reason.as_deref().is_some_and(is_about)
            || signal.files.iter().any(covers);
        if !is_about {
            continue;
        }
        if let Some(contest) =
            hold.contest.filter(|contest| is_one_of_them(&contest.by) && is_new(contest.at))
        {
            return Ok(Some(format!("{} contested {what}", contest.label)));
        }
        if is_one_of_them(&hold.holder) && hold.generation > prediction.number {
            return Ok(Some(format!("{} claimed {what}", hold.label)));
        }
    }
    Ok(None)
}
