//! SQL of the knowledge room: its entries in the journal, and the index made from them
//! in a database of its own.
//!
//! **The index is never the truth.** An index that is missing, damaged, of another version or of another
//! store is made again from the journal.

mod block;
mod cut_text;
mod read;
mod search;
mod write;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::journal::Entry;
use consort_core::journal::EntryId;
use consort_core::journal::KeptChange;
use consort_core::journal::Seq;
use consort_core::knowledge::ChangedScopes;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeIndex;
use consort_core::knowledge::KnowledgeStore;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_core::knowledge::Scope;
use rusqlite::Connection;
use rusqlite::ErrorCode;
use rusqlite::OptionalExtension as _;
use rusqlite::config::DbConfig;
use rusqlite::params;
use serde_json::json;

use crate::SqliteTx;
use crate::StoreLocation;
use crate::facts;
use crate::journal;

/// The format of the index; an index of another format is made again.
pub(crate) const VERSION: u32 = 13;

const MEMORY: &str = ":memory:";

/// Bytes of a page: queries look at everything of a kind, and a block is to fit into a quarter.
const PAGE: u32 = 16 << 10;

/// Most bytes of the index's WAL, all of which the only process that has the index open reads first. A
/// lower limit makes a batch of ten take half as long again.
const LONGEST_WAL: u64 = 512 << 10;

/// Longest wait for another process that takes entries in.
const PATIENCE: Duration = Duration::from_secs(10);

impl KnowledgeStore for SqliteTx<'_> {
    fn knowledge_after(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // The change may be anywhere in its entry. The caller skips entries that merely contain this
        // text.
        journal::matching(self, "seq > ?1 AND instr(changes, '\"room\":\"knowledge\"') > 0", after, limit)
    }

    fn knowledge_said_after(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError> {
        let condition = "at > ?1 AND instr(changes, '\"room\":\"knowledge\"') > 0";
        journal::matching(self, condition, at.0, -1)
    }

    fn knowledge_said_until(&self, at: Timestamp) -> Result<Vec<Entry>, StoreError> {
        let condition = "at <= ?1 AND instr(changes, '\"room\":\"knowledge\"') > 0";
        journal::matching(self, condition, at.0, -1)
    }

    fn is_mostly_after(&self, at: Timestamp) -> Result<bool, StoreError> {
        // SQLite knows the lengths without reading the texts.
        let sql = "SELECT sum(iif(at > ?1, 1, -1) * octet_length(changes)) > 0 FROM journal";
        self.ask(|tx| tx.prepare_cached(sql)?.query_row([at.0], |row| row.get::<_, Option<bool>>(0)))
            .map(|is_more| is_more.unwrap_or(false))
    }

    fn knowledge_about(&self, ids: &BTreeSet<String>, until: Timestamp) -> Result<Vec<Entry>, StoreError> {
        // The ids as they are in the text of an entry, between quotes.
        let quoted = |id: &String| Some(serde_json::to_string(id).ok()?.trim_matches('"').to_owned());
        let ids: HashSet<String> = ids.iter().filter_map(quoted).collect();
        let condition = "at <= ?1 AND instr(changes, '\"room\":\"knowledge\"') > 0";
        journal::matching_part(self, condition, until.0, -1, |changes| cut_text::about(changes, &ids))
    }

    fn rewrite_entry(&mut self, seq: Seq, changes: &[KeptChange]) -> Result<(), StoreError> {
        journal::rewrite(self, seq, changes)
    }

    fn replica(&mut self, host: &str, fresh: u64) -> Result<u64, StoreError> {
        let found = self.ask(|tx| facts::get(tx, "setting", "replica", ":consort"))?;
        let found = found.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        let name = found.filter(|found| found["host"] == host).and_then(|found| found["name"].as_u64());
        if let Some(name) = name {
            return Ok(name);
        }
        let value = json!({ "host": host, "name": fresh }).to_string();
        self.change(|tx| facts::put(tx, "setting", "replica", ":consort", &value))?;
        Ok(fresh)
    }
}

/// The index, opened when it is first asked for.
pub struct Knowledge {
    place: StoreLocation,
    connection: OnceCell<Connection>,
}

impl Knowledge {
    pub(crate) fn beside(store: &Path) -> Self {
        let place =
            StoreLocation { path: store.with_file_name(format!("knowledge-{VERSION}.db")), budget: PATIENCE };
        Self { place, connection: OnceCell::new() }
    }

    pub(crate) fn in_memory() -> Self {
        Self { place: StoreLocation { path: MEMORY.into(), budget: PATIENCE }, connection: OnceCell::new() }
    }

    fn connection(&self) -> Result<&Connection, StoreError> {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let opened = open(&self.place.path).map_err(|error| self.failed(error))?;
        Ok(self.connection.get_or_init(|| opened))
    }

