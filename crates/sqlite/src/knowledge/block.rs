//! SQL of the knowledge index's blocks: a dozen records of a kind in the order of their
//! names, so that a query that looks at all of them costs little more than one row
//! would.
//!
//! **A name is in the last block whose first name does not come after it.**

use consort_core::knowledge::Kind;
use consort_core::knowledge::Row;
use consort_core::knowledge::Scope;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::params;

/// Bytes from which a block is divided. SQLite spreads a value over several pages if it is longer than a
/// quarter of a page of 16 KiB.
const FULL: usize = 3600;

const LENGTH: usize = size_of::<u32>();

/// A name, and its row.
type NamedRow<'a> = (&'a [u8], &'a [u8]);

const WHERE: &str = "FROM blocks WHERE scope = ?1 AND kind = ?2 AND first <= ?3 ORDER BY first DESC LIMIT 1";

pub(super) fn each(
    connection: &Connection,
    scope: &Scope,
    kind: Kind,
    visit: &mut dyn FnMut(Row<'_>),
) -> rusqlite::Result<()> {
    let sql = "SELECT rows FROM blocks WHERE scope = ?1 AND kind = ?2 ORDER BY first";
    let mut statement = connection.prepare_cached(sql)?;
    let mut blocks = statement.query(params![scope.as_str(), kind.as_str()])?;
    while let Some(block) = blocks.next()? {
        for (_, row) in parts(block.get_ref(0)?.as_blob()?) {
            visit(Row::new(kind, row));
        }
    }
    Ok(())
}

/// Finds the row of a name, and returns what `read` makes of it.
pub(super) fn find<T>(
    connection: &Connection,
    scope: &Scope,
    kind: Kind,
    name: &str,
    read: impl FnOnce(Row<'_>) -> T,
) -> rusqlite::Result<Option<T>> {
    let mut statement = connection.prepare_cached(&format!("SELECT rows {WHERE}"))?;
    let mut blocks = statement.query(params![scope.as_str(), kind.as_str(), name])?;
    let Some(block) = blocks.next()? else { return Ok(None) };
    let mut parts = parts(block.get_ref(0)?.as_blob()?);
    Ok(parts.find(|(known, _)| *known == name.as_bytes()).map(|(_, row)| read(Row::new(kind, row))))
}

/// Inserts, replaces or removes the row of a name.
pub(super) fn put(
    tx: &Connection,
    scope: &Scope,
    kind: Kind,
    name: &str,
    row: Option<&[u8]>,
) -> rusqlite::Result<()> {
    let block = tx
        .prepare_cached(&format!("SELECT first, rows {WHERE}"))?
        .query_row(params![scope.as_str(), kind.as_str(), name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (first, rows): (String, Vec<u8>) = block.unwrap_or_default();
    let mut parts: Vec<NamedRow<'_>> = parts(&rows).collect();
    let place = parts.binary_search_by(|(known, _)| (*known).cmp(name.as_bytes()));
    match (place, row) {
        (Ok(at), Some(row)) => parts[at].1 = row,
        (Err(at), Some(row)) => parts.insert(at, (name.as_bytes(), row)),
        (Ok(at), None) => drop(parts.remove(at)),
        (Err(_), None) => return Ok(()),
    }
    let (left, right) = parts.split_at(division(&parts, place.is_err_and(|at| at + 1 == parts.len())));
    let write = |first: &str, parts: &[NamedRow<'_>]| {
        tx.prepare_cached("REPLACE INTO blocks VALUES (?1, ?2, ?3, ?4)")?.execute(params![
            scope.as_str(),
            kind.as_str(),
            first,
            joined(parts)
        ])
    };
    if let Some((second, _)) = right.first() {
        write(&String::from_utf8_lossy(second), right)?;
    }
    if left.is_empty() {
        tx.prepare_cached("DELETE FROM blocks WHERE scope = ?1 AND kind = ?2 AND first = ?3")?
            .execute(params![scope.as_str(), kind.as_str(), first])?;
    } else {
        write(&first, left)?;
    }
    Ok(())
}

/// Returns how many rows stay in a block. If names come in order, only the last one leaves, so that the
/// blocks behind are full.
fn division(parts: &[NamedRow<'_>], comes_last: bool) -> usize {
    let length = |(name, row): &NamedRow<'_>| 2 * LENGTH + name.len() + row.len();
    let all: usize = parts.iter().map(length).sum();
    if all <= FULL || parts.len() < 2 {
        return parts.len();
    }
    if comes_last {
        return parts.len() - 1;
    }
    let mut before = 0;
    let half = parts.iter().take_while(|part| {
        before += length(part);
        before <= all / 2
    });
    half.count().max(1)
}

fn joined(parts: &[NamedRow<'_>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FULL);
    for (name, row) in parts {
        bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&(row.len() as u32).to_le_bytes());
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(row);
    }
    bytes
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = NamedRow<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (name, after) = rest.split_first_chunk::<LENGTH>()?;
        let (row, after) = after.split_first_chunk::<LENGTH>()?;
        let (name, after) = after.split_at_checked(u32::from_le_bytes(*name) as usize)?;
        let (row, after) = after.split_at_checked(u32::from_le_bytes(*row) as usize)?;
        rest = after;
        Some((name, row))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use consort_core::text::stable_hash;

    use super::*;

    /// Whatever is put and removed, in whatever order: all rows are there, in order.
    #[test]
    fn blocks_hold_what_was_put_into_them() {
        let index = super::super::open(super::super::MEMORY.as_ref()).unwrap();
        let mut expected = BTreeMap::new();
        for step in 0..4000_u32 {
            let chance = stable_hash(&step.to_le_bytes());
            let name = match step % 3 {
                // Names that come in order, anywhere, and before all others.
                0 => format!("m{step:05}"),
                1 => format!("{:x}", chance % 700),
                _ => format!("0{:05}", 4000 - step),
            };
            let row = vec![step as u8; (chance >> 20) as usize % 900 + usize::from(step % 97 == 0) * 9000];
            let row = (!chance.is_multiple_of(5)).then_some(row);
            put(&index, &Scope::Global, Kind::Pattern, &name, row.as_deref()).unwrap();
            match row {
                Some(row) => drop(expected.insert(name, row)),
                None => drop(expected.remove(&name)),
            }
        }
        let mut found = Vec::new();
        each(&index, &Scope::Global, Kind::Pattern, &mut |row| found.push(row.bytes().to_vec())).unwrap();
        assert_eq!(found, expected.values().cloned().collect::<Vec<_>>());
        for (name, row) in &expected {
            let found =
                find(&index, &Scope::Global, Kind::Pattern, name, |row| row.bytes().to_vec()).unwrap();
            assert_eq!(found.as_ref(), Some(row));
        }
        assert_eq!(find(&index, &Scope::Global, Kind::Pattern, "nowhere", |_| ()).unwrap(), None);
        assert_eq!(find(&index, &Scope::Global, Kind::Principle, "0", |_| ()).unwrap(), None);
        let sql = "SELECT count(*) FROM blocks";
        let blocks: u32 = index.query_row(sql, [], |row| row.get(0)).unwrap();
        let bytes: usize = expected.values().map(Vec::len).sum();
        assert!((blocks as usize) < 4 * bytes / FULL, "{blocks} for {bytes} bytes");
        for name in expected.keys() {
            put(&index, &Scope::Global, Kind::Pattern, name, None).unwrap();
        }
        assert_eq!(index.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
    }
}
