//! The index as it is seen from one worktree: the records of a file are stale if the file has
//! another content **there and now**, whatever changed it and whatever was noted.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;

use super::ChangedScopes;
use super::Kind;
use super::KnowledgeIndex;
use super::Known;
use super::Row;
use super::Scope;
use super::actions::link_name;
use super::resolve_path::PathBase;
use crate::Timestamp;
use crate::claims::FileStamp;
use crate::engine::StoreError;
use crate::host::Host;
use crate::journal::Entry;
use crate::journal::EntryId;
use crate::journal::Seq;
use crate::side_files::SideFiles;

/// The kind and name of a record.
type Name = (Kind, String);

/// An index that corrects which records are stale by the files as they are now.
pub(super) struct WorktreeIndex {
    pub(super) index: Box<dyn KnowledgeIndex>,
    scope: Scope,
    /// Records that are stale here, with the time of the change and the file that has changed.
    pub(super) changed: BTreeMap<Name, (Timestamp, String)>,
    /// Records that are noted as stale and are not stale here.
    same: BTreeSet<Name>,
    /// Files about which the note is wrong.
    pub(super) to_note: Vec<String>,
    host: Rc<dyn Host>,
    worktree: PathBuf,
    /// The directory that written paths are relative to.
    cwd: PathBuf,
}

impl WorktreeIndex {
    pub(super) fn new(
        index: Box<dyn KnowledgeIndex>,
        scope: &Scope,
        contents: &mut Contents<'_>,
        host: Rc<dyn Host>,
        cwd: &Path,
    ) -> Result<Self, StoreError> {
        let mut files = Vec::new();
        index.each(scope, Kind::File, &mut |row| {
            let hash = row.text("hash");
            if !hash.is_empty() {
                files.push((row.text("path").to_owned(), hash.to_owned(), row.stale_since().is_some()));
            }
        })?;
        let (changed, same) = (BTreeMap::new(), BTreeSet::new());
        let (worktree, cwd) = (contents.worktree.to_owned(), cwd.to_owned());
        let (scope, to_note) = (scope.clone(), Vec::new());
        let mut seen = Self { index, scope, changed, same, to_note, host, worktree, cwd };
        let mut fresh = Vec::new();
        contents.forget_others(&files);
        for (path, hash, is_noted) in files {
            let now = contents.of(&path);
            if now.hash == hash {
                if is_noted {
                    seen.to_note.push(path.clone());
                    fresh.push(path);
                }
                continue;
            }
            if !is_noted {
                seen.to_note.push(path.clone());
            }
            for known in seen.index.about_file(&seen.scope, &path)? {
                // A statement after the change is about the changed file.
                if known.kind == Kind::File || now.since > known.at {
                    seen.changed.insert((known.kind, known.name), (now.since, path.clone()));
                }
            }
        }
        for path in fresh {
            let known = seen.index.about_file(&seen.scope, &path)?;
            seen.same.extend(known.into_iter().map(|known| (known.kind, known.name)));
        }
        Ok(seen)
    }

    /// Returns the file that a written path means.
    fn file_named(&self, written: &str) -> String {
        let from = PathBase { host: &*self.host, worktree: &self.worktree, cwd: &self.cwd };
        from.place(written).unwrap_or_else(|_| written.to_owned())
    }

    fn mend(&self, mut known: Known) -> Known {
        let name = (known.kind, std::mem::take(&mut known.name));
        if let Some((since, _)) = self.changed.get(&name) {
            known.stale = known.stale.or(Some(*since));
        } else if self.same.contains(&name) {
            known.stale = None;
        }
        known.name = name.1;
        known
    }

    fn mend_all(&self, all: Vec<Known>) -> Vec<Known> {
        all.into_iter().map(|known| self.mend(known)).collect()
    }
}

impl KnowledgeIndex for WorktreeIndex {
    fn last(&self) -> Result<(Seq, Option<(Seq, EntryId)>), StoreError> {
        self.index.last()
    }

    fn ingest(&mut self, entries: &[Entry], through: Seq) -> Result<ChangedScopes, StoreError> {
        self.index.ingest(entries, through)
    }

    fn tidy(&mut self) {
        self.index.tidy();
    }

    fn forget(&mut self) -> Result<(), StoreError> {
        self.index.forget()
    }

    fn known(&self, scope: &Scope, kind: Kind, name: &str) -> Result<Option<Known>, StoreError> {
        let mut known = None;
        if kind == Kind::File {
            known = self.index.known(scope, kind, &self.file_named(name))?;
        }
        if known.is_none() {
            known = self.index.known(scope, kind, name)?;
        }
        Ok(known.map(|known| self.mend(known)))
    }

    fn links(&self, scope: &Scope, name: &str) -> Result<Vec<Known>, StoreError> {
        let mut links = self.index.links(scope, name)?;
        if links.is_empty() {
            links = self.index.links(scope, &self.file_named(name))?;
        }
        Ok(self.mend_all(links))
    }

    fn names(&self, scope: &Scope, kind: Kind) -> Result<Vec<String>, StoreError> {
        self.index.names(scope, kind)
    }

