//! What comes too often for the database: which file was written by whom, what
//! each session has seen, and what it was told.
//!
//! A file for each path that was written, overwritten by whoever writes it
//! next; the rest lies with the session's other notes (`flags.rs`) and goes
//! with them. **Nothing here is ever needed to be right**: what is lost is a
//! hint that is not given.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::Held;
use consort_core::claims::PathNotes;
use consort_core::claims::Pattern;
use consort_core::claims::Sight;
use consort_core::claims::Stamp;
use consort_core::claims::Touch;
use consort_core::engine::StoreError;
use consort_core::presence::SessionId;
use consort_core::text;
use consort_files::OurDir;

use crate::board;
use crate::flags;
use crate::held;
use crate::published;
use crate::published::Published;
use crate::pulses::read_small;
use crate::pulses::read_text;
use crate::trails;

/// A session's list of what it was told starts anew beyond this.
const LONGEST_TOLD: u64 = 64 << 10;

/// The same of what it has seen, which is read after every tool.
const LONGEST_SEEN: u64 = 32 << 10;

/// What a touch says besides its path.
const ROOM_FOR_THE_REST: usize = 320;

pub(crate) const TOUCHED: &str = "touched";
const RUNNING: &str = "running-";

/// How many sights are carried over then.
const CARRIED: usize = 64;

#[derive(Clone, Debug)]
pub struct Notes {
    store: PathBuf,
    /// What is published, as it was when it was first asked for.
    published: OnceCell<Published>,
    /// The directory of the store.
    dir: PathBuf,
}

impl Notes {
    /// The notes that belong to the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self {
            store: path.to_owned(),
            published: OnceCell::new(),
            dir: path.parent().map(Path::to_owned).unwrap_or_default(),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        let _ = fs::remove_file(self.dir.join(published::FILE));
        let _ = OurDir::remove(&self.dir.join(TOUCHED));
        let _ = OurDir::remove(&self.dir.join(trails::DIR));
        for file in [trails::READERS, board::FILE] {
            let _ = fs::remove_file(self.dir.join(file));
        }
    }

    pub(crate) fn published(&self) -> &Published {
        self.published.get_or_init(|| published::read(&self.store))
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    fn of(&self, path: &Path) -> PathBuf {
        self.dir.join(format!("{TOUCHED}/{:016x}", text::checksum(path.as_os_str().as_encoded_bytes())))
    }

    /// A note with the others of a session.
    fn noted(&self, session: &SessionId, what: &str) -> PathBuf {
        flags::of(&self.dir.join(flags::DIR), session, what)
    }

    /// A command at work.
    fn running(&self, session: &SessionId, call: &str) -> PathBuf {
        self.noted(session, &format!("{RUNNING}{:016x}", text::checksum(call.as_bytes())))
    }

    pub(crate) fn failed(&self, error: std::io::Error) -> StoreError {
        StoreError::Unusable { path: self.dir.clone(), source: error.into() }
    }

    /// Writes one of a session's notes.
    fn write(&self, path: &Path, bytes: &[u8], append: bool) -> std::io::Result<()> {
        flags::write(&self.dir.join(flags::DIR), path, bytes, append)
    }

    fn append(&self, session: &SessionId, what: &str, lines: &str) -> Result<(), StoreError> {
        self.write(&self.noted(session, what), lines.as_bytes(), true).map_err(|error| self.failed(error))
    }
}

impl PathNotes for Notes {
    fn is_anything_held(&self) -> bool {
        let published = self.published();
        !published.is_current || published.text().lines().any(held::is_line)
    }

    fn held_near(&self, paths: &[Pattern], case: Case) -> Held {
        held::read(self.published(), |pattern| paths.iter().any(|path| path.may_meet(pattern, case)))
    }

    fn touch(&self, touch: &Touch) -> Result<(), StoreError> {
        let place = touch.worktree.join(&touch.path);
        let mut note = serde_json::to_vec(touch).unwrap_or_default();
        // Written over as a whole: files that shrink and grow are slow. The same
        // path has the same size, whoever's session it is.
        let size = (place.as_os_str().len() + ROOM_FOR_THE_REST).next_multiple_of(512);
        note.resize(note.len().max(size), b' ');
        flags::write(&self.dir.join(TOUCHED), &self.of(&place), &note, false)
            .map_err(|error| self.failed(error))
    }

    fn touched(&self, path: &Path) -> Option<Touch> {
        read_touch(&self.of(path)).filter(|touch| touch.worktree.join(&touch.path) == path)
    }

    fn all_touched(&self, since: Timestamp) -> Vec<Touch> {
        let files = files_in(&self.dir.join(TOUCHED));
        files.filter_map(|file| read_touch(&file)).filter(|touch| touch.at >= since).collect()
    }

