//! Taking entries in.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use consort_core::Timestamp;
use consort_core::journal::Change;
use consort_core::journal::Entry;
use consort_core::journal::Seq;
use consort_core::knowledge::Edit;
use consort_core::knowledge::Entity;
use consort_core::knowledge::FieldType;
use consort_core::knowledge::Kind;
use consort_core::knowledge::KnowledgeChange;
use consort_core::knowledge::Known;
use consort_core::knowledge::Row;
use consort_core::knowledge::Scope;
use consort_core::knowledge::Source;
use consort_core::knowledge::Stamped;
use consort_core::knowledge::merge;
use consort_core::knowledge::weight;
use rusqlite::Connection;
use rusqlite::OptionalExtension as _;
use rusqlite::Transaction;
use rusqlite::TransactionBehavior;
use rusqlite::params;

use super::read;
use crate::apply::json;
use crate::apply::parse;

/// What is read as one.
type Name = (Kind, String);

/// The entities that an entry says something of, by their ids.
type Edited = BTreeMap<String, Entity>;

/// All of them or none; what was taken in before, by whomever, is passed over.
pub(super) fn take_in(connection: &Connection, entries: &[Entry], through: Seq) -> rusqlite::Result<()> {
    let tx = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let (last, _) = read::last(&tx)?;
    for entry in entries.iter().filter(|entry| entry.seq > last) {
        let scope = Scope::from(entry.project.clone());
        let (mut edited, mut touched) = (Edited::new(), BTreeSet::new());
        for change in &entry.changes {
            let Change::Knowledge(change) = change else { continue };
            for stamped in change.stamped(entry.at) {
                edit(&tx, stamped, &mut edited, &mut touched)?;
            }
            if let KnowledgeChange::Edited { key: Some(key), .. } = change {
                tx.prepare_cached("REPLACE INTO keys VALUES (?1, ?2, ?3)")?.execute(params![
                    scope.as_str(),
                    key,
                    entry.seq
                ])?;
            }
        }
        for (id, entity) in &edited {
            touched.extend(put(&tx, &scope, id, entity)?);
        }
        let mut leaning = BTreeSet::new();
        for (kind, name) in &touched {
            refresh(&tx, &scope, *kind, name, &edited, &mut leaning)?;
        }
        // Also what was read anew before what it leans on was.
        for (kind, name) in &leaning {
            refresh(&tx, &scope, *kind, name, &edited, &mut BTreeSet::new())?;
        }
        let mut set = tx.prepare_cached("REPLACE INTO meta VALUES (?1, ?2)")?;
        set.execute(params!["seq", entry.seq])?;
        set.execute(params!["id", entry.id.0])?;
    }
    if through > last {
        tx.prepare_cached("REPLACE INTO meta VALUES ('through', ?1)")?.execute([through])?;
    }
    tx.commit()
}

/// Takes one edit in, and notes what its entity was called before.
fn edit(
    tx: &Connection,
    stamped: Stamped<&Edit, &Source>,
    edited: &mut Edited,
    touched: &mut BTreeSet<Name>,
) -> rusqlite::Result<()> {
    let id = &stamped.edit.entity;
    if !edited.contains_key(id) {
        let mut statement = tx.prepare_cached("SELECT body FROM entities WHERE id = ?1")?;
        let found = statement.query_row([id], |row| parse(row.get_ref(0)?.as_str()?, 0)).optional()?;
        let entity: Entity = found.unwrap_or_default();
        touched.extend(name_of(&entity));
        edited.insert(id.clone(), entity);
    }
    if let Some(entity) = edited.get_mut(id) {
        entity.apply(stamped);
    }
    Ok(())
}

/// Writes an entity down; what it is called.
fn put(tx: &Connection, scope: &Scope, id: &str, entity: &Entity) -> rusqlite::Result<Option<Name>> {
    let name = name_of(entity);
    let (kind, key) = name.as_ref().map_or(("", ""), |(kind, name)| (kind.as_str(), name.as_str()));
    let mut statement = tx.prepare_cached("REPLACE INTO entities VALUES (?1, ?2, ?3, ?4, ?5)")?;
    statement.execute(params![id, scope.as_str(), kind, key, json(entity)?])?;
    Ok(name)
}

/// What an entity is read as, once that is known of it.
fn name_of(entity: &Entity) -> Option<Name> {
    let kind = Kind::named(entity.text("kind")?)?;
    let name = match kind {
        Kind::Relationship => {
            let [from, of, to] = ["from", "type", "to"].map(|field| entity.text(field));
            format!("{}\u{1f}{}\u{1f}{}", from?, of?, to?)
        }
        kind => entity.text(kind.key_field())?.to_owned(),
    };
    Some((kind, name))
}

