//! The journal's table.

use std::collections::HashSet;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::Effects;
use consort_core::journal::Entry;
use consort_core::journal::EntryId;
use consort_core::journal::JournalStore;
use consort_core::journal::NewEntry;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::journal::Verification;
use consort_core::messages::MessageStore as _;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::params;

use crate::SqliteTx;
use crate::apply;
use crate::apply::Keep;
use crate::apply::PROJECTIONS;
use crate::apply::Subject;
use crate::side_files::published_lines;
use crate::verify;

const COLUMNS: &str = "seq, id, at, project, actor, changes";

impl JournalStore for SqliteTx<'_> {
    fn record(&mut self, entry: &NewEntry) -> Result<Seq, StoreError> {
        let changes =
            serde_json::to_string(&entry.changes).map_err(|error| StoreError::Failed(Box::new(error)))?;
        let store = &self.store.path;
        published_lines::announce(store, &entry.changes)
            .map_err(|error| StoreError::Unusable { path: store.clone(), source: error.into() })?;
        self.after.publish.add(&entry.changes);
        let effects = Effects::of(entry.project.as_ref(), &entry.changes);
        effects.mail.iter().try_for_each(|session| self.raise_flag(session))?;
        let seq = self.change(|tx| {
            // The last entry is never deleted, so the next number is the last plus one.
            tx.prepare_cached(
                "INSERT INTO journal (id, at, project, actor, changes) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                entry.id.0,
                entry.at.0,
                entry.project.as_ref().map(|project| project.as_str()),
                entry.actor.to_string(),
                changes,
            ])?;
            let seq = tx.last_insert_rowid();
            entry.changes.iter().try_for_each(|change| apply::apply(tx, seq, entry.at, change))?;
            Ok(seq)
        })?;
        for session in &effects.arrived {
            if self.has_unread(&Actor::Agent(session.clone()))? {
                self.raise_flag(session)?;
            }
        }
        self.after.ended.extend(effects.ended);
        self.after.topics.extend(effects.topics);
        Ok(seq)
    }

    fn entries(&self, request: &TailRequest) -> Result<Vec<Entry>, StoreError> {
        // With a start the oldest come first; without one, the latest are wanted.
        let from_start = request.after.is_some() || request.since.is_some();
        let order = if from_start { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT {COLUMNS} FROM journal
             WHERE seq > ?1 AND at >= ?2 AND (?3 IS NULL OR project IS NULL OR project = ?3)
             ORDER BY seq {order} LIMIT ?4"
        );
        let after = request.after.unwrap_or(0);
        let since = request.since.map_or(i64::MIN, |since| since.0);
        let project = request.project.as_ref().map(|project| project.as_str());
        let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
        let raw: Vec<Raw> = self.ask(|tx| {
            let mut statement = tx.prepare_cached(&sql)?;
            statement.query_map(params![after, since, project, limit], Raw::read)?.collect()
        })?;
        let mut entries: Vec<Entry> = raw.into_iter().map(Raw::show).collect();
        if !from_start {
            entries.reverse();
        }
        Ok(entries)
    }

    fn recent(&self, id: EntryId) -> Result<Option<Entry>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM journal
             WHERE seq > (SELECT max(seq) - 5000 FROM journal) AND id = ?1"
        );
        let raw = self.ask(|tx| tx.prepare(&sql)?.query_row([id.0], Raw::read).optional())?;
        Ok(raw.map(Raw::show))
    }

    fn last_seq(&self) -> Result<Seq, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM journal";
        self.ask(|tx| tx.prepare_cached(sql)?.query_row([], |row| row.get(0)))
    }

    fn id_of(&self, seq: Seq) -> Result<Option<EntryId>, StoreError> {
        let sql = "SELECT id FROM journal WHERE seq = ?1";
        let id: Option<[u8; 16]> =
            self.ask(|tx| tx.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional())?;
        Ok(id.map(EntryId))
    }

    fn integrity(&self) -> Result<Vec<String>, StoreError> {
        self.ask(verify::integrity)
    }

    fn verify(&self) -> Result<Verification, StoreError> {
        verify::verify(&self.store.path, &self.tx, |error| self.failed(error))
    }

    fn rebuild(&mut self) -> Result<usize, StoreError> {
        self.after.publish.all = true;
        self.change(|tx| {
            PROJECTIONS.iter().try_for_each(|projection| {
                tx.execute(&format!("DELETE FROM {}", projection.rows), []).map(drop)
            })
        })?;
        let count = replay(&self.tx, &self.tx, |error| self.failed(error))?;
        self.raise_all_flags()?;
        Ok(count)
    }

    fn last_before(&self, before: Timestamp) -> Result<Seq, StoreError> {
        // Entries are in order of time but for clocks set back: stop at the
        // first that is young, so nothing young is ever looked at. The very
        // last one stays, however old: the next number is counted from it.
        let sql = "SELECT coalesce((SELECT seq - 1 FROM journal WHERE at >= ?1 ORDER BY seq LIMIT 1),
                                   (SELECT max(seq) - 1 FROM journal), 0)";
        self.ask(|tx| tx.query_row(sql, [before.0], |row| row.get(0)))
    }

    fn droppable(&self, through: Seq) -> Result<Vec<Seq>, StoreError> {
        let mut candidates = Vec::new();
        for_each(&self.tx, through, &|error| self.failed(error), |entry| {
            // What cannot be read is not ours to drop.
            if let Ok(entry) = entry {
                let keeps = entry.changes.iter().map(|change| apply::keep(entry.seq, change));
                candidates.push((entry.seq, keeps.collect()));
            }
            Ok(())
        })?;
        self.ask(|tx| droppable(tx, candidates))
    }

    fn drop_entries(&mut self, entries: &[Seq]) -> Result<usize, StoreError> {
        self.change(|tx| {
            let mut delete = tx.prepare_cached("DELETE FROM journal WHERE seq = ?1")?;
            entries.iter().map(|seq| delete.execute([seq])).sum()
        })
    }

    fn last_pruned(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT CAST(value AS INTEGER) FROM facts
                   WHERE kind = 'setting' AND key = 'pruned_at' AND owner = ':consort'";
        self.ask(|tx| tx.query_row(sql, [], |row| Ok(Timestamp(row.get(0)?))).optional())
    }

    fn set_last_pruned(&mut self, at: Timestamp) -> Result<(), StoreError> {
        let sql = "REPLACE INTO facts VALUES ('setting', 'pruned_at', ':consort', ?1)";
        self.change(|tx| tx.execute(sql, [at.0.to_string()]).map(drop))
    }
}

