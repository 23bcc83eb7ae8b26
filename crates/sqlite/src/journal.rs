//! SQL of the journal: appends, reads, replays and drops entries.

use std::borrow::Cow;
use std::collections::HashSet;
use std::str::FromStr as _;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::journal::Actor;
use consort_core::journal::Change;
use consort_core::journal::ChangeId;
use consort_core::journal::Effects;
use consort_core::journal::Entry;
use consort_core::journal::EntryId;
use consort_core::journal::FORMAT;
use consort_core::journal::JournalStore;
use consort_core::journal::KeptChange;
use consort_core::journal::NewEntry;
use consort_core::journal::Number;
use consort_core::journal::NumberSeries;
use consort_core::journal::NumberedChange;
use consort_core::journal::Recorded;
use consort_core::journal::Seq;
use consort_core::journal::TailRequest;
use consort_core::journal::UnknownChange;
use consort_core::journal::Verification;
use consort_core::messages::MessageStore as _;
use consort_core::presence::PresenceStore as _;
use consort_core::side_files::SideFiles;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::params;

use crate::SqliteTx;
use crate::apply;
use crate::apply::ChangeOrigin;
use crate::apply::Keep;
use crate::apply::PROJECTIONS;
use crate::apply::Subject;
use crate::apply::json;
use crate::apply::parse;
use crate::facts;
use crate::published_lines;
use crate::verify;

const COLUMNS: &str = "seq, id, at, project, actor, changes, format";

