//! Converts journal entries that earlier versions wrote into today's format.
//!
//! Old entries named messages, predictions and grants by the sequence number of an entry, and a machine
//! only where an agent joined.

use std::collections::HashMap;

use consort_core::journal::ChangeId;
use consort_core::journal::EntryId;
use consort_core::journal::KeptChange;
use consort_core::journal::Number;
use consort_core::journal::Seq;
use consort_core::project::ProjectId;
use rusqlite::Connection;
use rusqlite::params;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::apply::json;
use crate::presence;

/// Number of entries that are held at once.
const STEP: usize = 1_000;

/// Rewrites all entries; the caller must make the projections from them again. An entry that cannot be
/// read stays as it is.
pub(crate) fn rewrite(tx: &Connection) -> rusqlite::Result<()> {
    let mut former = Collected::default();
    let sql =
        format!("SELECT seq, id, project, changes FROM journal WHERE seq > ?1 ORDER BY seq LIMIT {STEP}");
    let mut last: Seq = 0;
    loop {
        type Row = (Seq, [u8; 16], Option<String>, String);
        let rows: Vec<Row> = tx
            .prepare_cached(&sql)?
            .query_map([last], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect::<Result<_, _>>()?;
        let Some((seq, ..)) = rows.last() else { break };
        last = *seq;
        let mut update = tx.prepare_cached("UPDATE journal SET changes = ?2 WHERE seq = ?1")?;
        for (seq, id, project, changes) in rows {
            let Ok(changes) = serde_json::from_str::<Vec<Map<String, Value>>>(&changes) else { continue };
            let changes = former.entry(seq, EntryId(id), project.map(Into::into).as_ref(), changes);
            update.execute(params![seq, json(&changes)?])?;
        }
    }
    let mut insert = tx.prepare_cached("REPLACE INTO facts VALUES ('number', ?1, ?2, ?3)")?;
    for ((kind, project), number) in &former.counters {
        insert.execute(params![kind, project, number.to_string()])?;
    }
    Ok(())
}

/// Moves agents from the table that had a column for everything.
pub(crate) fn repack_agents(tx: &Connection) -> rusqlite::Result<()> {
    let columns =
        "kind, project, project_name, branch, model, CAST(joined_at AS TEXT), machine, start, tty, program,
                   cwd, worktree, more";
    let sql = format!("SELECT session, name, pid, left_at, left_reason, {columns} FROM former_agents");
    let mut insert = tx.prepare("INSERT INTO agents VALUES (?1, ?2, ?3, ?6, ?4, ?5)")?;
    let mut former = tx.prepare(&sql)?;
    let mut rows = former.query([])?;
    while let Some(row) = rows.next()? {
        let cells = (5..18).map(|column| Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default()));
        let rest = presence::join_cells(cells.collect::<rusqlite::Result<Vec<&str>>>()?);
        let value = |column| row.get::<_, rusqlite::types::Value>(column);
        insert.execute(params![value(0)?, value(1)?, value(2)?, value(3)?, value(4)?, rest])?;
    }
    drop(rows);
    former.finalize()?;
    tx.execute_batch("DROP TABLE former_agents")
}

/// The names that entries have given so far.
#[derive(Default)]
struct Collected {
    counters: HashMap<(&'static str, String), Number>,
    /// Ids and numbers of messages and predictions, by the entry that made them.
    ids: HashMap<Seq, (ChangeId, Number)>,
    /// Numbers of grants, by the entry and the subject of the grant.
    grants: HashMap<(Seq, String), Number>,
    /// The machine of each session, and the last one seen.
    machines: HashMap<String, String>,
    machine: String,
}

impl Collected {
    fn entry(
        &mut self,
        seq: Seq,
        id: EntryId,
        project: Option<&ProjectId>,
        changes: Vec<Map<String, Value>>,
    ) -> Vec<KeptChange> {
        let mut kept = Vec::new();
        for (place, change) in changes.into_iter().enumerate() {
            // Each is `{"<room>": {"<what>": {…}}}`.
            let Some((room, mut change)) = change.into_iter().next() else { continue };
            if let Some((what, body)) = change.as_object_mut().and_then(|change| change.iter_mut().next()) {
                self.change(seq, &format!("{room} {what}"), body);
            }
            let wire = json!({ "room": room, "change": change });
            let Ok(mut one) = serde_json::from_value::<KeptChange>(wire) else { continue };
            if let Some(counter) = one.change.counter(project) {
                let of = counter.project.as_ref().map_or_else(String::new, ToString::to_string);
                let number = self.counters.entry((counter.kind, of)).or_default();
                *number += 1;
                one.number = Some(*number);
                let id = ChangeId { entry: id, place: u16::try_from(place).unwrap_or(u16::MAX) };
                match counter.kind {
                    "message" | "prediction" => drop(self.ids.entry(seq).or_insert((id, *number))),
                    _ => drop(self.grants.insert((seq, one.change.about().concat()), *number)),
                }
            }
            kept.push(one);
        }
        kept
    }