/// The entries for which `condition` holds, oldest first.
pub(crate) fn matching(
    store: &SqliteTx<'_>,
    condition: &str,
    by: i64,
    limit: i64,
) -> Result<Vec<Entry>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM journal WHERE {condition} ORDER BY seq LIMIT ?2");
    let raw: Vec<Raw> = store.ask(|tx| {
        let mut statement = tx.prepare_cached(&sql)?;
        statement.query_map([by, limit], Raw::read)?.collect()
    })?;
    Ok(raw.into_iter().map(Raw::show).collect())
}

/// The entries that nothing depends on. An entry is kept whole, and with it
/// all others of its stories: half of a story replays as another one.
fn droppable(tx: &Connection, mut candidates: Vec<(Seq, Vec<Keep>)>) -> rusqlite::Result<Vec<Seq>> {
    let mut kept: HashSet<Subject> = HashSet::new();
    for keep in candidates.iter().flat_map(|(_, keeps)| keeps) {
        let subjects = match keep {
            Keep::Story(subject) => std::slice::from_ref(subject),
            Keep::WhileAny(subjects) => subjects,
            Keep::Never | Keep::Always => &[],
        };
        for subject in subjects {
            if !kept.contains(subject) && apply::exists(tx, subject)? {
                kept.insert(subject.clone());
            }
        }
    }
    loop {
        let is_needed = |keep: &Keep| match keep {
            Keep::Never => false,
            Keep::Story(subject) => kept.contains(subject),
            Keep::WhileAny(subjects) => subjects.iter().any(|subject| kept.contains(subject)),
            Keep::Always => true,
        };
        let (needed, rest): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|(_, keeps)| keeps.iter().any(is_needed));
        candidates = rest;
        if needed.is_empty() {
            return Ok(candidates.into_iter().map(|(seq, _)| seq).collect());
        }
        let subjects = needed.into_iter().flat_map(|(_, keeps)| keeps);
        kept.extend(subjects.filter_map(|keep| match keep {
            Keep::Story(subject) => Some(subject),
            Keep::Never | Keep::WhileAny(_) | Keep::Always => None,
        }));
    }
}

/// Applies every entry of `journal` to the tables of `target`, in order.
pub(crate) fn replay(
    journal: &Connection,
    target: &Connection,
    failed: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<usize, StoreError> {
    let mut count = 0;
    for_each(journal, Seq::MAX, &failed, |entry| {
        let entry = entry?;
        count += 1;
        let Entry { seq, at, changes, .. } = entry;
        changes.iter().try_for_each(|change| apply::apply(target, seq, at, change)).map_err(&failed)
    })?;
    Ok(count)
}

/// Visits every entry up to `through` without holding them all.
pub(crate) fn for_each(
    connection: &Connection,
    through: Seq,
    failed: &impl Fn(rusqlite::Error) -> StoreError,
    mut visit: impl FnMut(Result<Entry, StoreError>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM journal WHERE seq <= ?1 ORDER BY seq");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let mut rows = statement.query([through]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        visit(Raw::read(row).map_err(failed)?.parse())?;
    }
    Ok(())
}

struct Raw {
    seq: Seq,
    id: [u8; 16],
    at: i64,
    project: Option<String>,
    actor: String,
    changes: String,
}

impl Raw {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            id: row.get(1)?,
            at: row.get(2)?,
            project: row.get(3)?,
            actor: row.get(4)?,
            changes: row.get(5)?,
        })
    }

    /// For who must understand it.
    fn parse(self) -> Result<Entry, StoreError> {
        match serde_json::from_str(&self.changes) {
            Ok(changes) => Ok(self.with(changes)),
            Err(source) => Err(StoreError::Entry { seq: self.seq, source }),
        }
    }

    /// For who looks: one that cannot be understood is shown as it is, and stops none
    /// of the others.
    fn show(self) -> Entry {
        let changes = serde_json::from_str(&self.changes)
            .unwrap_or_else(|_| vec![Change::Unknown(self.changes.clone().into())]);
        self.with(changes)
    }

    fn with(self, changes: Vec<Change>) -> Entry {
        let Ok(actor) = Actor::from_str(&self.actor);
        let (id, at, project) = (EntryId(self.id), Timestamp(self.at), self.project.map(Into::into));
        Entry { seq: self.seq, id, at, project, actor, changes }
    }
}