    fn each(&self, scope: &Scope, kind: Kind, visit: &mut dyn FnMut(Row<'_>)) -> Result<(), StoreError> {
        if self.changed.is_empty() && self.same.is_empty() {
            return self.index.each(scope, kind, visit);
        }
        self.index.each(scope, kind, &mut |row| {
            let name = match kind {
                Kind::Relationship => link_name(row.text("from"), row.text("type"), row.text("to")),
                kind => row.text(kind.key_field()).to_owned(),
            };
            let name = (kind, name);
            if !self.changed.contains_key(&name) && !self.same.contains(&name) {
                return visit(row);
            }
            let mended = Row::encode(&self.mend(Known { name: name.1, ..row.decode() }));
            visit(Row::new(kind, &mended));
        })
    }

    fn most_important(&self, scope: &Scope, limit: usize) -> Result<Vec<String>, StoreError> {
        self.index.most_important(scope, limit)
    }

    fn fresh_files(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        let mut files = self.index.fresh_files(scope)?;
        files.retain(|path| !self.changed.contains_key(&(Kind::File, path.clone())));
        Ok(files)
    }

    fn search(
        &self,
        scope: Option<&Scope>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(Scope, Known)>, StoreError> {
        let found = self.index.search(scope, words, limit)?.into_iter();
        let mend = |(scope, known): (Scope, Known)| {
            let known = if scope == self.scope { self.mend(known) } else { known };
            (scope, known)
        };
        Ok(found.map(mend).collect())
    }

    fn recorded(&self, scope: &Scope, key: &str) -> Result<Option<Seq>, StoreError> {
        self.index.recorded(scope, key)
    }

    fn about_file(&self, scope: &Scope, path: &str) -> Result<Vec<Known>, StoreError> {
        let mut about = self.index.about_file(scope, &self.file_named(path))?;
        if about.is_empty() {
            about = self.index.about_file(scope, path)?;
        }
        Ok(self.mend_all(about))
    }
}

/// The hash of a file that does not exist.
pub(super) const GONE: &str = "gone";

/// The content of a file now, and the time of its last change.
pub(super) struct Content {
    pub(super) hash: String,
    pub(super) since: Timestamp,
}

/// The contents of a worktree's files. A file with the same stamp as when it was last read is not
/// read again.
pub(super) struct Contents<'a> {
    host: &'a dyn Host,
    worktree: &'a Path,
    known: BTreeMap<String, (FileStamp, String)>,
    has_news: bool,
}

/// Milliseconds after a change in which a file may change again and keep its stamp.
const UNSETTLED: i64 = 2_000;

/// The stamp that is kept for such a file: no file has it.
const UNSURE: FileStamp = FileStamp { changed: -1, size: 0 };

/// The most files that are checked before a prompt.
const MOST_CHECKED: usize = 100;

impl<'a> Contents<'a> {
    pub(super) fn load(host: &'a dyn Host, files: &dyn SideFiles, worktree: &'a Path) -> Self {
        let text = files.text(&text_name(worktree)).unwrap_or_default();
        let one = |(path, stamp, hash): HashedFile<'_>| (path.to_owned(), (stamp, hash.to_owned()));
        Self { host, worktree, known: noted(&text).map(one).collect(), has_news: false }
    }

    /// Tells whether a file may have another content than when somebody looked last. This is called
    /// before every prompt, so it reads no more of the list than it checks.
    pub(super) fn may_have_changed(host: &dyn Host, files: &dyn SideFiles, worktree: &Path) -> bool {
        let text = files.text(&text_name(worktree)).unwrap_or_default();
        let is_other = |(path, stamp, _): HashedFile<'_>| host.stamp(&worktree.join(path)) != stamp;
        noted(&text).take(MOST_CHECKED).any(is_other)
    }

    pub(super) fn of(&mut self, path: &str) -> Content {
        let (file, now) = (self.worktree.join(path), self.host.now());
        let stamp = self.host.stamp(&file);
        let since = if stamp == FileStamp::default() { now } else { Timestamp(stamp.changed / 1_000_000) };
        if let Some((_, hash)) = self.known.get(path).filter(|(known, _)| *known == stamp) {
            return Content { hash: hash.clone(), since };
        }
        let hash = self.host.content_hash(&file).unwrap_or_else(|| GONE.into());
        let is_settled = stamp == FileStamp::default() || now.since(since) > UNSETTLED;
        let kept = (if is_settled { stamp } else { UNSURE }, hash.clone());
        if !path.contains('\n') {
            self.has_news |= self.known.insert(path.to_owned(), kept.clone()) != Some(kept);
        }
        Content { hash, since }
    }

    /// Forgets the contents of all other files.
    fn forget_others(&mut self, files: &[(String, String, bool)]) {
        let files: BTreeSet<&str> = files.iter().map(|(path, ..)| path.as_str()).collect();
        let before = self.known.len();
        self.known.retain(|path, _| files.contains(path.as_str()));
        self.has_news |= self.known.len() != before;
    }

    pub(super) fn keep(&self, files: &dyn SideFiles) {
        if self.has_news {
            let line = |(path, (stamp, hash)): (&String, &(FileStamp, String))| {
                format!("{} {} {hash} {path}\n", stamp.changed, stamp.size)
            };
            files.set_text(&text_name(self.worktree), &self.known.iter().map(line).collect::<String>());
        }
    }
}

/// The path of a file, its stamp and its hash.
type HashedFile<'t> = (&'t str, FileStamp, &'t str);

fn noted(text: &str) -> impl Iterator<Item = HashedFile<'_>> {
    text.lines().filter_map(|line| {
        let mut parts = line.splitn(4, ' ');
        let changed = parts.next()?.parse().ok()?;
        let size = parts.next()?.parse().ok()?;
        let hash = parts.next()?;
        Some((parts.next()?, FileStamp { changed, size }, hash))
    })
}

fn text_name(worktree: &Path) -> String {
    format!("contents {}", worktree.display())
}
