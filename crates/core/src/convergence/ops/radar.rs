//! Convergence verbs behind `radar`: compare all agents of a project, list current and past predictions.

use std::collections::BTreeMap;

use super::PublishedView;
use crate::App;
use crate::convergence::AgentTopics;
use crate::convergence::ConvergenceError;
use crate::convergence::Counters;
use crate::convergence::PairView;
use crate::convergence::PredictedAgent;
use crate::convergence::Prediction;
use crate::convergence::RadarView;
use crate::convergence::Signal;
use crate::convergence::Trail;
use crate::convergence::TrailProfile;
use crate::convergence::Trajectory;
use crate::convergence::foresight::Sighting;
use crate::convergence::rules;
use crate::convergence::signals;
use crate::engine::StoreError;
use crate::engine::Tx;
use crate::journal::Number;
use crate::presence;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;

impl App {
    /// Compares all agents of a project with each other. Records new predictions, and settles earlier ones.
    pub fn radar(
        &mut self,
        project: &ProjectId,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<RadarView, StoreError> {
        let (now, side_files) = (self.host.now(), self.engine.side_files());
        let mut agents = self.engine.read()?.present()?;
        agents.retain(|agent| {
            agent.project.id == *project && presence::is_alive(&*self.host, &*side_files, agent)
        });
        let seen: Vec<(Agent, Trail)> = agents
            .into_iter()
            .filter_map(|agent| side_files.trail(&agent.session).map(|trail| (agent, trail)))
            .collect();
        let Some((first, _)) = seen.first() else {
            let tally = self.engine.read()?.tally()?;
            return Ok(RadarView { at: now, tally, agents: Vec::new(), pairs: Vec::new() });
        };
        let note = self.radar_note(&first.location.worktree);
        let view = PublishedView::new(note, &first.location.worktree, &*self.host, environment);
        let scoring_context = view.scoring_context(now);
        let profiles: Vec<TrailProfile<'_>> =
            seen.iter().map(|(_, trail)| TrailProfile::new(trail, &scoring_context)).collect();
        let mut near = Vec::new();
        for (at, (one, _)) in seen.iter().enumerate() {
            for (beyond, (other, _)) in seen[at + 1..].iter().enumerate() {
                let found = signals(&profiles[at], &profiles[at + 1 + beyond], &scoring_context);
                if !found.is_empty() {
                    near.push((rules::pair(&one.session, &other.session), found));
                }
            }
        }
        let is_known = |pair: &[SessionId; 2], signal: &Signal| {
            let mut known = view.note.predictions.iter().filter(|note| note.pair == *pair);
            !known.all(|note| rules::is_news(note, signal))
        };
        let news: Vec<Sighting> = near
            .iter()
            .filter(|(pair, found)| !is_known(pair, &found[0]))
            .map(|(pair, found)| Sighting { pair: pair.clone(), signal: found[0].clone() })
            .collect();
        let is_any_open = view.note.predictions.iter().any(|note| note.ended.is_none());
        if view.settings.convergence && (!news.is_empty() || is_any_open) {
            // The radar must not fail because the store is read-only or busy.
            let _ = self.foresee(news, None, project, now);
        }
        let tx = self.engine.read()?;
        let active = tx.active_predictions()?;
        let name = |session: &SessionId| {
            let agent = seen.iter().find(|(agent, _)| agent.session == *session);
            PredictedAgent {
                session: session.clone(),
                name: agent.map_or_else(|| session.to_string(), |(agent, _)| agent.name.to_string()),
            }
        };
        let is_of =
            |prediction: &Prediction, pair: &[SessionId; 2]| pair.iter().all(|one| prediction.concerns(one));
        for prediction in &active {
            let pair = prediction.pair.each_ref().map(|party| party.session.clone());
            let is_here = pair.iter().all(|one| seen.iter().any(|(agent, _)| agent.session == *one));
            if is_here && !near.iter().any(|(known, _)| *known == pair) {
                near.push((pair, Vec::new()));
            }
        }
        let mut pairs: Vec<PairView> = near
            .into_iter()
            .map(|(pair, signals)| {
                let prediction = active.iter().find(|prediction| is_of(prediction, &pair)).cloned();
                let trend = rules::trend(prediction.as_ref(), signals.first(), now);
                PairView { pair: [name(&pair[0]), name(&pair[1])], signals, prediction, trend }
            })
            .collect();
        let confidence = |seen: &PairView| seen.signals.first().map_or(0.0, |signal| signal.confidence);
        pairs.sort_by(|one, other| confidence(other).total_cmp(&confidence(one)));
        let agents = seen.iter().map(|(agent, trail)| topics_of(agent, trail)).collect();
        Ok(RadarView { at: now, tally: tx.tally()?, agents, pairs })
    }

    /// Returns the predictions that have ended, newest first, and the counts of all outcomes.
    pub fn past_predictions(&mut self) -> Result<(Vec<Prediction>, Counters), StoreError> {
        let tx = self.engine.read()?;
        Ok((tx.past_predictions()?, tx.tally()?))
    }

    /// Finds the prediction with that number in a project.
    pub fn prediction(
        &mut self,
        number: Number,
        project: &ProjectId,
    ) -> Result<Prediction, ConvergenceError> {
        let mut found = self.engine.read()?.predictions_numbered(number)?;
        found.retain(|prediction| prediction.project.as_ref() == Some(project));
        found.pop().ok_or(ConvergenceError::NoSuchPrediction { number })
    }

    /// Returns a session's last prompts, and the files that it read and wrote.
    pub fn trail_of(&self, session: &SessionId) -> Option<Trail> {
        self.engine.side_files().last_trail(session)
    }

    /// Returns the main topics of each session of a project.
    pub fn topics_in(&mut self, project: &ProjectId) -> BTreeMap<SessionId, Vec<String>> {
        let mut found = BTreeMap::new();
        self.engine.side_files().each_topic_summary(project, &mut |glance| {
            let Trajectory { deepening, stable, .. } = Trajectory::of_summary(glance);
            let last = glance.steps.last().into_iter().flatten().map(|topic| (*topic).to_owned());
            let mut topics: Vec<String> = Vec::new();
            for topic in deepening.into_iter().chain(stable).chain(last) {
                if !topics.contains(&topic) {
                    topics.push(topic);
                }
            }
            found.insert(SessionId::from(glance.session.clone()), topics);
        });
        found
    }
}

/// Words the open predictions about a session, the surest first, for a session whose context starts
/// afresh.
pub(crate) fn predictions_for(tx: &dyn Tx, session: &SessionId) -> Result<Vec<String>, StoreError> {
    let mut active = tx.active_predictions()?;
    active.retain(|prediction| prediction.concerns(session));
    active.sort_by(|one, other| other.signal.confidence.total_cmp(&one.signal.confidence));
    Ok(active.iter().map(|prediction| crate::convergence::wording::line(prediction, session)).collect())
}

fn topics_of(agent: &Agent, trail: &Trail) -> AgentTopics {
    AgentTopics {
        name: agent.name.to_string(),
        session: agent.session.clone(),
        trajectory: Trajectory::of(&trail.steps),
        topics: trail.steps.last().map(|step| step.topics.clone()).unwrap_or_default(),
    }
}
