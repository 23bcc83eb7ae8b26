//! SQL that takes journal entries into the knowledge index.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_core::Timestamp;
use consort_core::journal::Change;
use consort_core::journal::Entry;
use consort_core::journal::Seq;
use consort_core::knowledge::ChangedScopes;
use consort_core::knowledge::ENDS;
use consort_core::knowledge::Edit;
use consort_core::knowledge::Entity;
use consort_core::knowledge::FieldType;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeChange;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_core::knowledge::Scope;
use consort_core::knowledge::Source;
use consort_core::knowledge::StampedEdit;
use consort_core::knowledge::digest_line;
use consort_core::knowledge::merge;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Transaction;
use rusqlite::TransactionBehavior;
use rusqlite::params;

use super::block;
use super::read;
use super::search;
use crate::apply::json;
use crate::apply::parse;

/// The kind and the name under which entities are read as one record.
type KindAndName = (Kind, String);

/// The entities that an entry edits, by their ids.
type Edited = BTreeMap<String, Entity>;

/// The ids of edited entities, by the names they have now.
type Called<'a> = BTreeMap<KindAndName, Vec<&'a String>>;

/// Takes in all entries, or none; entries that any process has taken in before are skipped.
pub(super) fn ingest(
    connection: &Connection,
    entries: &[Entry],
    through: Seq,
) -> rusqlite::Result<ChangedScopes> {
    let mut renewed = ChangedScopes::new();
    let tx = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let (last, _) = read::last(&tx)?;
    for entry in entries.iter().filter(|entry| entry.seq > last) {
        let scope = Scope::from(entry.project.clone());
        let (mut edited, mut touched) = (Edited::new(), BTreeSet::new());
        for change in &entry.changes {
            let Change::Knowledge(change) = &change.change else { continue };
            for stamped in change.stamped(entry.at) {
                edit(&tx, &scope, stamped, &mut edited, &mut touched)?;
            }
            if let KnowledgeChange::Edited { key: Some(key), .. } = change {
                tx.prepare_cached("REPLACE INTO keys VALUES (?1, ?2, ?3)")?.execute(params![
                    scope.as_str(),
                    key,
                    entry.seq
                ])?;
            }
        }
        follow_renames(&tx, &scope, &mut edited, &mut touched)?;
        let mut called = Called::new();
        for (id, entity) in &edited {
            if let Some(name) = name_of(&tx, &scope, &edited, entity)? {
                called.entry(name).or_default().push(id);
            }
        }
        for (id, entity) in &edited {
            put(&tx, &scope, id, entity)?;
        }
        touched.extend(called.keys().cloned());
        *renewed.entry(scope.clone()).or_default() |= touched.iter().any(|(kind, _)| *kind == Kind::File);
        let mut dependents = BTreeSet::new();
        for name in &touched {
            refresh(&tx, &scope, name, &edited, &called, &mut dependents)?;
        }
        // Also refreshes records that were refreshed before a file they lean on.
        for name in &dependents {
            refresh(&tx, &scope, name, &edited, &called, &mut BTreeSet::new())?;
        }
        let mut set = tx.prepare_cached("REPLACE INTO meta VALUES (?1, ?2)")?;
        set.execute(params!["seq", entry.seq])?;
        set.execute(params!["id", entry.id.0])?;
    }
    if through > last {
        tx.prepare_cached("REPLACE INTO meta VALUES ('through', ?1)")?.execute([through])?;
    }
    tx.commit()?;
    Ok(renewed)
}

/// Applies one edit, and notes the name that its entity had before.
fn edit(
    tx: &Connection,
    scope: &Scope,
    stamped: StampedEdit<&Edit, &Source>,
    edited: &mut Edited,
    touched: &mut BTreeSet<KindAndName>,
) -> rusqlite::Result<()> {
    let id = &stamped.edit.entity;
    if !edited.contains_key(id) {
        let entity = entity(tx, scope, id)?;
        touched.extend(name_of(tx, scope, &Edited::new(), &entity)?);
        edited.insert(id.clone(), entity);
    }
    if let Some(entity) = edited.get_mut(id) {
        entity.apply(stamped);
    }
    Ok(())
}

/// Reads all that was said of an entity so far.
fn entity(tx: &Connection, scope: &Scope, id: &str) -> rusqlite::Result<Entity> {
    let mut statement = tx.prepare_cached("SELECT body FROM entities WHERE scope = ?1 AND id = ?2")?;
    let found = statement.query_row([scope.as_str(), id], |row| parse(row.get_ref(0)?.as_str()?, 0));
    Ok(found.optional()?.unwrap_or_default())
}

/// Parses a column that has a list of texts.
fn texts(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    parse(row.get_ref(column)?.as_str()?, column)
}

fn put(tx: &Connection, scope: &Scope, id: &str, entity: &Entity) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached("REPLACE INTO entities VALUES (?1, ?2, ?3)")?;
    statement.execute(params![scope.as_str(), id, json(entity)?]).map(drop)
}