/// Reads all entities of one name as one, anew. What leans on a file that was
/// refreshed is noted.
fn refresh(
    tx: &Connection,
    scope: &Scope,
    kind: Kind,
    name: &str,
    edited: &Edited,
    leaning: &mut BTreeSet<Name>,
) -> rusqlite::Result<()> {
    let by_name = params![scope.as_str(), kind.as_str(), name];
    let read = |row: &rusqlite::Row<'_>| {
        let id: String = row.get(0)?;
        let entity =
            edited.get(&id).map_or_else(|| parse(row.get_ref(1)?.as_str()?, 1), |one| Ok(one.clone()));
        entity.map(|entity| (id, entity))
    };
    let entities: Vec<(String, Entity)> = tx
        .prepare_cached("SELECT id, body FROM entities WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
        .query_map(by_name, read)?
        .collect::<rusqlite::Result<_>>()?;
    let before: Option<i64> = tx
        .prepare_cached("SELECT number FROM known WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
        .query_row(by_name, |row| row.get(0))
        .optional()?;
    if let Some(number) = before {
        tx.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([number])?;
        tx.prepare_cached("DELETE FROM leans WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
            .execute(by_name)?;
        if kind == Kind::Relationship {
            let mut delete =
                tx.prepare_cached("DELETE FROM ends WHERE scope = ?1 AND name = ?2 AND link = ?3")?;
            for end in ends_of(name) {
                delete.execute(params![scope.as_str(), end, name])?;
            }
        }
    }
    leaning.extend(others(tx, scope, kind, name)?);
    let Some(mut known) = merge(kind, name, &entities) else {
        tx.prepare_cached("DELETE FROM known WHERE scope = ?1 AND kind = ?2 AND name = ?3")?
            .execute(by_name)?;
        return Ok(());
    };
    let number = match before {
        Some(number) => number,
        None => tx
            .prepare_cached("SELECT coalesce(max(number), 0) + 1 FROM known")?
            .query_row([], |row| row.get(0))?,
    };
    lean(tx, scope, &known)?;
    if kind != Kind::File {
        known.stale = stale_since(tx, scope, &known)?;
    }
    let weight = match kind {
        Kind::File => known.stale.is_none().then_some(1.0),
        _ => weight(&known),
    };
    tx.prepare_cached("REPLACE INTO known VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute(params![
        scope.as_str(),
        kind.as_str(),
        name,
        number,
        weight,
        known.ids.join(" "),
        Row::encode(&known),
    ])?;
    tx.prepare_cached("INSERT INTO words (rowid, name, text) VALUES (?1, ?2, ?3)")?.execute(params![
        number,
        name.replace(['-', '_', '/', '.', '\u{1f}'], " "),
        words(&known)
    ])?;
    Ok(())
}

/// What else is to be read anew: what leans on a file, and both ends of a
/// relationship.
fn others(tx: &Connection, scope: &Scope, kind: Kind, name: &str) -> rusqlite::Result<Vec<Name>> {
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

/// What a relationship of that name ties together.
fn ends_of(name: &str) -> impl Iterator<Item = &str> {
    name.split('\u{1f}').step_by(2)
}

/// What may lean on files.
const SAYINGS: [Kind; 3] = [Kind::Principle, Kind::Pattern, Kind::Decision];

/// Notes which files something leans on: where it is to be seen, and what it is
/// tied to.
fn lean(tx: &Connection, scope: &Scope, known: &Known) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached("INSERT OR IGNORE INTO leans VALUES (?1, ?2, ?3, ?4)")?;
    let mut on = |path: &str| insert.execute(params![scope.as_str(), path, known.kind.as_str(), known.name]);
    match known.kind {
        Kind::File => {}
        Kind::Relationship => {
            let mut end = tx.prepare_cached("INSERT OR IGNORE INTO ends VALUES (?1, ?2, ?3)")?;
            for name in [known.text("from"), known.text("to")] {
                end.execute(params![scope.as_str(), name, known.name])?;
                on(name)?;
            }
        }
        Kind::Principle | Kind::Pattern | Kind::Decision => {
            let location = Some(known.text("location")).filter(|place| !place.is_empty());
            for place in known.texts("locations").chain(location) {
                on(path_of(place))?;
            }
            for link in read::links(tx, scope, &known.name)? {
                on(link.text("from"))?;
                on(link.text("to"))?;
            }
        }
    }
    Ok(())
}

/// `src/model.ts:15` is in `src/model.ts`.
fn path_of(place: &str) -> &str {
    let is_line =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match place.split_once(':') {
        Some((path, line)) if line.split(':').all(is_line) => path,
        _ => place,
    }
}

/// Since when a file it leans on has changed, where nobody has looked at it since.
fn stale_since(tx: &Connection, scope: &Scope, known: &Known) -> rusqlite::Result<Option<Timestamp>> {
    let mut statement = tx.prepare_cached(
        "SELECT known.body FROM leans JOIN known
         ON known.scope = leans.scope AND known.kind = 'file' AND known.name = leans.path
         WHERE leans.scope = ?1 AND leans.kind = ?2 AND leans.name = ?3",
    )?;
    let mut rows = statement.query(params![scope.as_str(), known.kind.as_str(), known.name])?;
    let mut since = None;
    while let Some(row) = rows.next()? {
        since = since.max(Row::new(Kind::File, row.get_ref(0)?.as_blob()?).stale());
    }
    Ok(since.filter(|since| *since > known.at))
}

/// What is searched besides the name.
fn words(known: &Known) -> String {
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
