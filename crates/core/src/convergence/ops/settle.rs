//! Recording what is foreseen, and what has come of what was.

use std::collections::BTreeMap;

use super::Sighting;
use crate::App;
use crate::Timestamp;
use crate::app::commit;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::config::ContextMode;
use crate::config::hook_settings;
use crate::convergence::ConvergenceChange;
use crate::convergence::Party;
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
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::journal::Seq;
use crate::messages;
use crate::messages::MessageType;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::side_files::SideFiles;

/// How many messages between two are looked through.
const LETTERS: usize = 20;

/// Whoever may meet this many already is not told of more.
const MOST_TOLD: usize = 3;

impl App {
    /// Settles what has come of earlier predictions, and records what is
    /// foreseen now. Both hear of it by a message; but `me` is told here.
    pub(super) fn foresee(
        &mut self,
        found: Vec<Sighting>,
        me: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let side_files = self.engine.side_files();
        let mut tx = self.engine.write()?;
        let record = |tx: &mut dyn Tx, agent: Option<&Agent>, changes: Vec<Change>| {
            let project = agent.map(|agent| agent.project.id.clone());
            let id = EntryId::new(now, self.host.random());
            let entry = NewEntry { id, at: now, project, actor: Actor::Consort, changes };
            tx.record(&entry)
        };
        let concerns = |prediction: &Prediction| me.is_none_or(|me| prediction.concerns(me));
        for (agent, changes) in settle(&*side_files, &mut *tx, now, concerns)? {
            record(&mut *tx, agent.as_ref(), changes)?;
        }
        let mut known: Vec<PredictionNote> =
            tx.active_predictions()?.iter().map(PredictionNote::from).collect();
        known.extend(tx.past_predictions()?.iter().map(PredictionNote::from));
        // How many each may meet, of those it was told of.
        let mut open: BTreeMap<SessionId, usize> = BTreeMap::new();
        for session in known.iter().filter(|note| note.ended.is_none()).flat_map(|note| &note.pair) {
            *open.entry(session.clone()).or_default() += 1;
        }
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
            let again = of_pair().find(|note| note.ended.is_none()).map(|note| note.number);
            let party =
                |agent: &Agent| Party { session: agent.session.clone(), name: agent.name.to_string() };
            let pair = [party(&one), party(&other)];
            let change = ConvergenceChange::Predicted { again, pair: pair.clone(), signal: signal.clone() };
            let entry = record(&mut *tx, Some(&one), vec![Change::Convergence(change)])?;
            let (number, renewed) = (again.unwrap_or(entry), again.map(|_| entry));
            let prediction = Prediction { number, at: now, renewed, pair, signal, ended: None };
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
                    let change = messages::remark(agent, line, Some(key(number, &agent.session)));
                    record(&mut *tx, Some(agent), vec![change])?;
                }
            }
        }
        commit(&*self.host, tx)?;
        Ok(lines)
    }
}

/// Whether an agent wants to hear of that. What is merely of one domain is for
/// the person's eyes.
fn hears(tx: &dyn Tx, agent: &Agent, signal: &Signal) -> Result<bool, StoreError> {
    let settings = hook_settings(tx, &agent.worktree, &|_| None)?;
    let wants = settings.convergence && settings.context != ContextMode::None;
    Ok(wants && signal.kind != SignalKind::DomainProximity)
}

/// What a remark about a prediction is found by.
fn key(number: Seq, session: &SessionId) -> String {
    format!("prediction {number} to {session}")
}

/// One of the two, and the changes that end a prediction about them.
type Ended = (Option<Agent>, Vec<Change>);

/// What has come of predictions that have not ended, with one of each two. What
/// either was to hear of one that has ended, and has not, it need not hear.
pub(super) fn settle(
    side_files: &dyn SideFiles,
    tx: &mut dyn Tx,
    now: Timestamp,
    concerns: impl Fn(&Prediction) -> bool,
) -> Result<Vec<Ended>, StoreError> {
    let mut tally = tx.tally()?;
    let mut endings = Vec::new();
    for prediction in tx.active_predictions()?.into_iter().filter(concerns) {
        let since = since(side_files, tx, &prediction)?;
        let Some((outcome, how)) = rules::verdict(prediction.at, now, &since) else { continue };
        tally = tally.with(outcome);
        let number = prediction.number;
        let agent = tx.agent(&prediction.pair[0].session)?.map(|(agent, _)| agent);
        let mut changes =
            vec![Change::Convergence(ConvergenceChange::Resolved { number, outcome, how, tally })];
        for party in &prediction.pair {
            changes.extend(messages::take_back(tx, &party.session, &key(number, &party.session))?);
        }
        endings.push((agent, changes));
    }
    Ok(endings)
}

fn since(
    side_files: &dyn SideFiles,
    tx: &dyn Tx,
    prediction: &Prediction,
) -> Result<rules::Since, StoreError> {
    let made = prediction.at;
    let mut since = rules::Since { understanding: understanding(tx, prediction)?, ..Default::default() };
    for party in &prediction.pair {
        if !matches!(tx.agent(&party.session)?, Some((_, None))) {
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
    let made = prediction.renewed.unwrap_or(prediction.number);
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
        let (sent, number) = (&post.message.sent, post.message.number);
        let is_offer = matches!(sent.kind, MessageType::Handoff | MessageType::Delegate);
        if number > made && (is_offer || is_about(&sent.text)) {
            let how = format!("{} wrote to the other: message {number}", sent.from.name);
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
        if is_one_of_them(&hold.holder) && hold.generation > made {
            return Ok(Some((hold.since, format!("{} claimed {what}", hold.label))));
        }
    }
    Ok(None)
}
