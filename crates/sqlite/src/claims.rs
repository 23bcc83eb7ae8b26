//! SQL of the claims room: holds, among the facts.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::ClaimChange;
use consort_core::claims::ClaimStore;
use consort_core::claims::Contest;
use consort_core::claims::Hold;
use consort_core::claims::HoldKey;
use consort_core::claims::Resource;
use consort_core::claims::Strength;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::project::ProjectId;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;
use rusqlite::params;
use serde::Deserialize;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;

/// The rows of holds. An override by the person is a hold too, of a kind of its own: the guard asks for
/// that kind alone.
const HOLDS: &str = "facts WHERE kind IN ('hold', 'override')";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &ClaimChange,
) -> rusqlite::Result<()> {
    match change {
        ClaimChange::Held(hold) => {
            let mut hold = (**hold).clone();
            hold.generation = origin.number.unwrap_or(hold.generation);
            put(connection, &hold)
        }
        ClaimChange::Contested { key, contest } => contested(connection, key, contest),
        ClaimChange::Released { key, .. } => {
            let sql = format!("DELETE FROM {HOLDS} AND key = ?1 AND owner = ?2");
            connection.prepare_cached(&sql)?.execute(columns(key)).map(drop)
        }
    }
}

/// Visits the holder and the value of each hold in a project and on the whole machine that is not over,
/// until `visit` returns false.
fn each_live_hold(
    connection: &Connection,
    project: &ProjectId,
    now: Timestamp,
    mut visit: impl FnMut(&str, &str) -> rusqlite::Result<bool>,
) -> rusqlite::Result<()> {
    #[derive(Deserialize)]
    struct Until {
        until: Option<Timestamp>,
    }
    let mut statement = connection.prepare_cached("SELECT owner, value FROM facts WHERE kind = 'hold'")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (owner, value) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
        let Some((of, holder)) = owner.rsplit_once('\t') else { continue };
        // Few holds have a time, so few are parsed for it.
        let is_over =
            value.contains("\"until\":") && parse::<Until>(value, 1)?.until.is_some_and(|until| until <= now);
        if (of.is_empty() || of == project.as_str()) && !is_over && !visit(holder, value)? {
            break;
        }
    }
    Ok(())
}

fn put(connection: &Connection, hold: &Hold) -> rusqlite::Result<()> {
    let [resource, owner] = columns(&hold.key());
    let kind = if hold.strength == Strength::Overridden { "override" } else { "hold" };
    connection
        .prepare_cached("REPLACE INTO facts VALUES (?1, ?2, ?3, ?4)")?
        .execute([kind, &resource, &owner, &json(hold)?])
        .map(drop)
}

fn contested(connection: &Connection, key: &HoldKey, contest: &Contest) -> rusqlite::Result<()> {
    let sql = format!("SELECT value FROM {HOLDS} AND key = ?1 AND owner = ?2");
    let found = connection.prepare_cached(&sql)?.query_row(columns(key), read).optional()?;
    // A hold that was released meanwhile is past contesting.
    found.map_or(Ok(()), |hold| put(connection, &Hold { contest: Some(contest.clone()), ..hold }))
}

/// Tells how long a change is kept: as long as there is a hold on its resource.
pub(crate) fn keep(change: &ClaimChange) -> Keep {
    Keep::Story(("holds", change.resource().to_string()))
}