    /// Converts a change's body into its format of today.
    fn change(&mut self, seq: Seq, what: &str, body: &mut Value) {
        match what {
            "presence joined" => {
                self.machine = text(&body["host"]);
                self.machines.insert(text(&body["session"]), self.machine.clone());
                let names = ["process", "cwd", "worktree", "terminal", "spec_file"];
                let mut location: Map<String, Value> =
                    names.iter().filter_map(|name| Some(((*name).to_owned(), take(body, name)?))).collect();
                location.insert("machine".into(), self.machine.clone().into());
                take(body, "host");
                body["location"] = location.into();
            }
            "presence repository_seen" => body["machine"] = self.machine.clone().into(),
            "messages sent" => {
                // The message that this one replied to may be forgotten.
                let (answered, thread) = (take(body, "reply_to"), take(body, "thread"));
                if let Some((id, number)) = answered.and_then(|number| self.id(&number)) {
                    body["reply_to"] = json!({ "id": id, "number": number });
                }
                if let Some((id, _)) = thread.and_then(|number| self.id(&number)) {
                    body["thread"] = json!(id);
                }
            }
            "messages delivered" | "messages read" | "messages inherited" | "messages dropped"
            | "messages forgotten" => {
                let numbers = take(body, "numbers").unwrap_or_default();
                let ids = numbers.as_array().into_iter().flatten().filter_map(|number| self.id(number));
                body["messages"] = ids.map(|(id, _)| json!(id)).collect();
                if let Some(process) = take(body, "hand") {
                    body["by"] = json!({ "machine": self.machine_of(&body["to"]), "process": process });
                }
            }
            "claims held" => {
                body["machine"] = self.machine_of(&body["holder"]).into();
                if body["strength"] == "lifted" {
                    body["strength"] = "overridden".into();
                }
                let about = format!("hold:{}:{}", text(&body["project"]), text(&body["resource"]));
                if let Some(granted) = body["generation"].as_i64().filter(|granted| *granted != 0) {
                    body["generation"] = self.grants.get(&(granted, about)).copied().unwrap_or(0).into();
                }
            }
            "convergence predicted" => {
                // A renewal has the id of the prediction it renews, which is found under the renewal's
                // entry too.
                if let Some(former) = self.id(&body["again"]) {
                    self.ids.insert(seq, former);
                    body["again"] = json!(former.0);
                } else {
                    take(body, "again");
                }
            }
            "convergence resolved" => {
                // The change may be kept for its tally alone.
                let nothing = (ChangeId { entry: EntryId([0; 16]), place: 0 }, 0);
                let (id, number) = self.id(&body["number"]).unwrap_or(nothing);
                body["prediction"] = json!(id);
                body["number"] = number.into();
            }
            _ => {}
        }
    }

    fn id(&self, number: &Value) -> Option<(ChangeId, Number)> {
        self.ids.get(&number.as_i64()?).copied()
    }

    /// Returns the machine on which an actor's session runs.
    fn machine_of(&self, actor: &Value) -> String {
        let session = actor.as_str().and_then(|actor| actor.strip_prefix("agent:"));
        session.and_then(|session| self.machines.get(session)).unwrap_or(&self.machine).clone()
    }
}

fn take(body: &mut Value, name: &str) -> Option<Value> {
    body.as_object_mut()?.remove(name)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
