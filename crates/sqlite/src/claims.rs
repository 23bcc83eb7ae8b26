//! What is held.

use consort_core::claims::ClaimChange;
use consort_core::claims::ClaimStore;
use consort_core::claims::Contest;
use consort_core::claims::Hold;
use consort_core::claims::HoldKey;
use consort_core::claims::Resource;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Seq;
use consort_core::project::ProjectId;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;
use rusqlite::params;

use crate::SqliteTx;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;

const WHERE_KEY: &str = "WHERE resource = ?1 AND project = ?2 AND holder = ?3";

pub(crate) fn apply(connection: &Connection, seq: Seq, change: &ClaimChange) -> rusqlite::Result<()> {
    match change {
        ClaimChange::Held(hold) => {
            let mut hold = (**hold).clone();
            if hold.generation == 0 {
                hold.generation = seq;
            }
            put(connection, &hold)
        }
        ClaimChange::Contested { key, contest } => contested(connection, key, contest),
        ClaimChange::Released { key, .. } => {
            let (resource, project, holder) = columns(key);
            let sql = format!("DELETE FROM holds {WHERE_KEY}");
            connection.prepare_cached(&sql)?.execute(params![resource, project, holder]).map(drop)
        }
    }
}

fn put(connection: &Connection, hold: &Hold) -> rusqlite::Result<()> {
    let (resource, project, holder) = columns(&hold.key());
    connection
        .prepare_cached("REPLACE INTO holds VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![resource, project, holder, json(hold)?])
        .map(drop)
}

fn contested(connection: &Connection, key: &HoldKey, contest: &Contest) -> rusqlite::Result<()> {
    let (resource, project, holder) = columns(key);
    let sql = format!("SELECT hold FROM holds {WHERE_KEY}");
    let found = connection.prepare_cached(&sql)?.query_row([resource, project, holder], read).optional()?;
    // One that was released meanwhile is past contesting.
    found.map_or(Ok(()), |hold| put(connection, &Hold { contest: Some(contest.clone()), ..hold }))
}

/// A hold is needed as long as it stands, and with it all that is told of that
/// resource.
pub(crate) fn keep(change: &ClaimChange) -> Keep {
    let resource = match change {
        ClaimChange::Held(hold) => &hold.resource,
        ClaimChange::Contested { key, .. } | ClaimChange::Released { key, .. } => &key.resource,
    };
    Keep::Story(("holds", resource.to_string()))
}

impl ClaimStore for SqliteTx<'_> {
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError> {
        let sql = "SELECT hold FROM holds WHERE project = '' OR project = ?1";
        let project = project.map_or("", ProjectId::as_str);
        self.ask(|tx| tx.prepare_cached(sql)?.query_map([project], read)?.collect())
    }

    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError> {
        // The person lifts in Consort's name.
        let lifted = Actor::Consort.to_string();
        self.ask(|tx| {
            let mut holds: Vec<Hold> = tx
                .prepare_cached("SELECT hold FROM holds WHERE holder = ?1")?
                .query_map([lifted], read)?
                .collect::<Result<_, _>>()?;
            let mut on = tx.prepare_cached("SELECT hold FROM holds WHERE resource = ?1")?;
            for resource in resources {
                let found = on.query_map([resource.to_string()], read)?.collect::<Result<Vec<_>, _>>()?;
                holds.extend(found);
            }
            Ok(holds)
        })
    }

    fn all_holds(&self) -> Result<Vec<Hold>, StoreError> {
        self.ask(all)
    }
}

pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Hold>> {
    connection.prepare_cached("SELECT hold FROM holds")?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Hold> {
    parse(row.get_ref(0)?.as_str()?, 0)
}

fn columns(key: &HoldKey) -> (String, String, String) {
    let project = key.project.as_ref().map_or_else(String::new, ToString::to_string);
    (key.resource.to_string(), project, key.holder.to_string())
}
