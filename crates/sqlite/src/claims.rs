//! SQL of the claims room: holds, among the facts.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::ops::ControlFlow::Break;
use std::ops::ControlFlow::Continue;
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
use memchr::memmem::Finder;
use rusqlite::Connection;
use serde::Deserialize;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::facts;
use crate::facts::Fact;
use crate::facts::Keys;

const HOLD: &str = "hold";

/// An override by the person is a hold too, of a kind of its own: the guard asks for that kind alone.
const OVERRIDE: &str = "override";

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
            let [resource, owner] = columns(key);
            facts::remove(connection, HOLD, &resource, &owner)?;
            facts::remove(connection, OVERRIDE, &resource, &owner)
        }
    }
}

/// Visits each hold in a project and on the whole machine that is not over, with its holder, until `visit`
/// breaks.
fn each_live_hold(
    connection: &Connection,
    project: &ProjectId,
    now: Timestamp,
    mut visit: impl FnMut(&str, &Fact<'_>) -> rusqlite::Result<ControlFlow<()>>,
) -> rusqlite::Result<()> {
    #[derive(Deserialize)]
    struct Until {
        until: Option<Timestamp>,
    }
    let time = Finder::new("\"until\":");
    facts::visit_until(connection, HOLD, Keys::All, |fact| {
        let Some((of, holder)) = fact.owner()?.rsplit_once('\t') else { return Ok(Continue(())) };
        // Few holds have a time, so few are parsed for it.
        let is_over = fact.contains(&time)? && fact.parse::<Until>()?.until.is_some_and(|until| until <= now);
        if (of.is_empty() || of == project.as_str()) && !is_over {
            return visit(holder, &fact);
        }
        Ok(Continue(()))
    })
}

fn put(connection: &Connection, hold: &Hold) -> rusqlite::Result<()> {
    let [resource, owner] = columns(&hold.key());
    let kind = if hold.strength == Strength::Overridden { OVERRIDE } else { HOLD };
    facts::put(connection, kind, &resource, &owner, &json(hold)?)
}

fn contested(connection: &Connection, key: &HoldKey, contest: &Contest) -> rusqlite::Result<()> {
    let mut found = find_holds(connection, &BTreeSet::from([key.resource.to_string()]))?;
    found.retain(|hold| hold.key() == *key);
    // A hold that was released meanwhile is past contesting.
    found.pop().map_or(Ok(()), |hold| put(connection, &Hold { contest: Some(contest.clone()), ..hold }))
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
            holds.extend(find_holds(tx, &resources.iter().map(ToString::to_string).collect())?);
            Ok(holds)
        })
    }

    fn holds_near(&self, resources: &[Resource], case: Case) -> Result<Vec<Hold>, StoreError> {
        let is_near = |key: &str| resources.iter().any(|resource| resource.may_overlap(key, case));
        self.ask(|tx| {
            // For several resources, or where case does not matter, all holds are looked at.
            let (exact, beginnings) = match (resources, case) {
                ([resource], Case::Matters) => resource.overlap_lookup_keys(),
                _ => (Vec::new(), vec![String::new()]),
            };
            let exact = exact.iter().map(|key| Keys::Is(key));
            let beginnings = beginnings.iter().map(|beginning| Keys::BeginsWith(beginning));
            let mut holds = Vec::new();
            for keys in exact.chain(beginnings) {
                let read = |fact: &Fact<'_>| is_near(fact.key()?).then(|| fact.parse()).transpose();
                holds.extend(facts::list(tx, HOLD, keys, read)?);
            }
            holds.extend(overrides(tx)?);
            Ok(holds)
        })
    }

    fn holds_of(&self, holder: &Actor) -> Result<Vec<Hold>, StoreError> {
        let holder = format!("\t{holder}");
        self.ask(|tx| {
            list(tx, Keys::All, |fact| fact.owner()?.ends_with(&holder).then(|| fact.parse()).transpose())
        })
    }

    fn holders(&self) -> Result<BTreeMap<Actor, bool>, StoreError> {
        let mut holders: BTreeMap<String, bool> = BTreeMap::new();
        self.ask(|tx| {
            list(tx, Keys::All, |fact| {
                let Some((_, holder)) = fact.owner()?.rsplit_once('\t') else { return Ok(None) };
                let is_contested = fact.value()?.contains("\"contest\":{");
                match holders.get_mut(holder) {
                    Some(known) => *known |= is_contested,
                    None => drop(holders.insert(holder.to_owned(), is_contested)),
                }
                Ok(None::<()>)
            })
        })?;
        let read = |(holder, is_contested): (String, bool)| {
            let Ok(holder) = holder.parse();
            (holder, is_contested)
        };
        Ok(holders.into_iter().map(read).collect())
    }

    fn hold_counts(&self, project: &ProjectId, now: Timestamp) -> Result<Vec<(Actor, usize)>, StoreError> {
        // Rows beside one another mostly have one holder, so few are looked up.
        let mut in_a_row: Vec<(String, usize)> = Vec::new();
        self.ask(|tx| {
            each_live_hold(tx, project, now, |holder, _| {
                match in_a_row.last_mut() {
                    Some((last, count)) if last == holder => *count += 1,
                    _ => in_a_row.push((holder.to_owned(), 1)),
                }
                Ok(Continue(()))
            })
        })?;
        let mut counts: BTreeMap<Actor, usize> = BTreeMap::new();
        for (holder, count) in in_a_row {
            let Ok(holder) = Actor::from_str(&holder);
            *counts.entry(holder).or_default() += count;
        }
        Ok(counts.into_iter().collect())
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
            each_live_hold(tx, project, now, |holder, fact| {
                if holders.iter().any(|one| one == holder) {
                    holds.push(fact.parse()?);
                }
                Ok(if holds.len() < most { Continue(()) } else { Break(()) })
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
    facts::parsed(connection, OVERRIDE, Keys::All)
}

/// Lists the holds on exactly these resources.
pub(crate) fn find_holds(
    connection: &Connection,
    resources: &BTreeSet<String>,
) -> rusqlite::Result<Vec<Hold>> {
    let mut holds = Vec::new();
    for resource in resources {
        holds.extend(list(connection, Keys::Is(resource), |fact| fact.parse().map(Some))?);
    }
    Ok(holds)
}

pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Hold>> {
    list(connection, Keys::All, |fact| fact.parse().map(Some))
}

/// Lists what `read` makes of holds, of overrides too.
fn list<T>(
    connection: &Connection,
    keys: Keys<'_>,
    mut read: impl FnMut(&Fact<'_>) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Vec<T>> {
    let mut list = facts::list(connection, HOLD, keys, &mut read)?;
    list.extend(facts::list(connection, OVERRIDE, keys, read)?);
    Ok(list)
}

/// Returns the key and the owner of a hold's row.
fn columns(key: &HoldKey) -> [String; 2] {
    let project = key.project.as_ref().map_or("", |project| project.as_str());
    [key.resource.to_string(), format!("{project}\t{}", key.holder)]
}
