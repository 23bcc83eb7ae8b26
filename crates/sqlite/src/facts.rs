//! The table of all that needs none of its own: facts of many kinds, each with a key, an owner and a value.
//! The rooms share these statements, because to compile one takes longer than to run it.

use std::ops::ControlFlow;
use std::ops::ControlFlow::Continue;

use memchr::memmem::Finder;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Row;
use rusqlite::ToSql;
use rusqlite::params;
use rusqlite::types::ToSqlOutput;
use rusqlite::types::ValueRef;
use serde::de::DeserializeOwned;

use crate::apply::parse;

/// The query for facts of a kind, in the order of their keys and owners.
const SELECT: &str = "SELECT key, owner, value FROM facts
                      WHERE kind = ?1 AND key BETWEEN ?2 AND ?3 ORDER BY key, owner";

/// The query for one value. A command that changes something asks for nothing else, as a rule, and this
/// takes less time to compile than [`SELECT`].
const SELECT_ONE: &str = "SELECT value FROM facts WHERE kind = ?1 AND key = ?2 AND owner = ?3";

const KEY: usize = 0;
const OWNER: usize = 1;
const VALUE: usize = 2;

/// A row of the table.
pub(crate) struct Fact<'a>(&'a Row<'a>);

impl<'a> Fact<'a> {
    pub(crate) fn key(&self) -> rusqlite::Result<&'a str> {
        Ok(self.0.get_ref(KEY)?.as_str()?)
    }

    pub(crate) fn owner(&self) -> rusqlite::Result<&'a str> {
        Ok(self.0.get_ref(OWNER)?.as_str()?)
    }

    pub(crate) fn value(&self) -> rusqlite::Result<&'a str> {
        Ok(self.0.get_ref(VALUE)?.as_str()?)
    }

    /// Tells whether the value contains a text, without the check that it is UTF-8.
    pub(crate) fn contains(&self, text: &Finder<'_>) -> rusqlite::Result<bool> {
        Ok(text.find(self.0.get_ref(VALUE)?.as_bytes()?).is_some())
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self) -> rusqlite::Result<T> {
        parse(self.value()?, VALUE)
    }
}

