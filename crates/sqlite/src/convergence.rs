//! SQL of the convergence room: predictions, how they ended, and domains.

use std::path::Path;

use consort_core::convergence::ConvergenceChange;
use consort_core::convergence::ConvergenceStore;
use consort_core::convergence::Counters;
use consort_core::convergence::LearnedDomain;
use consort_core::convergence::Prediction;
use consort_core::convergence::PredictionEnding;
use consort_core::convergence::PublishedConvergence;
use consort_core::convergence::published::read_lines;
use consort_core::engine::StoreError;
use consort_core::journal::ChangeId;
use consort_core::journal::Number;
use consort_core::journal::Seq;
use rusqlite::Connection;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;
use crate::published_lines;

const PREDICTION: &str = "prediction";
const TALLY: &str = "tally";
const DOMAIN: &str = "domain";
const LEARNED: &str = "learned";

const OPEN: &str = "open";
const ENDED: &str = "ended";

/// Most ended predictions that are kept.
const MOST_ENDED: usize = 200;

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &ConvergenceChange,
) -> rusqlite::Result<()> {
    let ChangeOrigin { seq, at, .. } = *origin;
    match change {
        ConvergenceChange::Predicted { again, pair, signal } => {
            let former = again.map(|id| prediction(connection, id)).transpose()?.flatten();
            let number = former.map_or(origin.number.unwrap_or(0), |former| former.number);
            let (id, project) = (again.unwrap_or(origin.id), origin.project.cloned());
            let (pair, signal) = (pair.clone(), signal.clone());
            put(connection, OPEN, &Prediction { id, number, project, at, seq, pair, signal, ended: None })
        }
        ConvergenceChange::Resolved { prediction: id, outcome, how, tally, .. } => {
            if let Some(mut prediction) = prediction(connection, *id)? {
                prediction.ended = Some(PredictionEnding { outcome: *outcome, how: how.clone(), at });
                put(connection, ENDED, &prediction)?;
                let is_ended =
                    |fact: &Fact<'_>| Ok((fact.owner()? == ENDED).then_some(fact.key()?.to_owned()));
                let ended = facts::list(connection, PREDICTION, Keys::All, is_ended)?;
                for key in ended.iter().rev().skip(MOST_ENDED) {
                    facts::remove_key(connection, PREDICTION, key)?;
                }
            }
            replace(connection, TALLY, seq, &json(tally)?)
        }
        ConvergenceChange::Assigned { topic, domain } => {
            let domain = domain.as_deref().unwrap_or_default();
            facts::put_only(connection, DOMAIN, topic, domain, "")
        }
        ConvergenceChange::Learned { learned } => replace(connection, LEARNED, seq, &json(learned)?),
    }
}

/// Tells how long a change is kept: one about a prediction as long as the prediction, one with a tally or
/// with learned domains until the next.
pub(crate) fn keep(seq: Seq, id: ChangeId, change: &ConvergenceChange) -> Keep {
    match change {
        ConvergenceChange::Predicted { again, .. } => {
            Keep::WhileAny(vec![("predictions", again.unwrap_or(id).to_string())])
        }
        ConvergenceChange::Resolved { prediction, .. } => {
            Keep::WhileAny(vec![("predictions", prediction.to_string()), ("tally", seq.to_string())])
        }
        ConvergenceChange::Assigned { topic, .. } => Keep::Story(("domains", topic.clone())),
        ConvergenceChange::Learned { .. } => Keep::WhileAny(vec![("learned", seq.to_string())]),
    }
}

fn put(connection: &Connection, state: &str, prediction: &Prediction) -> rusqlite::Result<()> {
    facts::put_only(connection, PREDICTION, &prediction.id.to_string(), state, &json(prediction)?)
}

/// Puts a fact in place of the former one of its kind. Its key is the number of the entry that says so.
fn replace(connection: &Connection, kind: &str, seq: Seq, value: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM facts WHERE kind = ?1")?.execute([kind])?;
    facts::put(connection, kind, &seq.to_string(), "", value)
}

fn prediction(connection: &Connection, id: ChangeId) -> rusqlite::Result<Option<Prediction>> {
    Ok(facts::parsed(connection, PREDICTION, Keys::Is(&id.to_string()))?.pop())
}

/// Lists the predictions in a state, in the order of their ids, which is that of time.
fn predictions(connection: &Connection, state: &str) -> rusqlite::Result<Vec<Prediction>> {
    let read = |fact: &Fact<'_>| (fact.owner()? == state).then(|| fact.parse()).transpose();
    facts::list(connection, PREDICTION, Keys::All, read)
}

pub(crate) fn open_predictions(connection: &Connection) -> rusqlite::Result<Vec<Prediction>> {
    predictions(connection, OPEN)
}

pub(crate) fn ended(connection: &Connection, most: usize) -> rusqlite::Result<Vec<Prediction>> {
    let mut ended = predictions(connection, ENDED)?;
    ended.reverse();
    ended.sort_by_key(|one| std::cmp::Reverse(one.ended.as_ref().map(|ending| ending.at)));
    ended.truncate(most);
    Ok(ended)
}

pub(crate) fn tally(connection: &Connection) -> rusqlite::Result<Counters> {
    Ok(facts::parsed(connection, TALLY, Keys::All)?.pop().unwrap_or_default())
}

pub(crate) fn assigned(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let read = |fact: &Fact<'_>| {
        let domain = Some(fact.owner()?).filter(|domain| !domain.is_empty());
        Ok(Some((fact.key()?.to_owned(), domain.map(str::to_owned))))
    };
    facts::list(connection, DOMAIN, Keys::All, read)
}

pub(crate) fn learned(connection: &Connection) -> rusqlite::Result<Vec<LearnedDomain>> {
    Ok(facts::parsed(connection, LEARNED, Keys::All)?.pop().unwrap_or_default())
}

impl ConvergenceStore for SqliteTx<'_> {
    fn active_predictions(&self) -> Result<Vec<Prediction>, StoreError> {
        self.ask(open_predictions)
    }

    fn predictions_numbered(&self, number: Number) -> Result<Vec<Prediction>, StoreError> {
        let mut predictions: Vec<Prediction> = self.ask(|tx| facts::parsed(tx, PREDICTION, Keys::All))?;
        predictions.retain(|prediction| prediction.number == number);
        Ok(predictions)
    }

    fn past_predictions(&self) -> Result<Vec<Prediction>, StoreError> {
        self.ask(|tx| ended(tx, MOST_ENDED))
    }

    fn tally(&self) -> Result<Counters, StoreError> {
        self.ask(tally)
    }

    fn assigned_domains(&self) -> Result<Vec<(String, Option<String>)>, StoreError> {
        self.ask(assigned)
    }

    fn learned_domains(&self) -> Result<Vec<LearnedDomain>, StoreError> {
        self.ask(learned)
    }

    fn radar_note(&self, worktree: &Path) -> Result<PublishedConvergence, StoreError> {
        Ok(read_lines(self.ask(published_lines::convergence)?.lines(), worktree))
    }
}
