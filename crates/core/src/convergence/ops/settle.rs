//! Records new predictions of collisions, and settles open ones by what has happened
//! since.

use std::collections::BTreeMap;

use super::Sighting;
use crate::App;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::config::ContextMode;
use crate::config::hook_settings;
use crate::convergence::ConvergenceChange;
use crate::convergence::PredictedAgent;
use crate::convergence::Prediction;
use crate::convergence::PredictionNote;
use crate::convergence::Signal;
use crate::convergence::SignalKind;
use crate::convergence::Trail;
use crate::convergence::rules;
use crate::convergence::topics;
use crate::convergence::wording;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::Counter;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::messages;
use crate::messages::MessageType;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

/// How many messages between two are looked through.
const LETTERS: usize = 20;

/// A session that may meet this many already is not told of more.
const MOST_TOLD: usize = 3;

impl App {
    /// Settles what has come of earlier predictions of a project, and records what is
    /// foreseen now. Both hear of it by a message; but `me` is told here.
    pub(super) fn foresee(
        &mut self,
        found: Vec<Sighting>,
        me: Option<&SessionId>,
        project: &ProjectId,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let side_files = self.engine.side_files();
        let tx = self.engine.write()?;
        let concerns = |prediction: &Prediction| {
            prediction.project.as_ref() == Some(project) && me.is_none_or(|me| prediction.concerns(me))
        };
        let (over, mut changes) = settle(&*side_files, &*tx, now, &[], concerns)?;
        let mut known: Vec<PredictionNote> =
            tx.active_predictions()?.iter().map(PredictionNote::from).collect();
        for note in known.iter_mut().filter(|note| over.contains(&note.id)) {
            note.ended = Some(now);
        }
        known.extend(tx.past_predictions()?.iter().map(PredictionNote::from));
        // How many each may meet, of those it was told of.
        let mut open: BTreeMap<SessionId, usize> = BTreeMap::new();
        for session in known.iter().filter(|note| note.ended.is_none()).flat_map(|note| &note.pair) {
            *open.entry(session.clone()).or_default() += 1;
        }
        let entry = EntryId::new(now, self.host.random());
        let counter = Counter { kind: "prediction", project: Some(project.clone()) };
        let mut next = tx.next_number(&counter)?;
        let mut lines = Vec::new();
        for Sighting { pair, signal } in found {
            let of_pair = || known.iter().filter(|note| note.pair == pair);
            if !of_pair().all(|note| rules::is_news(note, &signal)) {
                continue;
            }
            let (Some((one, None)), Some((other, None))) = (tx.agent(&pair[0])?, tx.agent(&pair[1])?) else {
                continue;
            };
            if ![&one, &other].iter().all(|agent| presence::is_alive(&*self.host, &*side_files, agent)) {
                continue;
            }
            let again = of_pair().find(|note| note.ended.is_none()).map(|note| note.id);
            let id =
                again.unwrap_or(ChangeId { entry, place: u16::try_from(changes.len()).unwrap_or(u16::MAX) });
            let former = tx.active_predictions()?.into_iter().find(|prediction| Some(prediction.id) == again);
            let number = former.map_or(next, |former| former.number);
            if again.is_none() {
                next += 1;
            }
            let party = |agent: &Agent| PredictedAgent {
                session: agent.session.clone(),
                name: agent.name.to_string(),
            };
            let pair = [party(&one), party(&other)];
            let change = ConvergenceChange::Predicted { again, pair: pair.clone(), signal: signal.clone() };
            changes.push(Change::Convergence(change));
            let project = Some(project.clone());
            let prediction = Prediction { id, number, project, at: now, seq: 0, pair, signal, ended: None };
            for agent in [&one, &other] {
                let count = open.entry(agent.session.clone()).or_default();
                *count += 1;
                if *count > MOST_TOLD || !hears(&*tx, agent, &prediction.signal)? {
                    continue;
                }
                let line = wording::line(&prediction, &agent.session);
                if me == Some(&agent.session) {
                    lines.push(format!("[consort] {line}"));
                } else {
                    changes.push(messages::remark(agent, line, Some(key(id, &agent.session))));
                }
            }
        }
        if changes.is_empty() {
            return Ok(lines);
        }
        let project = Some(project.clone());
        let entry = NewEntry { id: entry, at: now, project, actor: Actor::Consort, changes };
        Self::conclude_with(&*self.host, tx, &entry)?;
        Ok(lines)
    }
}

/// Whether an agent wants to hear of that. What is merely of one domain is for
/// the person's eyes.
fn hears(tx: &dyn Tx, agent: &Agent, signal: &Signal) -> Result<bool, StoreError> {
    let settings = hook_settings(tx, &agent.location.worktree, &|_| None)?;
    let wants = settings.convergence && settings.context != ContextMode::None;
    Ok(wants && signal.kind != SignalKind::DomainProximity)
}