    fn shorten_wal(&self) {
        let wal = fs::metadata(beside(&self.place.path, "-wal"));
        if wal.is_ok_and(|wal| wal.len() > LONGEST_WAL) {
            // Others may be reading: then a later process does it.
            let _ = self.ask(|connection| {
                connection.busy_timeout(Duration::ZERO)?;
                let shortened = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
                connection.busy_timeout(PATIENCE)?;
                shortened
            });
        }
    }

    fn ask<T>(&self, ask: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        ask(self.connection()?).map_err(|error| self.failed(error))
    }

    /// Translates an error. An index that turns out to be damaged is removed: the next process that asks
    /// makes it again from the journal.
    fn failed(&self, error: rusqlite::Error) -> StoreError {
        match self.place.translate(error) {
            StoreError::Damaged { path, source } => {
                remove(&path);
                StoreError::IndexDamaged { path, source }
            }
            error => error,
        }
    }
}

/// Opens the index. An index that is missing or bad is made again, by one process at a time; one that is
/// merely busy is an error, not bad.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    if path.as_os_str() == MEMORY {
        let connection = connect(path)?;
        connection.pragma_update(None, "page_size", PAGE)?;
        make(&connection)?;
        return Ok(connection);
    }
    if let IndexState::Good(connection) = stand(path)? {
        return Ok(connection);
    }
    let _lock = lock(path);
    match stand(path)? {
        IndexState::Good(connection) => return Ok(connection),
        IndexState::Empty => {}
        IndexState::Bad => unlink(path),
    }
    // Private from the start; if something is in the way, SQLite's error says it better.
    let _ = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    let connection = connect(path)?;
    connection.pragma_update(None, "page_size", PAGE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    make(&connection)?;
    Ok(connection)
}

/// The state of the index on disk.
enum IndexState {
    Good(Connection),
    Empty,
    /// An index of another version, or no index at all.
    Bad,
}

fn stand(path: &Path) -> rusqlite::Result<IndexState> {
    if !path.exists() {
        return Ok(IndexState::Empty);
    }
    let asked =
        connect(path).and_then(|connection| version(&connection).map(|version| (version, connection)));
    match asked {
        Ok((VERSION, connection)) => Ok(IndexState::Good(connection)),
        Ok((0, _)) => Ok(IndexState::Empty),
        Ok(_) => Ok(IndexState::Bad),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Ok(IndexState::Bad),
            _ => Err(error),
        },
    }
}

fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(include_str!("schema.sql"))?;
    connection.pragma_update(None, "user_version", VERSION)?;
    connection.execute_batch("COMMIT")
}

#[expect(clippy::disallowed_methods, reason = "the index is not the store, and has its own way in")]
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    // Otherwise the last connection to close would run the checkpoint.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement that uses an index of only some rows would be compiled again for every value
    // it is given.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Excludes other processes that make or remove the index, until the file is dropped or the process ends.
fn lock(path: &Path) -> Option<fs::File> {
    let lock = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path.with_extension("lock"));
    lock.and_then(|lock| lock.lock().map(|()| lock)).ok()
}

fn remove(path: &Path) {
    let _lock = lock(path);
    unlink(path);
}

/// Removes the index with its WAL, under the lock: a new index would otherwise take in the old WAL.
fn unlink(path: &Path) {
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(beside(path, end));
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(end);
    file.into()
}

impl KnowledgeIndex for Knowledge {
    fn last(&self) -> Result<(Seq, Option<(Seq, EntryId)>), StoreError> {
        self.ask(read::last)
    }

    fn ingest(&mut self, entries: &[Entry], through: Seq) -> Result<ChangedScopes, StoreError> {
        let renewed = self.ask(|connection| write::ingest(connection, entries, through))?;
        self.shorten_wal();
        Ok(renewed)
    }

