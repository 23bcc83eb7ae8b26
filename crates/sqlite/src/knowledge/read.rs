//! SQL that reads the knowledge index: lookup and links.

use consort_core::journal::EntryId;
use consort_core::journal::Seq;
use consort_core::knowledge::Kind;
use consort_core::knowledge::Known;
use consort_core::knowledge::Scope;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::params;

use super::block;
use crate::apply::parse;

pub(super) fn last(connection: &Connection) -> rusqlite::Result<(Seq, Option<(Seq, EntryId)>)> {
    // In one statement: others write between two statements, and the sequence number from one would not
    // fit the id from the other.
    let of = |key: &str| format!("(SELECT value FROM meta WHERE key = '{key}')");
    let sql = format!("SELECT {}, {}, {}", of("through"), of("seq"), of("id"));
    connection.prepare_cached(&sql)?.query_row([], |row| {
        let through: Option<Seq> = row.get(0)?;
        let (seq, id): (Option<Seq>, Option<[u8; 16]>) = (row.get(1)?, row.get(2)?);
        Ok((through.unwrap_or(0), seq.zip(id.map(EntryId))))
    })
}

fn read(connection: &Connection, row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<(Scope, Known)>> {
    let scope: String = row.get(0)?;
    let scope = if scope.is_empty() { Scope::Global } else { Scope::Project(scope.into()) };
    let Some(kind) = Kind::named(row.get_ref(1)?.as_str()?) else { return Ok(None) };
    let ids = parse(row.get_ref(3)?.as_str()?, 3)?;
    let known = block::find(connection, &scope, kind, row.get_ref(2)?.as_str()?, |row| row.decode())?;
    Ok(known.map(|known| (scope, Known { ids, ..known })))
}

const COLUMNS: &str = "known.scope, known.kind, known.name, known.ids";

pub(super) fn known(
    connection: &Connection,
    scope: &Scope,
    kind: Kind,
    name: &str,
) -> rusqlite::Result<Option<Known>> {
    let sql = format!("SELECT {COLUMNS} FROM known WHERE scope = ?1 AND kind = ?2 AND name = ?3");
    let mut statement = connection.prepare_cached(&sql)?;
    let by = params![scope.as_str(), kind.as_str(), name];
    let found = statement.query_row(by, |row| read(connection, row)).optional()?;
    Ok(found.flatten().map(|(_, known)| known))
}

/// Finds a record by its number in the full-text index.
pub(super) fn numbered(connection: &Connection, number: i64) -> rusqlite::Result<Option<(Scope, Known)>> {
    let sql = format!("SELECT {COLUMNS} FROM known WHERE number = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([number], |row| read(connection, row)).optional()?.flatten())
}

pub(super) fn links(connection: &Connection, scope: &Scope, name: &str) -> rusqlite::Result<Vec<Known>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM ends JOIN known
         ON known.scope = ends.scope AND known.kind = 'relationship' AND known.name = ends.link
         WHERE ends.scope = ?1 AND ends.name = ?2 ORDER BY ends.link"
    );
    several(connection, &sql, params![scope.as_str(), name])
}

/// Returns the lines of the principles and decisions with the greatest weights, both kinds together.
pub(super) fn most_important(
    connection: &Connection,
    scope: &Scope,
    limit: usize,
) -> rusqlite::Result<Vec<String>> {
    let one = |kind: &str| {
        format!(
            "SELECT * FROM (SELECT line, weight FROM known
             WHERE scope = ?1 AND kind = '{kind}' AND weight IS NOT NULL ORDER BY weight DESC, line LIMIT ?2)"
        )
    };
    let sql = format!("{} UNION ALL {} ORDER BY weight DESC LIMIT ?2", one("principle"), one("decision"));
    let mut statement = connection.prepare_cached(&sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement.query_map(params![scope.as_str(), limit], |row| row.get(0))?.collect()
}

pub(super) fn about_file(connection: &Connection, scope: &Scope, path: &str) -> rusqlite::Result<Vec<Known>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM known WHERE scope = ?1 AND kind = 'file' AND name = ?2
         UNION ALL
         SELECT {COLUMNS} FROM leans JOIN known
         ON known.scope = leans.scope AND known.kind = leans.kind AND known.name = leans.name
         WHERE leans.scope = ?1 AND leans.path = ?2"
    );
    several(connection, &sql, params![scope.as_str(), path])
}

fn several(connection: &Connection, sql: &str, by: impl rusqlite::Params) -> rusqlite::Result<Vec<Known>> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_map(by, |row| read(connection, row))?;
    let found = found.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(found.into_iter().flatten().map(|(_, known)| known).collect())
}