impl JournalStore for SqliteTx<'_> {
    fn record(&mut self, entry: &NewEntry) -> Result<Recorded, StoreError> {
        self.require_understood(&entry.changes)?;
        let numbers = self.number(entry)?;
        let kept = entry.changes.iter().zip(&numbers);
        let kept: Vec<NumberedChange<'_>> =
            kept.map(|(change, number)| NumberedChange { number: *number, change }).collect();
        let kept = serde_json::to_string(&kept).map_err(|error| StoreError::Failed(Box::new(error)))?;
        let store = &self.store.path;
        published_lines::announce(store, &entry.changes)
            .map_err(|error| StoreError::Unusable { path: store.clone(), source: error.into() })?;
        self.after.publish.add(&entry.changes);
        let effects = Effects::of(entry.project.as_ref(), &entry.changes);
        effects.mail.iter().try_for_each(|session| self.raise_flag(session))?;
        for session in &effects.holders {
            // If this fails, the files that the session writes are not kept.
            let _ = (&self.files as &dyn SideFiles).note_holder(session);
        }
        for session in &effects.arrived {
            // A session that is present and joins once more is known to everyone.
            self.after.has_arrivals |= !matches!(self.agent(session)?, Some((_, None)));
        }
        let seq = self.change(|tx| {
            // The last entry is never deleted, so the next sequence number is the last plus one.
            tx.prepare_cached(
                "INSERT INTO journal (id, at, project, actor, changes, format)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                entry.id.0,
                entry.at.0,
                entry.project.as_ref().map(|project| project.as_str()),
                entry.actor.to_string(),
                kept,
                FORMAT,
            ])?;
            let (seq, at, project) = (tx.last_insert_rowid(), entry.at, entry.project.as_ref());
            for (place, (change, number)) in entry.changes.iter().zip(&numbers).enumerate() {
                let (id, number) = (entry.change_id(place), *number);
                apply::apply(tx, &ChangeOrigin { seq, at, project, id, number }, change)?;
            }
            Ok(seq)
        })?;
        for session in &effects.arrived {
            if self.has_unread(&Actor::Agent(session.clone()))? {
                self.raise_flag(session)?;
            }
        }
        for (one, other) in &effects.met {
            (&self.files as &dyn SideFiles).note_contact(one, other);
        }
        if let Some(project) = &effects.learned {
            (&self.files as &dyn SideFiles).note_learned(project, seq);
        }
        self.after.ended.extend(effects.ended);
        self.after.topics.extend(effects.topics);
        Ok(Recorded { seq, numbers })
    }

    fn next_number(&self, counter: &NumberSeries) -> Result<Number, StoreError> {
        let project = counter.project.as_ref().map_or("", |project| project.as_str());
        let last = self.ask(|tx| facts::get(tx, "number", counter.kind, project))?;
        Ok(last.and_then(|last| last.parse::<Number>().ok()).unwrap_or(0) + 1)
    }

    fn entries(&self, request: &TailRequest) -> Result<Vec<Entry>, StoreError> {
        // With a start the oldest entries come first; without one, the latest are wanted.
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

    fn entry(&self, id: EntryId) -> Result<Option<Entry>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM journal WHERE id = ?1");
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
        self.change(clear_projections)?;
        let count = replay(&self.tx, &self.tx, |error| self.failed(error))?;
        self.raise_all_flags()?;
        Ok(count)
    }

    fn last_before(&self, before: Timestamp) -> Result<Seq, StoreError> {
        // Entries are in order of time except where a clock was set back: stop before the first young
        // entry, so that no young entry is looked at. The very last entry stays, however old: the next
        // sequence number is counted from it.
        let sql = "SELECT coalesce((SELECT seq - 1 FROM journal WHERE at >= ?1 ORDER BY seq LIMIT 1),
                                   (SELECT max(seq) - 1 FROM journal), 0)";
        self.ask(|tx| tx.query_row(sql, [before.0], |row| row.get(0)))
    }

    fn droppable(&self, through: Seq) -> Result<Vec<(Seq, usize)>, StoreError> {
        let mut candidates = Vec::new();
        for_each(&self.tx, through, &|error| self.failed(error), |entry| {
            // An entry that cannot be read is not ours to drop.
            if let Ok(entry) = entry {
                for (place, kept) in entry.changes.iter().enumerate() {
                    let keep = apply::keep(entry.seq, change_id(entry.id, place), &kept.change);
                    candidates.push(((entry.seq, place), keep));
                }
            }
            Ok(())
        })?;
        self.ask(|tx| droppable(tx, candidates))
    }

    fn drop_changes(&mut self, changes: &[(Seq, usize)]) -> Result<usize, StoreError> {
        let mut dropped = 0;
        for of_entry in changes.chunk_by(|one, other| one.0 == other.0) {
            let (seq, places) = (of_entry[0].0, of_entry.iter().map(|(_, place)| *place));
            dropped += self.change(|tx| drop_from(tx, seq, places))?;
        }
        Ok(dropped)
    }

    fn last_pruned(&self) -> Result<Option<Timestamp>, StoreError> {
        let at = self.ask(|tx| facts::get(tx, "setting", "pruned_at", ":consort"))?;
        Ok(at.and_then(|at| at.parse().ok()).map(Timestamp))
    }

    fn set_last_pruned(&mut self, at: Timestamp) -> Result<(), StoreError> {
        self.change(|tx| facts::put(tx, "setting", "pruned_at", ":consort", &at.0.to_string()))
    }
}

/// Replaces the changes of an entry, and leaves nothing of the old ones on their pages.
pub(crate) fn rewrite(store: &mut SqliteTx<'_>, seq: Seq, changes: &[KeptChange]) -> Result<(), StoreError> {
    let kept = changes.iter().map(|kept| NumberedChange { number: kept.number, change: &kept.change });
    let kept: Vec<NumberedChange<'_>> = kept.collect();
    let kept = serde_json::to_string(&kept).map_err(|error| StoreError::Failed(Box::new(error)))?;
    store.after.empties_wal = true;
    store.change(|tx| {
        tx.pragma_update(None, "secure_delete", true)?;
        tx.execute("UPDATE journal SET changes = ?2 WHERE seq = ?1", params![seq, kept]).map(drop)
    })
}

/// Reads the entries for which `condition` holds, oldest first.
pub(crate) fn matching(
    store: &SqliteTx<'_>,
    condition: &str,
    by: i64,
    limit: i64,
) -> Result<Vec<Entry>, StoreError> {
    matching_part(store, condition, by, limit, |changes| Some(changes.into()))
}