    fn forget_touched(&self, before: Timestamp) {
        for file in files_in(&self.dir.join(TOUCHED)) {
            if read_touch(&file).is_none_or(|touch| touch.at < before) {
                let _ = fs::remove_file(file);
            }
        }
    }

    fn sights(&self, session: &SessionId) -> Vec<Sight> {
        let text = read_text(&self.noted(session, "seen")).unwrap_or_default();
        let mut sights: Vec<Sight> = Vec::new();
        for sight in text.lines().rev().filter_map(read_sight) {
            if sights.iter().all(|newer| newer.path != sight.path) {
                sights.push(sight);
            }
            if sights.len() == CARRIED {
                break;
            }
        }
        sights
    }

    fn saw(&self, session: &SessionId, sights: &[Sight]) -> Result<(), StoreError> {
        let path = self.noted(session, "seen");
        let is_long = fs::metadata(&path).is_ok_and(|file| file.len() > LONGEST_SEEN);
        let carried = if is_long { self.sights(session) } else { Vec::new() };
        if is_long {
            let _ = fs::remove_file(&path);
        }
        let all = carried.iter().rev().chain(sights);
        self.append(session, "seen", &all.map(sight_line).collect::<String>())
    }

    fn keep_for_later(&self, session: &SessionId, text: &str) {
        let path = self.noted(session, "later");
        let _ = fs::remove_file(&path);
        let _ = self.write(&path, text.as_bytes(), false);
    }

    fn take_kept(&self, session: &SessionId) -> Option<String> {
        let path = self.noted(session, "later");
        let text = read_text(&path).ok()?;
        fs::remove_file(&path).ok()?;
        Some(text)
    }

    fn was_told(&self, session: &SessionId, what: &str) -> bool {
        read_text(&self.noted(session, "told")).is_ok_and(|told| told.contains(&told_line(what)))
    }

    fn told_before(&self, session: &SessionId, what: &str) -> bool {
        if self.was_told(session, what) {
            return true;
        }
        let path = self.noted(session, "told");
        if fs::metadata(&path).is_ok_and(|file| file.len() > LONGEST_TOLD) {
            let _ = fs::remove_file(&path);
        }
        let _ = self.append(session, "told", &told_line(what));
        false
    }

    fn begin(&self, session: &SessionId, call: &str, at: Timestamp) -> Result<(), StoreError> {
        let path = self.running(session, call);
        self.write(&path, at.0.to_string().as_bytes(), false).map_err(|error| self.failed(error))
    }

    fn end(&self, session: &SessionId, call: &str, at: Timestamp) -> Option<Timestamp> {
        let path = self.running(session, call);
        let begun = read_time(&path)?;
        let _ = fs::remove_file(&path);
        // Thirteen digits, for some three hundred years: written over as a whole.
        let _ = self.write(&self.noted(session, "ran"), format!("{:013}", at.0).as_bytes(), false);
        Some(begun)
    }

    fn runs_or_ran(&self, session: &SessionId, since: Timestamp) -> bool {
        let mut notes = fs::read_dir(self.noted(session, "")).into_iter().flatten().flatten();
        // One that was interrupted never ends: after a while it does not count.
        let runs = notes.any(|note| {
            note.file_name().to_string_lossy().starts_with(RUNNING)
                && read_time(&note.path()).is_some_and(|begun| since.since(begun) < Timestamp::HOUR)
        });
        runs || read_time(&self.noted(session, "ran")).is_some_and(|ran| ran >= since)
    }
}

/// The entries of a directory of ours, except its marker.
pub(crate) fn files_in(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != consort_files::MARKER).map(|entry| entry.path())
}

fn told_line(what: &str) -> String {
    format!("{:016x}\n", text::checksum(what.as_bytes()))
}

fn read_time(path: &Path) -> Option<Timestamp> {
    read_text(path).ok()?.trim().parse().ok().map(Timestamp)
}

fn read_touch(path: &Path) -> Option<Touch> {
    serde_json::from_slice(read_small(path).ok()?.trim_ascii_end()).ok()
}

/// A path that is not text keeps its lossy spelling, which is nobody's.
fn sight_line(sight: &Sight) -> String {
    let Sight { path, at, stamp } = sight;
    format!("{}\t{}\t{}\t{}\n", stamp.changed, stamp.size, at.0, held::escaped(&path.to_string_lossy()))
}

fn read_sight(line: &str) -> Option<Sight> {
    let mut cells = line.splitn(4, '\t');
    let changed = cells.next()?.parse().ok()?;
    let size = cells.next()?.parse().ok()?;
    let at = Timestamp(cells.next()?.parse().ok()?);
    Some(Sight { path: held::plain(cells.next()?).into_owned().into(), at, stamp: Stamp { changed, size } })
}
