//! The index of what was known at some moment: the present index, except for names of which
//! something was said since. For those a small index is made from the journal, so the past costs as
//! much as has changed, not as much as there is. (If more has changed since than was said before,
//! `ops/history.rs` makes an index of that instead.)

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::ChangedScopes;
use super::Kind;
use super::KnowledgeIndex;
use super::Known;
use super::Row;
use super::Scope;
use crate::engine::StoreError;
use crate::journal::Entry;
use crate::journal::EntryId;
use crate::journal::Seq;

/// The names of which something was said since, by kind.
#[derive(Debug, Default)]
pub(super) struct Touched(BTreeMap<Kind, BTreeSet<String>>);

impl Touched {
    pub(super) fn extend(&mut self, names: impl IntoIterator<Item = (Kind, String)>) {
        for (kind, name) in names {
            self.0.entry(kind).or_default().insert(name);
        }
    }

    pub(super) fn has(&self, kind: Kind, name: &str) -> bool {
        self.0.get(&kind).is_some_and(|names| names.contains(name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Kind, &str)> {
        self.0.iter().flat_map(|(kind, names)| names.iter().map(|name| (*kind, name.as_str())))
    }
}

/// An index of what was known then. It is read only: entries that it is given are dropped.
pub(super) struct PastIndex {
    /// The present index; it answers for names that were not touched since.
    pub(super) now: Box<dyn KnowledgeIndex>,
    /// An index of what was known then of the names that were touched since.
    pub(super) then: Box<dyn KnowledgeIndex>,
    pub(super) touched: Touched,
}

impl PastIndex {
    fn of(&self, kind: Kind, name: &str) -> &dyn KnowledgeIndex {
        if self.touched.has(kind, name) { &*self.then } else { &*self.now }
    }

    /// Asks both indexes, and takes from each the records that it answers for.
    fn both(
        &self,
        ask: impl Fn(&dyn KnowledgeIndex) -> Result<Vec<Known>, StoreError>,
    ) -> Result<Vec<Known>, StoreError> {
        let mut found = ask(&*self.now)?;
        found.retain(|known| !self.touched.has(known.kind, &known.name));
        let then = ask(&*self.then)?;
        found.extend(then.into_iter().filter(|known| self.touched.has(known.kind, &known.name)));
        Ok(found)
    }

    fn names_of(
        &self,
        kind: Kind,
        ask: impl Fn(&dyn KnowledgeIndex) -> Result<Vec<String>, StoreError>,
    ) -> Result<Vec<String>, StoreError> {
        let mut names = ask(&*self.now)?;
        names.retain(|name| !self.touched.has(kind, name));
        names.extend(ask(&*self.then)?.into_iter().filter(|name| self.touched.has(kind, name)));
        names.sort();
        Ok(names)
    }
}

/// Returns the name that a row is known by.
fn name_of(row: &Row<'_>) -> String {
    match row.kind {
        Kind::Relationship => super::actions::link_name(row.text("from"), row.text("type"), row.text("to")),
        kind => row.text(kind.key_field()).to_owned(),
    }
}

impl KnowledgeIndex for PastIndex {
    fn last(&self) -> Result<(Seq, Option<(Seq, EntryId)>), StoreError> {
        self.now.last()
    }

    fn ingest(&mut self, _: &[Entry], _: Seq) -> Result<ChangedScopes, StoreError> {
        Ok(ChangedScopes::new())
    }

    fn tidy(&mut self) {}

    fn forget(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn known(&self, scope: &Scope, kind: Kind, name: &str) -> Result<Option<Known>, StoreError> {
        self.of(kind, name).known(scope, kind, name)
    }

    fn links(&self, scope: &Scope, name: &str) -> Result<Vec<Known>, StoreError> {
        self.both(|index| index.links(scope, name))
    }

    fn names(&self, scope: &Scope, kind: Kind) -> Result<Vec<String>, StoreError> {
        self.names_of(kind, |index| index.names(scope, kind))
    }

    fn each(&self, scope: &Scope, kind: Kind, visit: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
        let mut then: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        self.then.each(scope, kind, &mut |row| {
            let name = name_of(&row);
            if self.touched.has(kind, &name) {
                then.insert(name, row.bytes().to_vec());
            }
        })?;
        let has_touched = self.touched.0.contains_key(&kind);
        self.now.each(scope, kind, &mut |row| {
            if !has_touched {
                return visit(row);
            }
            let name = name_of(&row);
            // Rows are visited in the order of their names, whichever index they come from.
            while let Some(first) = then.first_entry().filter(|first| *first.key() < name) {
                visit(Row::new(kind, &first.remove()));
            }
            if !self.touched.has(kind, &name) {
                visit(row);
            }
        })?;
        then.values().for_each(|bytes| visit(Row::new(kind, bytes)));
        Ok(())
    }

    fn most_important(&self, scope: &Scope, limit: usize) -> Result<Vec<String>, StoreError> {
        self.now.most_important(scope, limit)
    }

    fn fresh_files(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        self.names_of(Kind::File, |index| index.fresh_files(scope))
    }

    fn search(
        &self,
        scope: Option<&Scope>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(Scope, Known)>, StoreError> {
        // Some of the records that are found now were different then, so more are asked for.
        let mut found = self.now.search(scope, words, 2 * limit)?;
        found.retain(|(_, known)| !self.touched.has(known.kind, &known.name));
        let then = self.then.search(scope, words, limit)?;
        found.extend(then.into_iter().filter(|(_, known)| self.touched.has(known.kind, &known.name)));
        found.sort_by_key(|(_, known)| known.kind == Kind::Relationship);
        found.truncate(limit);
        Ok(found)
    }

    fn recorded(&self, scope: &Scope, key: &str) -> Result<Option<Seq>, StoreError> {
        self.now.recorded(scope, key)
    }

    fn about_file(&self, scope: &Scope, path: &str) -> Result<Vec<Known>, StoreError> {
        self.both(|index| index.about_file(scope, path))
    }
}