/// Returns the name under which an entity is read, if it is known; other entities are taken as these
/// edits leave them.
fn name_of(
    tx: &Connection,
    scope: &Scope,
    edited: &Edited,
    entity: &Entity,
) -> rusqlite::Result<Option<KindAndName>> {
    let Some(kind) = entity.text("kind").and_then(Kind::named) else { return Ok(None) };
    if kind != Kind::Relationship {
        return Ok(own_name(entity).map(|name| (kind, name)));
    }
    let mut ends = Vec::new();
    for (field, id) in ENDS {
        // The end's own name first: somebody may have renamed it without knowing of the relationship.
        let named = match entity.text(id) {
            Some(id) => match edited.get(id) {
                Some(end) => own_name(end),
                None => own_name(&self::entity(tx, scope, id)?),
            },
            None => None,
        };
        ends.extend(named.or_else(|| entity.text(field).map(str::to_owned)));
    }
    Ok(match (ends.as_slice(), entity.text("type")) {
        ([from, to], Some(of)) => Some((kind, format!("{from}\u{1f}{of}\u{1f}{to}"))),
        _ => None,
    })
}

/// Returns an entity's own name, unless it is a relationship or was taken back.
fn own_name(entity: &Entity) -> Option<String> {
    let kind = entity.text("kind").and_then(Kind::named).filter(|kind| *kind != Kind::Relationship)?;
    if entity.is_deleted() { None } else { entity.text(kind.key_field()).map(str::to_owned) }
}

/// Adds the relationships to the edited entities of which an edit renames an end.
fn follow_renames(
    tx: &Connection,
    scope: &Scope,
    edited: &mut Edited,
    touched: &mut BTreeSet<KindAndName>,
) -> rusqlite::Result<()> {
    let mut renamed = Vec::new();
    for (id, now) in edited.iter() {
        let before = own_name(&entity(tx, scope, id)?);
        renamed.extend(before.filter(|before| Some(before) != own_name(now).as_ref()));
    }
    for name in renamed {
        for link in read::links(tx, scope, &name)? {
            for id in link.ids.into_iter().filter(|id| !edited.contains_key(id)).collect::<Vec<_>>() {
                let entity = entity(tx, scope, &id)?;
                edited.insert(id, entity);
            }
            touched.insert((Kind::Relationship, link.name));
        }
    }
    Ok(())
}

