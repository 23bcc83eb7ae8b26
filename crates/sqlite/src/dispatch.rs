//! SQL of the dispatch room: runs and what they cost, among the facts.
//!
//! A run is a row by its id. A row for its number refers to it, and so does a row of the short list of
//! open runs; spending is summed up for each day and CLI.

use consort_core::Timestamp;
use consort_core::dispatch::DailyCliSpending;
use consort_core::dispatch::DispatchChange;
use consort_core::dispatch::DispatchStore;
use consort_core::dispatch::ReceiptHead;
use consort_core::dispatch::RunEnd;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::engine::StoreError;
use consort_core::journal::ChangeId;
use consort_core::journal::Number;
use consort_core::project::ProjectId;
use rusqlite::Connection;
use rusqlite::params;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;
use crate::facts;
use crate::facts::Keys;

const RUN: &str = "run";
const NUMBER: &str = "run number";
const OPEN: &str = "open run";
const SPENT: &str = "spent";
const RECEIPT: &str = "last receipt";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &DispatchChange,
) -> rusqlite::Result<()> {
    match change {
        DispatchChange::Asked { spec, by, owner } => {
            let (number, project) = (origin.number.unwrap_or_default(), origin.project.cloned());
            let id = origin.id.to_string();
            put(connection, NUMBER, &number_key(project.as_ref(), number), &id)?;
            put(connection, OPEN, &id, "")?;
            let record = RunRecord {
                id: origin.id,
                number,
                project,
                by: by.clone(),
                at: origin.at,
                spec: (**spec).clone(),
                state: RunState::Pending,
                owner: owner.clone(),
                started_at: None,
                parked_until: None,
                ended_at: None,
                end: None,
                is_hidden: false,
            };
            put(connection, RUN, &id, &json(&record)?)
        }
        DispatchChange::Started { run, owner, .. } => change_run(connection, *run, |record| {
            record.state = RunState::Running;
            record.owner = owner.clone();
            record.started_at = record.started_at.or(Some(origin.at));
            record.parked_until = None;
        }),
        DispatchChange::Reserved { run, amount, .. } => {
            change_run(connection, *run, |record| record.spec.reserved = *amount)
        }
        DispatchChange::Parked { run, until, .. } => change_run(connection, *run, |record| {
            record.state = RunState::Pending;
            record.parked_until = Some(*until);
        }),
        DispatchChange::Ended { run, end, .. } => {
            let Some(mut record) = one(connection, &run.to_string())? else { return Ok(()) };
            spend(connection, &record, origin.at, end)?;
            record.state = end.state;
            record.ended_at = Some(origin.at);
            record.parked_until = None;
            record.end = Some((**end).clone());
            facts::remove_key(connection, OPEN, &run.to_string())?;
            if let Some((receipt, project)) = end.receipt.as_ref().zip(record.project.as_ref()) {
                put(connection, RECEIPT, project.as_str(), &json(&receipt.head())?)?;
            }
            put(connection, RUN, &run.to_string(), &json(&record)?)
        }
        DispatchChange::Refused { .. } => Ok(()),
        DispatchChange::Hidden { project, before } => hide(connection, project, *before),
    }
}

/// Tells how long a change is kept: all about a run as long as it is listed, which is always.
pub(crate) fn keep(id: ChangeId, change: &DispatchChange) -> Keep {
    match change {
        DispatchChange::Asked { .. } => Keep::Story(("runs", id.to_string())),
        DispatchChange::Refused { .. } => Keep::Never,
        DispatchChange::Hidden { .. } => Keep::Always,
        change => change.run().map_or(Keep::Never, |run| Keep::Story(("runs", run.to_string()))),
    }
}

/// Adds the cost of a run to the spending of the day on which it ended.
fn spend(connection: &Connection, record: &RunRecord, at: Timestamp, end: &RunEnd) -> rusqlite::Result<()> {
    let day = at.0.div_euclid(Timestamp::DAY);
    let key = spent_key(record.project.as_ref(), day, &record.spec.cli);
    let former =
        text(connection, SPENT, &key)?.map(|former| parse::<DailyCliSpending>(&former, 0)).transpose()?;
    let cli = record.spec.cli.clone();
    let mut spending = former.unwrap_or_else(|| DailyCliSpending { day, cli, ..DailyCliSpending::default() });
    let seconds = record.started_at.map_or(0, |started| at.since(started).max(0) / 1_000);
    spending.add(end, u64::try_from(seconds).unwrap_or_default());
    put(connection, SPENT, &key, &json(&spending)?)
}