/// Like [`matching`], but reads of each entry only the part of its changes' text that `part` returns, and
/// skips the entry if there is none. The rest of the text is parsed only if the part cannot be.
pub(crate) fn matching_part(
    store: &SqliteTx<'_>,
    condition: &str,
    by: i64,
    limit: i64,
    part: impl for<'t> Fn(&'t str) -> Option<Cow<'t, str>>,
) -> Result<Vec<Entry>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM journal WHERE {condition} ORDER BY seq LIMIT ?2");
    let raw: Vec<Raw> = store.ask(|tx| {
        let mut statement = tx.prepare_cached(&sql)?;
        let mut rows = statement.query([by, limit])?;
        let mut raw = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(part) = part(row.get_ref(CHANGES)?.as_str()?) else { continue };
            let is_whole = matches!(part, Cow::Borrowed(_));
            let mut one = Raw { changes: part.into_owned(), ..Raw::without_changes(row)? };
            if !is_whole && one.changes().is_err() {
                one.changes = row.get(CHANGES)?;
            }
            raw.push(one);
        }
        Ok(raw)
    })?;
    Ok(raw.into_iter().map(Raw::show).collect())
}

impl SqliteTx<'_> {
    /// Refuses to change a subject that a newer consort has changed in a way that we do not understand.
    fn require_understood(&self, changes: &[Change]) -> Result<(), StoreError> {
        for about in changes.iter().flat_map(Change::about) {
            if let Some(seq) = self.ask(|tx| facts::get(tx, "newer", &about, ""))? {
                return Err(StoreError::NotUnderstood { about, seq: seq.parse().unwrap_or(0) });
            }
        }
        Ok(())
    }

    /// Gives every change of an entry the next number of its kind.
    fn number(&self, entry: &NewEntry) -> Result<Vec<Option<Number>>, StoreError> {
        let number = |change: &Change| {
            let Some(counter) = change.counter(entry.project.as_ref()) else { return Ok(None) };
            let project = counter.project.as_ref().map_or("", |project| project.as_str());
            let number = self.next_number(&counter)?;
            self.change(|tx| facts::put(tx, "number", counter.kind, project, &number.to_string()))?;
            Ok(Some(number))
        };
        entry.changes.iter().map(number).collect()
    }
}

fn change_id(entry: EntryId, place: usize) -> ChangeId {
    ChangeId { entry, place: u16::try_from(place).unwrap_or(u16::MAX) }
}

/// Drops changes of one entry, and the entry if no other change is in it. Returns how many entries were
/// dropped.
fn drop_from(tx: &Connection, seq: Seq, places: impl Iterator<Item = usize>) -> rusqlite::Result<usize> {
    let sql = "SELECT changes FROM journal WHERE seq = ?1";
    let read = |row: &rusqlite::Row<'_>| parse::<Vec<serde_json::Value>>(row.get_ref(0)?.as_str()?, 0);
    let Some(mut changes) = tx.prepare_cached(sql)?.query_row([seq], read).optional()? else { return Ok(0) };
    for place in places.filter(|place| *place < changes.len()).collect::<Vec<_>>() {
        changes[place] = serde_json::Value::Null;
    }
    if changes.iter().all(serde_json::Value::is_null) {
        return tx.prepare_cached("DELETE FROM journal WHERE seq = ?1")?.execute([seq]);
    }
    tx.prepare_cached("UPDATE journal SET changes = ?2 WHERE seq = ?1")?
        .execute(params![seq, json(&changes)?])?;
    Ok(0)
}

/// The sequence number of a change's entry, and the change's index in the entry.
type ChangePosition = (Seq, usize);

