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
use rusqlite::OptionalExtension as _;
use rusqlite::Row;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;
use crate::published_lines;

const PREDICTIONS: &str = "facts WHERE kind = 'prediction'";
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
                let sql = format!(
                    "DELETE FROM {PREDICTIONS} AND owner = '{ENDED}' AND key NOT IN
                     (SELECT key FROM {PREDICTIONS} AND owner = '{ENDED}' ORDER BY key DESC LIMIT {MOST_ENDED})"
                );
                connection.prepare_cached(&sql)?.execute([])?;
            }
            replace(connection, "tally", &[(seq.to_string(), String::new(), json(tally)?)])
        }
        ConvergenceChange::Assigned { topic, domain } => {
            let domain = domain.as_deref().unwrap_or_default();
            connection
                .prepare_cached("DELETE FROM facts WHERE kind = 'domain' AND key = ?1")?
                .execute([topic])?;
            connection
                .prepare_cached("INSERT INTO facts VALUES ('domain', ?1, ?2, '')")?
                .execute([topic.as_str(), domain])
                .map(drop)
        }
        ConvergenceChange::Learned { learned } => {
            replace(connection, "learned", &[(seq.to_string(), String::new(), json(learned)?)])
        }
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
    let key = prediction.id.to_string();
    connection.prepare_cached(&format!("DELETE FROM {PREDICTIONS} AND key = ?1"))?.execute([&key])?;
    connection
        .prepare_cached("INSERT INTO facts VALUES ('prediction', ?1, ?2, ?3)")?
        .execute([key.as_str(), state, &json(prediction)?])
        .map(drop)
}

/// Puts these rows in place of all others of a kind.
fn replace(connection: &Connection, kind: &str, rows: &[(String, String, String)]) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM facts WHERE kind = ?1")?.execute([kind])?;
    let mut insert = connection.prepare_cached("INSERT INTO facts VALUES (?1, ?2, ?3, ?4)")?;
    rows.iter().try_for_each(|(key, owner, value)| insert.execute([kind, key, owner, value]).map(drop))
}

fn prediction(connection: &Connection, id: ChangeId) -> rusqlite::Result<Option<Prediction>> {
    let sql = format!("SELECT value FROM {PREDICTIONS} AND key = ?1");
    connection.prepare_cached(&sql)?.query_row([id.to_string()], read).optional()
}

pub(crate) fn open(connection: &Connection) -> rusqlite::Result<Vec<Prediction>> {
    let sql = format!("SELECT value FROM {PREDICTIONS} AND owner = '{OPEN}' ORDER BY key");
    connection.prepare_cached(&sql)?.query_map([], read)?.collect()
}

pub(crate) fn ended(connection: &Connection, most: usize) -> rusqlite::Result<Vec<Prediction>> {
    let sql = format!("SELECT value FROM {PREDICTIONS} AND owner = '{ENDED}' ORDER BY key DESC");
    let mut ended: Vec<Prediction> =
        connection.prepare_cached(&sql)?.query_map([], read)?.collect::<rusqlite::Result<_>>()?;
    ended.sort_by_key(|one| std::cmp::Reverse(one.ended.as_ref().map(|ending| ending.at)));
    ended.truncate(most);
    Ok(ended)
}

pub(crate) fn tally(connection: &Connection) -> rusqlite::Result<Counters> {
    let sql = "SELECT value FROM facts WHERE kind = 'tally'";
    let tally = connection.prepare_cached(sql)?.query_row([], read).optional()?;
    Ok(tally.unwrap_or_default())
}

pub(crate) fn assigned(connection: &Connection) -> rusqlite::Result<Vec<(String, Option<String>)>> {
    let sql = "SELECT key, owner FROM facts WHERE kind = 'domain' ORDER BY key";
    let row =
        |row: &Row<'_>| Ok((row.get(0)?, Some(row.get(1)?).filter(|domain: &String| !domain.is_empty())));
    connection.prepare_cached(sql)?.query_map([], row)?.collect()
}

pub(crate) fn learned(connection: &Connection) -> rusqlite::Result<Vec<LearnedDomain>> {
    let sql = "SELECT value FROM facts WHERE kind = 'learned'";
    let learned = connection.prepare_cached(sql)?.query_row([], read).optional()?;
    Ok(learned.unwrap_or_default())
}

impl ConvergenceStore for SqliteTx<'_> {
    fn active_predictions(&self) -> Result<Vec<Prediction>, StoreError> {
        self.ask(open)
    }

    fn predictions_numbered(&self, number: Number) -> Result<Vec<Prediction>, StoreError> {
        let sql = format!("SELECT value FROM {PREDICTIONS} AND json_extract(value, '$.number') = ?1");
        self.ask(|tx| tx.prepare_cached(&sql)?.query_map([number], read)?.collect())
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

fn read<T: serde::de::DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<T> {
    parse(row.get_ref(0)?.as_str()?, 0)
}