/// Merges all entities of one name into its record again, and notes the other records that must be
/// refreshed for that.
fn refresh(
    tx: &Connection,
    scope: &Scope,
    of: &KindAndName,
    edited: &Edited,
    called: &Called<'_>,
    dependents: &mut BTreeSet<KindAndName>,
) -> rusqlite::Result<()> {
    let (kind, name) = (of.0, of.1.as_str());
    let by_name = params![scope.as_str(), kind.as_str(), name];
    let before = tx
        .prepare_cached("SELECT number, ids, paths FROM known WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
        .query_row(by_name, |row| Ok((Some(row.get::<_, i64>(0)?), texts(row, 1)?, texts(row, 2)?)))
        .optional()?;
    let (before, ids, paths) = before.unwrap_or_default();
    // An entity that was taken back is not among these ids until something is said of it again.
    let mut entities: Vec<(String, Entity)> = Vec::new();
    for id in ids.into_iter().filter(|id| !edited.contains_key(id)) {
        let entity = entity(tx, scope, &id)?;
        entities.push((id, entity));
    }
    let now = called.get(of).into_iter().flatten();
    entities.extend(now.filter_map(|id| Some(((*id).clone(), edited.get(*id)?.clone()))));
    if let Some(number) = before {
        clear(tx, scope, of, number, &paths)?;
    }
    dependents.extend(others(tx, scope, kind, name)?);
    if before.is_none() && entities.is_empty() {
        return Ok(());
    }
    let named = |mut known: Known| {
        if kind == Kind::Relationship {
            for ((field, _), end) in ENDS.iter().zip(ends_of(name)) {
                known.fields.insert((*field).to_owned(), end.into());
            }
        }
        known
    };
    let Some(mut known) = merge(kind, name, &entities).map(named) else {
        tx.prepare_cached("DELETE FROM known WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
            .execute(by_name)?;
        return block::put(tx, scope, kind, name, None);
    };
    let number = match before {
        Some(number) => number,
        None => tx
            .prepare_cached("SELECT coalesce(max(number), 0) + 1 FROM known")?
            .query_row([], |row| row.get(0))?,
    };
    let paths = note_files(tx, scope, &known)?;
    if kind != Kind::File {
        known.stale = stale_since(tx, scope, &paths)?.filter(|since| *since > known.at);
    }
    let (weight, line) = digest_line(&known).unzip();
    tx.prepare_cached("REPLACE INTO known VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?.execute(params![
        scope.as_str(),
        kind.as_str(),
        name,
        number,
        json(&known.ids)?,
        json(&paths)?,
        known.stale.map(|since| since.0),
        weight,
        line,
    ])?;
    block::put(tx, scope, kind, name, Some(&Row::encode(&known)))?;
    tx.prepare_cached("INSERT INTO words (rowid, name, text, within) VALUES (?1, ?2, ?3, ?4)")?.execute(
        params![
            number,
            name.replace(['-', '_', '/', '.', '\u{1f}'], " "),
            words(&known),
            search::tokens(scope, kind),
        ],
    )?;
    Ok(())
}

/// Removes a name's words, files and ends from the index.
fn clear(
    tx: &Connection,
    scope: &Scope,
    of: &KindAndName,
    number: i64,
    paths: &[String],
) -> rusqlite::Result<()> {
    let (kind, name) = (of.0, of.1.as_str());
    tx.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([number])?;
    let mut delete =
        tx.prepare_cached("DELETE FROM leans WHERE scope = ?1 AND path = ?4 AND kind = ?2 AND name = ?3")?;
    for path in paths {
        delete.execute(params![scope.as_str(), kind.as_str(), name, path])?;
    }
    if kind == Kind::Relationship {
        let mut delete =
            tx.prepare_cached("DELETE FROM ends WHERE scope = ?1 AND name = ?2 AND link = ?3")?;
        for end in ends_of(name) {
            delete.execute(params![scope.as_str(), end, name])?;
        }
    }
    Ok(())
}

/// Lists the other records to refresh: those that lean on a file, and both ends of a relationship.
fn others(tx: &Connection, scope: &Scope, kind: Kind, name: &str) -> rusqlite::Result<Vec<KindAndName>> {
    let mut others = Vec::new();
    if kind == Kind::File {
        let mut statement =
            tx.prepare_cached("SELECT kind, name FROM leans WHERE scope = ?1 AND path = ?2")?;
        let mut rows = statement.query(params![scope.as_str(), name])?;
        while let Some(row) = rows.next()? {
            others.extend(Kind::named(row.get_ref(0)?.as_str()?).zip(row.get(1).ok()));
        }
    }
    if kind == Kind::Relationship {
        let named = |end: &str| SAYINGS.map(|kind| (kind, end.to_owned()));
        others.extend(ends_of(name).flat_map(named));
    }
    Ok(others)
}

/// Returns the names of both ends of the relationship of that name.
fn ends_of(name: &str) -> impl Iterator<Item = &str> {
    name.split('\u{1f}').step_by(2)
}

/// The kinds of records that may lean on files.
const SAYINGS: [Kind; 4] = [Kind::Principle, Kind::Pattern, Kind::Decision, Kind::Note];

/// Notes and returns the files that a record leans on: its locations, and the records it has
/// relationships with.
fn note_files(tx: &Connection, scope: &Scope, known: &Known) -> rusqlite::Result<Vec<String>> {
    let ends = |link: &Known| [link.text("from").to_owned(), link.text("to").to_owned()];
    let mut paths = Vec::new();
    match known.kind {
        Kind::File => {}
        Kind::Relationship => {
            let mut end = tx.prepare_cached("INSERT OR IGNORE INTO ends VALUES (?1, ?2, ?3)")?;
            paths.extend(ends(known));
            for name in &paths {
                end.execute(params![scope.as_str(), name, known.name])?;
            }
        }
        Kind::Principle | Kind::Pattern | Kind::Decision | Kind::Note => {
            let location = Some(known.text("location")).filter(|place| !place.is_empty());
            let places = known.texts("locations").chain(location);
            paths.extend(places.map(|place| path_of(place).to_owned()));
            paths.extend(read::links(tx, scope, &known.name)?.iter().flat_map(ends));
        }
    }
    paths.sort();
    paths.dedup();
    let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO leans VALUES (?1, ?2, ?3, ?4)")?;
    for path in &paths {
        insert.execute(params![scope.as_str(), path, known.kind.as_str(), known.name])?;
    }
    Ok(paths)
}

/// Returns the path of a location: `src/model.ts:15` is in `src/model.ts`.
fn path_of(place: &str) -> &str {
    let is_line =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match place.split_once(':') {
        Some((path, line)) if line.split(':').all(is_line) => path,
        _ => place,
    }
}

/// Returns the latest time at which one of these files became stale.
fn stale_since(tx: &Connection, scope: &Scope, paths: &[String]) -> rusqlite::Result<Option<Timestamp>> {
    let sql = "SELECT stale FROM known WHERE scope = ?1 AND kind = 'file' AND name = ?2";
    let mut statement = tx.prepare_cached(sql)?;
    let mut since: Option<i64> = None;
    for path in paths {
        let stale = statement.query_row([scope.as_str(), path], |row| row.get(0)).optional()?;
        since = since.max(stale.flatten());
    }
    Ok(since.map(Timestamp))
}

/// Returns the text of a record that is searched besides its name.
pub(super) fn words(known: &Known) -> String {
    let mut words = Vec::new();
    for field in known.kind.fields() {
        match field.kind {
            FieldType::Text | FieldType::Choice(_) => words.push(known.text(field.name)),
            FieldType::Texts => words.extend(known.texts(field.name)),
            FieldType::Number(..) => {}
        }
    }
    words.join("\n")
}