/// What a remark about a prediction is found by.
fn key(prediction: ChangeId, session: &SessionId) -> String {
    format!("prediction {prediction} to {session}")
}

/// Which predictions are over, and the changes that say so. Those who are `leaving` are
/// as good as gone. What either of two was to hear of one that is over, and has not,
/// it need not hear.
pub(super) fn settle(
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    now: Timestamp,
    leaving: &[SessionId],
    concerns: impl Fn(&Prediction) -> bool,
) -> Result<(Vec<ChangeId>, Vec<Change>), StoreError> {
    let mut tally = tx.tally()?;
    let (mut over, mut changes) = (Vec::new(), Vec::new());
    for prediction in tx.active_predictions()?.into_iter().filter(concerns) {
        let since = since(side_files, tx, &prediction, leaving)?;
        let Some((outcome, how)) = rules::verdict(prediction.at, now, &since) else { continue };
        tally = tally.with(outcome);
        let (id, number) = (prediction.id, prediction.number);
        let resolved = ConvergenceChange::Resolved { prediction: id, number, outcome, how, tally };
        changes.push(Change::Convergence(resolved));
        for party in &prediction.pair {
            changes.extend(messages::take_back(tx, &party.session, &key(id, &party.session))?);
        }
        over.push(id);
    }
    Ok((over, changes))
}

fn since(
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    prediction: &Prediction,
    leaving: &[SessionId],
) -> Result<rules::Since, StoreError> {
    let made = prediction.at;
    let mut since = rules::Since { understanding: understanding(tx, prediction)?, ..Default::default() };
    for party in &prediction.pair {
        if leaving.contains(&party.session) || !matches!(tx.agent(&party.session)?, Some((_, None))) {
            since.left = Some(party.name.clone());
        }
    }
    let trails = prediction.pair.each_ref().map(|party| side_files.last_trail(&party.session));
    if let [Some(one), Some(other)] = trails {
        let both: [&Trail; 2] = [&one, &other];
        since.written = rules::both_wrote(both, made);
        since.spoken = rules::both_spoke(both, made, &prediction.signal.topics);
        since.both_worked_on = both.iter().all(|trail| trail.goes_on_after(made.plus(rules::PATIENCE / 2)));
    }
    Ok(since)
}

/// How the two have come to an understanding after the prediction: by a message
/// that is about it, or because one has claimed what it is about.
fn understanding(tx: &dyn Tx, prediction: &Prediction) -> Result<Option<(Timestamp, String)>, StoreError> {
    let signal = &prediction.signal;
    let is_about = |text: &str| {
        let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || "`'\"(),;:".contains(c)).collect();
        let is_named = |file: &String| {
            let name = file.rsplit('/').next().unwrap_or(file);
            words
                .iter()
                .any(|word| word.ends_with(name) && (word.len() == name.len() || file.ends_with(word)))
        };
        let is_spoken_of = |topic: &String| signal.topics.contains(topic) || signal.domains.contains(topic);
        signal.files.iter().any(is_named) || topics(text, &[]).iter().any(is_spoken_of)
    };
    let [one, other] = prediction.pair.each_ref().map(|party| Actor::Agent(party.session.clone()));
    for post in &tx.between(&one, &other, LETTERS)? {
        let sent = &post.message.sent;
        let is_offer = matches!(sent.kind, MessageType::Handoff | MessageType::Delegate);
        if post.message.seq > prediction.seq && (is_offer || is_about(&sent.text)) {
            let how = format!("{} wrote to the other: message #{}", sent.from.name, post.message.number);
            return Ok(Some((post.message.at, how)));
        }
    }
    let project = tx.agent(&prediction.pair[0].session)?.map(|(agent, _)| agent.project.id);
    let is_one_of_them = |actor: &Actor| *actor == one || *actor == other;
    let holds = tx.holds(project.as_ref())?;
    for hold in holds.into_iter().filter(|hold| hold.strength != Strength::Overridden) {
        let what = hold.resource.shown();
        let covers = |file: &String| {
            hold.resource.pattern().is_some_and(|held| held.overlaps(&Pattern::file(file), Case::Matters))
        };
        let reason = hold.reason.as_deref().is_some_and(is_about);
        if !is_about(&what) && !reason && !signal.files.iter().any(covers) {
            continue;
        }
        let contest = hold.contest.as_ref();
        if let Some(contest) =
            contest.filter(|contest| is_one_of_them(&contest.by) && contest.at > prediction.at)
        {
            return Ok(Some((contest.at, format!("{} contested {what}", contest.label))));
        }
        if is_one_of_them(&hold.holder) && hold.since >= prediction.at {
            return Ok(Some((hold.since, format!("{} claimed {what}", hold.label))));
        }
    }
    Ok(None)
}