    fn tidy(&mut self) {
        // If another process uses the index, it stays as it is.
        let _ = self.ask(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            let tidied = connection.execute_batch("VACUUM");
            connection.busy_timeout(PATIENCE)?;
            tidied
        });
        self.shorten_wal();
    }

    fn forget(&mut self) -> Result<(), StoreError> {
        self.connection.take();
        remove(&self.place.path);
        Ok(())
    }

    fn known(&self, scope: &Scope, kind: Kind, name: &str) -> Result<Option<Known>, StoreError> {
        self.ask(|connection| read::known(connection, scope, kind, name))
    }

    fn links(&self, scope: &Scope, name: &str) -> Result<Vec<Known>, StoreError> {
        self.ask(|connection| read::links(connection, scope, name))
    }

    fn names(&self, scope: &Scope, kind: Kind) -> Result<Vec<String>, StoreError> {
        self.ask(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT name FROM known WHERE scope = ?1 AND kind = ?2")?;
            statement.query_map(params![scope.as_str(), kind.as_str()], |row| row.get(0))?.collect()
        })
    }

    fn each(&self, scope: &Scope, kind: Kind, visit: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
        self.ask(|connection| block::each(connection, scope, kind, visit))
    }

    fn most_important(&self, scope: &Scope, limit: usize) -> Result<Vec<String>, StoreError> {
        self.ask(|connection| read::most_important(connection, scope, limit))
    }

    fn fresh_files(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        self.ask(|connection| {
            let sql = "SELECT name FROM known WHERE scope = ?1 AND kind = 'file' AND stale IS NULL";
            connection.prepare_cached(sql)?.query_map([scope.as_str()], |row| row.get(0))?.collect()
        })
    }

    fn search(
        &self,
        scope: Option<&Scope>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(Scope, Known)>, StoreError> {
        self.ask(|connection| search::search(connection, scope, words, limit))
    }

    fn recorded(&self, scope: &Scope, key: &str) -> Result<Option<Seq>, StoreError> {
        self.ask(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT seq FROM keys WHERE scope = ?1 AND key = ?2")?;
            statement.query_row(params![scope.as_str(), key], |row| row.get(0)).optional()
        })
    }

    fn about_file(&self, scope: &Scope, path: &str) -> Result<Vec<Known>, StoreError> {
        self.ask(|connection| read::about_file(connection, scope, path))
    }
}

#[cfg(test)]
mod tests {
    use consort_core::Timestamp;
    use consort_core::journal::Actor;
    use consort_core::journal::Change;
    use consort_core::journal::FORMAT;
    use consort_core::journal::KeptChange;
    use consort_core::knowledge::Edit;
    use consort_core::knowledge::EditChange;
    use consort_core::knowledge::KnowledgeChange;
    use consort_core::knowledge::Source;

    use super::*;

    fn entry(seq: Seq, edits: Vec<Edit>) -> Entry {
        let change = KnowledgeChange::Edited { writer: 1, by: Source::default(), edits, key: None, at: None };
        Entry {
            seq,
            id: EntryId([seq as u8; 16]),
            at: Timestamp(seq),
            project: None,
            actor: Actor::Person,
            format: FORMAT,
            changes: vec![KeptChange { number: None, change: Change::Knowledge(change) }],
        }
    }

    /// A process that read a sequence number and an id that do not fit each other would take the index
    /// for another store's, and remove the files that others have open.
    #[test]
    fn what_was_taken_in_last_is_read_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let beside = directory.path().join("consort.db");
        let mut writer = Knowledge::beside(&beside);
        writer.ingest(&[entry(1, Vec::new())], 1).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let reader = Knowledge::beside(&beside);
                loop {
                    let (through, newest) = reader.last().unwrap();
                    let fits = Some((through, EntryId([through as u8; 16])));
                    if newest != fits || through >= 1_000 {
                        return (newest, fits);
                    }
                }
            });
            for seq in 2..=1_000 {
                writer.ingest(&[entry(seq, Vec::new())], seq).unwrap();
            }
            let (newest, fits) = reader.join().unwrap();
            assert_eq!(newest, fits);
        });
    }

    /// Other replicas may give their entities any ids.
    #[test]
    fn an_entity_is_found_again_by_whatever_id_it_has() {
        let mut index = Knowledge::in_memory();
        let mut say = |seq: Seq, entity: &str, said: serde_json::Value| {
            let edit = |(field, value): (&String, &serde_json::Value)| Edit {
                entity: entity.into(),
                change: EditChange::Set { field: field.clone(), value: value.clone() },
            };
            let edits = said.as_object().unwrap().iter().map(edit).collect();
            index.ingest(&[entry(seq, edits)], seq).unwrap();
            index.known(&Scope::Global, Kind::Principle, "one").unwrap()
        };
        let named = json!({ "kind": "principle", "name": "one" });
        let one = say(1, "rule 1", json!({ "kind": "principle", "name": "one", "description": "first" }));
        assert_eq!(one.unwrap().ids, ["rule 1"]);
        let both = say(2, "\0", named).unwrap();
        assert_eq!((both.text("description"), both.ids.len()), ("first", 2));
        // An entity that is called something else now is no longer among the ids.
        let left = say(3, "rule 1", json!({ "name": "another" })).unwrap();
        assert_eq!((left.text("description"), left.ids.as_slice()), ("", ["\0".to_owned()].as_slice()));
        assert_eq!(say(4, "\0", json!({ "deleted": true })), None);
        // An entity that was taken back counts again when something is said of it.
        assert_eq!(say(5, "rule 1", json!({ "name": "one" })).unwrap().ids, ["rule 1"]);
        assert_eq!(say(6, "\0", json!({ "deleted": false })).unwrap().ids, ["\0", "rule 1"]);
        assert_eq!(index.names(&Scope::Global, Kind::Principle).unwrap(), ["one"]);
    }
}