/// The keys of the facts that are asked for.
#[derive(Clone, Copy)]
pub(crate) enum Keys<'a> {
    All,
    /// This key. Its facts differ in their owners.
    Is(&'a str),
    BeginsWith(&'a str),
}

/// The last key of a range, which need not be UTF-8.
struct LastKey(Vec<u8>);

impl ToSql for LastKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// Visits facts in the order of their keys and owners, until `visit` breaks.
pub(crate) fn visit_until(
    connection: &Connection,
    kind: &str,
    keys: Keys<'_>,
    mut visit: impl FnMut(Fact<'_>) -> rusqlite::Result<ControlFlow<()>>,
) -> rusqlite::Result<()> {
    // No text has this byte: the key comes after all keys that begin so.
    const AFTER: &[u8] = &[0xff];
    let (first, last) = match keys {
        Keys::All => ("", AFTER.to_vec()),
        Keys::Is(key) => (key, key.into()),
        Keys::BeginsWith(start) => (start, [start.as_bytes(), AFTER].concat()),
    };
    let mut statement = connection.prepare_cached(SELECT)?;
    let mut rows = statement.query(params![kind, first, LastKey(last)])?;
    while let Some(row) = rows.next()? {
        if visit(Fact(row))?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Visits facts in the order of their keys and owners.
pub(crate) fn each(
    connection: &Connection,
    kind: &str,
    keys: Keys<'_>,
    mut visit: impl FnMut(Fact<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    visit_until(connection, kind, keys, |fact| visit(fact).map(Continue))
}

/// Lists what `read` makes of facts, in the order of their keys and owners.
pub(crate) fn list<T>(
    connection: &Connection,
    kind: &str,
    keys: Keys<'_>,
    mut read: impl FnMut(&Fact<'_>) -> rusqlite::Result<Option<T>>,
) -> rusqlite::Result<Vec<T>> {
    let mut list = Vec::new();
    each(connection, kind, keys, |fact| {
        list.extend(read(&fact)?);
        Ok(())
    })?;
    Ok(list)
}

/// Parses the values of facts, in the order of their keys and owners.
pub(crate) fn parsed<T: DeserializeOwned>(
    connection: &Connection,
    kind: &str,
    keys: Keys<'_>,
) -> rusqlite::Result<Vec<T>> {
    list(connection, kind, keys, |fact| fact.parse().map(Some))
}

/// Returns the value of a fact.
pub(crate) fn get(
    connection: &Connection,
    kind: &str,
    key: &str,
    owner: &str,
) -> rusqlite::Result<Option<String>> {
    connection.prepare_cached(SELECT_ONE)?.query_row([kind, key, owner], |row| row.get(0)).optional()
}

/// Sets the value of a fact, which may be new.
pub(crate) fn put(
    connection: &Connection,
    kind: &str,
    key: &str,
    owner: &str,
    value: &str,
) -> rusqlite::Result<()> {
    let sql = "REPLACE INTO facts VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute([kind, key, owner, value]).map(drop)
}

/// Sets the one fact with this key: those of other owners are removed.
pub(crate) fn put_only(
    connection: &Connection,
    kind: &str,
    key: &str,
    owner: &str,
    value: &str,
) -> rusqlite::Result<()> {
    remove_key(connection, kind, key)?;
    put(connection, kind, key, owner, value)
}

pub(crate) fn remove(connection: &Connection, kind: &str, key: &str, owner: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM facts WHERE kind = ?1 AND key = ?2 AND owner = ?3";
    connection.prepare_cached(sql)?.execute([kind, key, owner]).map(drop)
}

/// Removes the facts with this key, of all owners.
pub(crate) fn remove_key(connection: &Connection, kind: &str, key: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM facts WHERE kind = ?1 AND key = ?2";
    connection.prepare_cached(sql)?.execute([kind, key]).map(drop)
}

/// Has SQLite open its WAL and read the schema before this process gets the write lock, so that nobody
/// waits for it. The compiled statement is kept for later, and an error shows when it runs.
pub(crate) fn prepare(connection: &Connection) {
    let _ = connection.prepare_cached(SELECT_ONE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_any_key() {
        let connection = Connection::open_in_memory().unwrap();
        let table = "CREATE TABLE facts (kind TEXT, key TEXT, owner TEXT, value TEXT,
                     PRIMARY KEY (kind, key, owner)) WITHOUT ROWID";
        connection.execute_batch(table).unwrap();
        let keys = ["", "a", "a\t", "a\u{10ffff}\u{10ffff}b", "a\0b", "aé", "b", "\u{10ffff}"];
        for (owner, key) in ["one", "other"].into_iter().flat_map(|owner| keys.map(|key| (owner, key))) {
            put(&connection, "kind", key, owner, &format!("{owner}'s {key}")).unwrap();
        }
        put(&connection, "another kind", "a", "one", "").unwrap();
        let found = |keys| {
            let key = |fact: &Fact<'_>| Ok((fact.owner()? == "one").then_some(fact.key()?.to_owned()));
            list(&connection, "kind", keys, key).unwrap()
        };
        let mut sorted = keys;
        sorted.sort();
        assert_eq!(found(Keys::All), sorted);
        for key in keys {
            assert_eq!(found(Keys::Is(key)), [key]);
            let beginning: Vec<&str> = sorted.into_iter().filter(|other| other.starts_with(key)).collect();
            assert_eq!(found(Keys::BeginsWith(key)), beginning);
            let value = get(&connection, "kind", key, "other").unwrap();
            assert_eq!(value, Some(format!("other's {key}")));
        }
        assert_eq!(get(&connection, "kind", "a", "nobody").unwrap(), None);
        put_only(&connection, "kind", "a", "other", "new").unwrap();
        assert_eq!(get(&connection, "kind", "a", "one").unwrap(), None);
        assert_eq!(get(&connection, "kind", "a", "other").unwrap().as_deref(), Some("new"));
        remove(&connection, "kind", "b", "one").unwrap();
        assert_eq!(get(&connection, "kind", "b", "other").unwrap().as_deref(), Some("other's b"));
    }
}