impl ClaimStore for SqliteTx<'_> {
    fn holds(&self, project: Option<&ProjectId>) -> Result<Vec<Hold>, StoreError> {
        let mut holds = self.all_holds()?;
        holds.retain(|hold| hold.project.is_none() || hold.project.as_ref() == project);
        Ok(holds)
    }

    fn holds_on(&self, resources: &[Resource]) -> Result<Vec<Hold>, StoreError> {
        self.ask(|tx| {
            let mut holds = overrides(tx)?;
            holds.extend(on(tx, &resources.iter().map(ToString::to_string).collect())?);
            Ok(holds)
        })
    }

    fn holds_near(&self, resources: &[Resource], case: Case) -> Result<Vec<Hold>, StoreError> {
        let is_near = |key: &str| resources.iter().any(|resource| resource.may_meet(key, case));
        self.ask(|tx| {
            // For several resources, or where case does not matter, all holds are looked at.
            let (exact, beginnings) = match (resources, case) {
                ([resource], Case::Matters) => resource.lookup_keys(),
                _ => (Vec::new(), vec![String::new()]),
            };
            let mut holds = Vec::new();
            let exact = exact.into_iter().map(|key| (key.clone(), key.into_bytes()));
            // No text has this byte: the key comes after all keys that begin so.
            let after = |beginning: &String| [beginning.as_bytes(), &[0xff]].concat();
            let ranges = beginnings.into_iter().map(|beginning| (beginning.clone(), after(&beginning)));
            let sql = "SELECT key, value FROM facts
                       WHERE kind = 'hold' AND key BETWEEN ?1 AND CAST(?2 AS TEXT)";
            let mut statement = tx.prepare_cached(sql)?;
            for (first, last) in exact.chain(ranges) {
                let mut rows = statement.query(params![first, last])?;
                while let Some(row) = rows.next()? {
                    if is_near(row.get_ref(0)?.as_str()?) {
                        holds.push(parse(row.get_ref(1)?.as_str()?, 1)?);
                    }
                }
            }
            holds.extend(overrides(tx)?);
            Ok(holds)
        })
    }

    fn holds_of(&self, holder: &Actor) -> Result<Vec<Hold>, StoreError> {
        let holder = format!("\t{holder}");
        self.ask(|tx| {
            let mut statement = tx.prepare_cached(&format!("SELECT owner, value FROM {HOLDS}"))?;
            let (mut rows, mut holds) = (statement.query([])?, Vec::new());
            while let Some(row) = rows.next()? {
                if row.get_ref(0)?.as_str()?.ends_with(&holder) {
                    holds.push(parse(row.get_ref(1)?.as_str()?, 1)?);
                }
            }
            Ok(holds)
        })
    }

    fn holders(&self) -> Result<BTreeMap<Actor, bool>, StoreError> {
        let mut holders: BTreeMap<String, bool> = BTreeMap::new();
        self.ask(|tx| {
            let mut statement = tx.prepare_cached(&format!("SELECT owner, value FROM {HOLDS}"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let Some((_, holder)) = row.get_ref(0)?.as_str()?.rsplit_once('\t') else { continue };
                let is_contested = row.get_ref(1)?.as_str()?.contains("\"contest\":{");
                match holders.get_mut(holder) {
                    Some(known) => *known |= is_contested,
                    None => drop(holders.insert(holder.to_owned(), is_contested)),
                }
            }
            Ok(())
        })?;
        let read = |(holder, is_contested): (String, bool)| {
            let Ok(holder) = holder.parse();
            (holder, is_contested)
        };
        Ok(holders.into_iter().map(read).collect())
    }

    fn hold_counts(&self, project: &ProjectId, now: Timestamp) -> Result<Vec<(Actor, usize)>, StoreError> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.ask(|tx| {
            each_live_hold(tx, project, now, |holder, _| {
                match counts.get_mut(holder) {
                    Some(count) => *count += 1,
                    None => drop(counts.insert(holder.to_owned(), 1)),
                }
                Ok(true)
            })
        })?;
        let parsed = |(holder, count): (String, usize)| {
            let Ok(holder) = Actor::from_str(&holder);
            (holder, count)
        };
        Ok(counts.into_iter().map(parsed).collect())
    }

    fn first_holds(
        &self,
        project: &ProjectId,
        holders: &[Actor],
        now: Timestamp,
        most: usize,
    ) -> Result<Vec<Hold>, StoreError> {
        let holders: Vec<String> = holders.iter().map(ToString::to_string).collect();
        let mut holds = Vec::new();
        self.ask(|tx| {
            each_live_hold(tx, project, now, |holder, value| {
                if holders.iter().any(|one| one == holder) {
                    holds.push(parse(value, 0)?);
                }
                Ok(holds.len() < most)
            })
        })?;
        Ok(holds)
    }

    fn all_holds(&self) -> Result<Vec<Hold>, StoreError> {
        self.ask(all)
    }
}

/// Lists the person's overrides.
fn overrides(connection: &Connection) -> rusqlite::Result<Vec<Hold>> {
    let sql = "SELECT value FROM facts WHERE kind = 'override'";
    connection.prepare_cached(sql)?.query_map([], read)?.collect()
}

/// Lists the holds on exactly these resources.
pub(crate) fn on(connection: &Connection, resources: &BTreeSet<String>) -> rusqlite::Result<Vec<Hold>> {
    let mut on = connection.prepare_cached(&format!("SELECT value FROM {HOLDS} AND key = ?1"))?;
    let mut holds = Vec::new();
    for resource in resources {
        holds.extend(on.query_map([resource], read)?.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(holds)
}

pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Hold>> {
    connection.prepare_cached(&format!("SELECT value FROM {HOLDS}"))?.query_map([], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Hold> {
    parse(row.get_ref(0)?.as_str()?, 0)
}

/// Returns the key and the owner of a hold's row.
fn columns(key: &HoldKey) -> [String; 2] {
    let project = key.project.as_ref().map_or("", |project| project.as_str());
    [key.resource.to_string(), format!("{project}\t{}", key.holder)]
}