/// Returns the changes that nothing depends on. A change is kept together with all others of its story:
/// half of a story would replay as another one.
fn droppable(
    tx: &Connection,
    mut candidates: Vec<(ChangePosition, Keep)>,
) -> rusqlite::Result<Vec<ChangePosition>> {
    let mut kept: HashSet<Subject> = HashSet::new();
    for (_, keep) in &candidates {
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
    candidates.retain(|(_, keep)| match keep {
        Keep::Never => true,
        Keep::Story(subject) => !kept.contains(subject),
        Keep::WhileAny(subjects) => !subjects.iter().any(|subject| kept.contains(subject)),
        Keep::Always => false,
    });
    Ok(candidates.into_iter().map(|(place, _)| place).collect())
}

/// Applies every entry of `journal` to the tables of `target`, in order.
pub(crate) fn replay(
    journal: &Connection,
    target: &Connection,
    failed: impl Fn(rusqlite::Error) -> StoreError,
) -> Result<usize, StoreError> {
    let mut count = 0;
    for_each(journal, Seq::MAX, &failed, |entry| {
        count += 1;
        apply_entry(target, &entry?).map_err(&failed)
    })?;
    Ok(count)
}

/// Makes the projections again from all entries that can be read.
pub(crate) fn remake_projections(connection: &Connection) -> rusqlite::Result<()> {
    clear_projections(connection)?;
    let sql = format!("SELECT {COLUMNS} FROM journal ORDER BY seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Ok(entry) = Raw::read(row)?.parse() {
            apply_entry(connection, &entry)?;
        }
    }
    Ok(())
}

fn clear_projections(connection: &Connection) -> rusqlite::Result<()> {
    PROJECTIONS.iter().try_for_each(|projection| {
        connection.execute(&format!("DELETE FROM {}", projection.rows), []).map(drop)
    })
}

fn apply_entry(target: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let Entry { seq, at, id, project, changes, .. } = entry;
    changes.iter().enumerate().try_for_each(|(place, KeptChange { number, change })| {
        let (id, project) = (change_id(*id, place), project.as_ref());
        let origin = ChangeOrigin { seq: *seq, at: *at, project, id, number: *number };
        apply::apply(target, &origin, change)
    })
}

/// Visits every entry up to `through`, without holding all of them in memory.
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

/// The index of the changes among the columns.
const CHANGES: usize = 5;

struct Raw {
    seq: Seq,
    id: [u8; 16],
    at: i64,
    project: Option<String>,
    actor: String,
    changes: String,
    format: u32,
}

impl Raw {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { changes: row.get(CHANGES)?, ..Self::without_changes(row)? })
    }

    fn without_changes(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            id: row.get(1)?,
            at: row.get(2)?,
            project: row.get(3)?,
            actor: row.get(4)?,
            changes: String::new(),
            format: row.get(6)?,
        })
    }

    /// Parses an entry for a caller that must understand it.
    fn parse(self) -> Result<Entry, StoreError> {
        match self.changes() {
            Ok(changes) => Ok(self.with(changes)),
            Err(source) => Err(StoreError::Entry { seq: self.seq, source }),
        }
    }

    /// Parses an entry for display: one that cannot be understood is shown as it is, and stops none of
    /// the others.
    fn show(self) -> Entry {
        let changes = self.changes().unwrap_or_else(|_| {
            let change = Change::Unknown(UnknownChange::read(self.changes.clone().into()));
            vec![KeptChange { number: None, change }]
        });
        self.with(changes)
    }

    /// Parses the changes. Changes in a newer format stay unknown, even if they look familiar.
    fn changes(&self) -> serde_json::Result<Vec<KeptChange>> {
        if self.format <= FORMAT {
            return serde_json::from_str(&self.changes);
        }
        let changes: Vec<serde_json::Value> = serde_json::from_str(&self.changes)?;
        let unknown =
            |value| KeptChange { number: None, change: Change::Unknown(UnknownChange::read(value)) };
        Ok(changes.into_iter().map(unknown).collect())
    }

    fn with(self, changes: Vec<KeptChange>) -> Entry {
        let Ok(actor) = Actor::from_str(&self.actor);
        let (id, at, project) = (EntryId(self.id), Timestamp(self.at), self.project.map(Into::into));
        Entry { seq: self.seq, id, format: self.format, at, project, actor, changes }
    }
}
