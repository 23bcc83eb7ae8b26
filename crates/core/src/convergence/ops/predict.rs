//! Records new predictions of collisions, and settles open ones by what has happened since.

use std::collections::BTreeMap;

use crate::App;
use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::claims::Strength;
use crate::config::ContextMode;
use crate::config::hook_settings;
use crate::convergence::ConvergenceChange;
use crate::convergence::Prediction;
use crate::convergence::PredictionNote;
use crate::convergence::Trail;
use crate::convergence::foresight::Foresight;
use crate::convergence::foresight::Party;
use crate::convergence::foresight::Sighting;
use crate::convergence::foresight::remark_key;
use crate::convergence::rules;
use crate::convergence::topics;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Actor;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::journal::NewEntry;
use crate::journal::NumberSeries;
use crate::messages;
use crate::messages::MessageType;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;
use crate::side_files::SideFiles;

/// Number of messages between two agents that are searched for an understanding.
const LETTERS: usize = 20;

impl App {
    /// Settles earlier predictions of a project, and records new ones. Both agents of a new prediction are
    /// told by a message, except that the lines for `me` are returned.
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
        let open = tx.active_predictions()?;
        let mut known: Vec<PredictionNote> = open.iter().map(PredictionNote::from).collect();
        for note in known.iter_mut().filter(|note| over.contains(&note.id)) {
            note.ended = Some(now);
        }
        known.extend(tx.past_predictions()?.iter().map(PredictionNote::from));
        let mut parties = BTreeMap::new();
        for session in found.iter().flat_map(|sighting| &sighting.pair) {
            let Some((agent, None)) = tx.agent(session)? else { continue };
            if presence::is_alive(&*self.host, &*side_files, &agent) {
                let listens = listens(&*tx, &agent)?;
                parties.insert(session.clone(), Party { agent, listens });
            }
        }
        let entry = EntryId::new(now, self.host.random());
        let next = tx.next_number(&NumberSeries { kind: "prediction", project: Some(project.clone()) })?;
        let before = changes.len();
        let foresight = Foresight { project, now, entry, before, next, open, known, parties, me };
        let (lines, foreseen) = foresight.decide(found);
        changes.extend(foreseen);
        if changes.is_empty() {
            return Ok(lines);
        }
        let project = Some(project.clone());
        let entry = NewEntry { id: entry, at: now, project, actor: Actor::Consort, changes };
        Self::conclude_with(&*self.host, tx, &entry)?;
        Ok(lines)
    }
}

/// Tells whether an agent's settings let it be told of predictions.
fn listens(tx: &dyn Tx, agent: &Agent) -> Result<bool, StoreError> {
    let settings = hook_settings(tx, &agent.location.worktree, &|_| None)?;
    Ok(settings.convergence && settings.context != ContextMode::None)
}

/// Returns the predictions that have ended, and the changes that record it. Sessions in `leaving` count as
/// gone. Unread remarks about a prediction that has ended are taken back.
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
            changes.extend(messages::take_back(tx, &party.session, &remark_key(id, &party.session))?);
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
) -> Result<rules::LaterEvents, StoreError> {
    let made = prediction.at;
    let mut since =
        rules::LaterEvents { understanding: understanding(tx, prediction)?, ..Default::default() };
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
        since.both_worked_on =
            both.iter().all(|trail| trail.was_prompted_after(made.plus(rules::PATIENCE / 2)));
    }
    Ok(since)
}

/// Finds out whether the two came to an understanding after the prediction: by a message about it, or because
/// one of them has claimed or contested its subject.
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