fn hide(connection: &Connection, project: &ProjectId, before: Timestamp) -> rusqlite::Result<()> {
    for id in newest(connection, project, None, usize::MAX)? {
        let Some(mut record) = one(connection, &id)? else { continue };
        if record.ended_at.is_some_and(|ended| ended < before) && !record.is_hidden {
            record.is_hidden = true;
            put(connection, RUN, &id, &json(&record)?)?;
        }
    }
    Ok(())
}

fn change_run(
    connection: &Connection,
    run: ChangeId,
    change: impl FnOnce(&mut RunRecord),
) -> rusqlite::Result<()> {
    let Some(mut record) = one(connection, &run.to_string())? else { return Ok(()) };
    change(&mut record);
    put(connection, RUN, &run.to_string(), &json(&record)?)
}

/// Returns the key for a run's number, padded so that numbers sort as text.
fn number_key(project: Option<&ProjectId>, number: Number) -> String {
    format!("{} {number:012}", project.map_or("", ProjectId::as_str))
}

fn spent_key(project: Option<&ProjectId>, day: i64, cli: &str) -> String {
    format!("{} {day:012} {cli}", project.map_or("", ProjectId::as_str))
}

fn put(connection: &Connection, kind: &str, key: &str, value: &str) -> rusqlite::Result<()> {
    facts::put(connection, kind, key, "", value)
}

fn text(connection: &Connection, kind: &str, key: &str) -> rusqlite::Result<Option<String>> {
    facts::get(connection, kind, key, "")
}

fn one(connection: &Connection, id: &str) -> rusqlite::Result<Option<RunRecord>> {
    text(connection, RUN, id)?.map(|record| parse(&record, 0)).transpose()
}

/// Lists the ids of a project's runs, the newest first.
fn newest(
    connection: &Connection,
    project: &ProjectId,
    before: Option<Number>,
    most: usize,
) -> rusqlite::Result<Vec<String>> {
    let (first, last) =
        (number_key(Some(project), 0), number_key(Some(project), before.unwrap_or(999_999_999_999)));
    let mut select = connection.prepare_cached(
        "SELECT value FROM facts WHERE kind = ?1 AND key >= ?2 AND key < ?3 ORDER BY key DESC LIMIT ?4",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    select.query_map(params![NUMBER, first, last, most], |row| row.get(0))?.collect()
}

impl DispatchStore for SqliteTx<'_> {
    fn runs(
        &self,
        project: &ProjectId,
        before: Option<Number>,
        most: usize,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.ask(|tx| {
            let ids = newest(tx, project, before, most)?;
            ids.iter().filter_map(|id| one(tx, id).transpose()).collect()
        })
    }

    fn open_runs(&self) -> Result<Vec<RunRecord>, StoreError> {
        self.ask(|tx| {
            let ids = facts::list(tx, OPEN, Keys::All, |fact| Ok(Some(fact.key()?.to_owned())))?;
            ids.iter().filter_map(|id| one(tx, id).transpose()).collect()
        })
    }

    fn run_of(&self, id: ChangeId) -> Result<Option<RunRecord>, StoreError> {
        self.ask(|tx| one(tx, &id.to_string()))
    }

    fn run_numbered(&self, project: &ProjectId, number: Number) -> Result<Option<RunRecord>, StoreError> {
        self.ask(|tx| match text(tx, NUMBER, &number_key(Some(project), number))? {
            Some(id) => one(tx, &id),
            None => Ok(None),
        })
    }

    fn receipt_head(&self, project: &ProjectId) -> Result<Option<ReceiptHead>, StoreError> {
        self.ask(|tx| text(tx, RECEIPT, project.as_str())?.map(|head| parse(&head, 0)).transpose())
    }

    fn spending(&self, project: &ProjectId, since: i64) -> Result<Vec<DailyCliSpending>, StoreError> {
        self.ask(|tx| {
            let (first, last) =
                (spent_key(Some(project), since, ""), spent_key(Some(project), 999_999_999_999, ""));
            let mut select = tx.prepare_cached(
                "SELECT value FROM facts WHERE kind = ?1 AND key >= ?2 AND key < ?3 ORDER BY key",
            )?;
            select.query_map([SPENT, &first, &last], |row| parse(row.get_ref(0)?.as_str()?, 0))?.collect()
        })
    }
}
