//! SQL of the policy room: rules and open questions, among the facts.

use consort_core::engine::StoreError;
use consort_core::journal::ChangeId;
use consort_core::policy::AskRecord;
use consort_core::policy::PolicyChange;
use consort_core::policy::PolicyStore;
use consort_core::policy::RuleRecord;
use rusqlite::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::SqliteTx;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::json;
use crate::apply::parse;
use crate::facts;
use crate::facts::Keys;

const RULE: &str = "rule";
const ASK: &str = "ask";

pub(crate) fn apply(
    connection: &Connection,
    origin: &ChangeOrigin<'_>,
    change: &PolicyChange,
) -> rusqlite::Result<()> {
    let number = origin.number.unwrap_or_default();
    match change {
        PolicyChange::Added(rule) => {
            let rule = rule.clone();
            let record = RuleRecord { id: origin.id, number, rule, added_at: origin.at };
            put(connection, RULE, origin.id, &record)
        }
        PolicyChange::Removed { rule, .. } => remove(connection, RULE, *rule),
        // A question for which no process waits has no row.
        PolicyChange::Asked(ask) if ask.holder.is_none() => Ok(()),
        PolicyChange::Asked(ask) => {
            let (project, ask) = (origin.project.cloned(), (**ask).clone());
            let record = AskRecord { id: origin.id, number, at: origin.at, project, ask, answer: None };
            put(connection, ASK, origin.id, &record)
        }
        PolicyChange::Answered { ask, answer, by } => {
            let Some(mut record) = one::<AskRecord>(connection, ASK, *ask)? else { return Ok(()) };
            record.answer = Some((answer.clone(), by.clone()));
            put(connection, ASK, *ask, &record)
        }
        PolicyChange::Closed { ask, .. } => remove(connection, ASK, *ask),
    }
}

/// Tells how long a change is kept: all about a rule until it is removed, all about a question until it
/// is closed.
pub(crate) fn keep(id: ChangeId, change: &PolicyChange) -> Keep {
    match change {
        PolicyChange::Added(_) => Keep::Story(("rules", id.to_string())),
        PolicyChange::Removed { rule, .. } => Keep::Story(("rules", rule.to_string())),
        PolicyChange::Asked(_) => Keep::Story(("asks", id.to_string())),
        PolicyChange::Answered { ask, .. } | PolicyChange::Closed { ask, .. } => {
            Keep::Story(("asks", ask.to_string()))
        }
    }
}

fn put(connection: &Connection, kind: &str, id: ChangeId, record: &impl Serialize) -> rusqlite::Result<()> {
    facts::put(connection, kind, &id.to_string(), "", &json(record)?)
}

fn remove(connection: &Connection, kind: &str, id: ChangeId) -> rusqlite::Result<()> {
    facts::remove_key(connection, kind, &id.to_string())
}

fn one<T: DeserializeOwned>(
    connection: &Connection,
    kind: &str,
    id: ChangeId,
) -> rusqlite::Result<Option<T>> {
    facts::get(connection, kind, &id.to_string(), "")?.map(|record| parse(&record, 0)).transpose()
}

/// Lists the records of a kind in the order of their ids, which is that of time.
fn all<T: DeserializeOwned>(connection: &Connection, kind: &str) -> rusqlite::Result<Vec<T>> {
    facts::parsed(connection, kind, Keys::All)
}

/// Lists the rules, for the published file.
pub(crate) fn rules(connection: &Connection) -> rusqlite::Result<Vec<RuleRecord>> {
    all(connection, RULE)
}

impl PolicyStore for SqliteTx<'_> {
    fn rules(&self) -> Result<Vec<RuleRecord>, StoreError> {
        self.ask(rules)
    }

    fn asks(&self) -> Result<Vec<AskRecord>, StoreError> {
        self.ask(|tx| all(tx, ASK))
    }

    fn ask_of(&self, id: ChangeId) -> Result<Option<AskRecord>, StoreError> {
        self.ask(|tx| one(tx, ASK, id))
    }
}
