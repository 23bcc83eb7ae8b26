//! Pure rule that decides which possible collisions become predictions, and which sessions are told. No
//! store, no clock, no machine.

use std::collections::BTreeMap;

use crate::Timestamp;
use crate::convergence::ConvergenceChange;
use crate::convergence::PredictedAgent;
use crate::convergence::Prediction;
use crate::convergence::PredictionNote;
use crate::convergence::Signal;
use crate::convergence::SignalKind;
use crate::convergence::rules;
use crate::convergence::wording;
use crate::journal::Change;
use crate::journal::ChangeId;
use crate::journal::EntryId;
use crate::journal::Number;
use crate::messages;
use crate::presence::Agent;
use crate::presence::SessionId;
use crate::project::ProjectId;

/// Most open predictions that a session is told of.
const MOST_TOLD: usize = 3;

/// A possible collision: two sessions and the signal between them.
pub(super) struct Sighting {
    pub(super) pair: [SessionId; 2],
    pub(super) signal: Signal,
}

/// One of the two agents of a possible collision.
pub(super) struct Party {
    pub(super) agent: Agent,
    /// Whether the agent's settings let it be told of predictions.
    pub(super) listens: bool,
}

/// The facts from which new predictions are decided.
pub(super) struct Foresight<'a> {
    pub(super) project: &'a ProjectId,
    pub(super) now: Timestamp,
    /// The journal entry that will record the decision, and the number of changes that are before it.
    pub(super) entry: EntryId,
    pub(super) before: usize,
    /// The number for the next new prediction.
    pub(super) next: Number,
    /// The open predictions.
    pub(super) open: Vec<Prediction>,
    /// Earlier predictions, with the time they ended.
    pub(super) known: Vec<PredictionNote>,
    /// The agents of the possible collisions that are present.
    pub(super) parties: BTreeMap<SessionId, Party>,
    /// The session that is told at once instead of by a message.
    pub(super) me: Option<&'a SessionId>,
}

impl Foresight<'_> {
    /// Decides which sightings are news; returns the lines for `me`, and the changes to record.
    pub(super) fn decide(mut self, found: Vec<Sighting>) -> (Vec<String>, Vec<Change>) {
        // The number of open predictions about each session.
        let mut told: BTreeMap<SessionId, usize> = BTreeMap::new();
        for session in self.known.iter().filter(|note| note.ended.is_none()).flat_map(|note| &note.pair) {
            *told.entry(session.clone()).or_default() += 1;
        }
        let (mut lines, mut changes) = (Vec::new(), Vec::new());
        for Sighting { pair, signal } in found {
            if !self.of_pair(&pair).all(|note| rules::is_news(note, &signal)) {
                continue;
            }
            let id = self.id(changes.len());
            let (again, number) = match self.of_pair(&pair).find(|note| note.ended.is_none()) {
                Some(note) => (Some(note.id), self.number_of(note.id)),
                None => (None, self.next),
            };
            let [Some(one), Some(other)] = pair.each_ref().map(|session| self.parties.get(session)) else {
                continue;
            };
            if again.is_none() {
                self.next += 1;
            }
            let pair = [one, other].map(|party| PredictedAgent {
                session: party.agent.session.clone(),
                name: party.agent.name.to_string(),
            });
            let change = ConvergenceChange::Predicted { again, pair: pair.clone(), signal: signal.clone() };
            changes.push(Change::Convergence(change));
            let (id, project) = (again.unwrap_or(id), Some(self.project.clone()));
            let prediction =
                Prediction { id, number, project, at: self.now, seq: 0, pair, signal, ended: None };
            for Party { agent, listens } in [one, other] {
                let count = told.entry(agent.session.clone()).or_default();
                *count += 1;
                // A shared domain alone is only shown to the person.
                let is_worth_it = *listens && prediction.signal.kind != SignalKind::DomainProximity;
                if *count > MOST_TOLD || !is_worth_it {
                    continue;
                }
                let line = wording::line(&prediction, &agent.session);
                if self.me == Some(&agent.session) {
                    lines.push(format!("[consort] {line}"));
                } else {
                    changes.push(messages::remark(agent, line, Some(remark_key(id, &agent.session))));
                }
            }
        }
        (lines, changes)
    }

    fn of_pair(&self, pair: &[SessionId; 2]) -> impl Iterator<Item = &PredictionNote> {
        self.known.iter().filter(move |note| note.pair == *pair)
    }

    /// Returns the id of the change that follows `count` changes of this decision.
    fn id(&self, count: usize) -> ChangeId {
        ChangeId { entry: self.entry, place: u16::try_from(self.before + count).unwrap_or(u16::MAX) }
    }

    fn number_of(&self, id: ChangeId) -> Number {
        let former = self.open.iter().find(|prediction| prediction.id == id);
        former.map_or(self.next, |former| former.number)
    }
}

/// Returns the message key of a remark to a session about a prediction.
pub(super) fn remark_key(prediction: ChangeId, session: &SessionId) -> String {
    format!("prediction {prediction} to {session}")
}
