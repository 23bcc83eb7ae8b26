//! Trails: a small file per session, added to with every prompt and every file.
//!
//! The first line says whose it is; each other one is a prompt or a file. Lines
//! are only ever appended, whole; at a prompt a file that has grown long is
//! written anew with what still counts. Trails of sessions that are over lie
//! apart. What all others are about is on the board (`board.rs`): **their trails
//! are read only where there is something to see**.
//!
//! Who read a file last is in a table of fixed size, a slot per path: two paths
//! that share one forget each other.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::convergence::Glance;
use consort_core::convergence::RadarNote;
use consort_core::convergence::Step;
use consort_core::convergence::Trail;
use consort_core::convergence::TrailNotes;
use consort_core::convergence::Visit;
use consort_core::convergence::WINDOW;
use consort_core::engine::StoreError;
use consort_core::presence::SessionId;
use consort_core::project::ProjectId;
use consort_core::text;
use consort_files::OurDir;

use crate::Notes;
use crate::board::Board;
use crate::held::escaped;
use crate::held::plain;
use crate::notes::files_in;
use crate::pulses::no_waiting;
use crate::pulses::private_dir;
use crate::pulses::read_text;
use crate::radar;

pub(crate) const DIR: &str = "trails";
const GONE: &str = "gone";
pub(crate) const READERS: &str = "readers";

/// At a prompt, a longer file is written anew; and at a file that is visited,
/// one that is much longer: an agent may be at work for hours on one prompt.
const LONG: u64 = 8 << 10;
const LONGEST: u64 = 32 << 10;

/// How many files of a prompt are kept then, read and written.
const MOST_FILES: usize = 12;

/// Of the table of readers: how many slots, and how long each is.
const SLOTS: u64 = 8_192;
const SLOT: usize = 256;

impl Notes {
    fn trail_file(&self, session: &SessionId) -> PathBuf {
        self.dir().join(DIR).join(session.path_part().as_str())
    }

    fn gone_file(&self, session: &SessionId) -> PathBuf {
        self.dir().join(DIR).join(GONE).join(session.path_part().as_str())
    }
}

impl TrailNotes for Notes {
    fn begin_trail(
        &self,
        session: &SessionId,
        project: &ProjectId,
        worktree: &Path,
    ) -> Result<(), StoreError> {
        let (path, gone) = (self.trail_file(session), self.gone_file(session));
        let begin = || {
            OurDir::create(&self.dir().join(DIR))?;
            private_dir(&self.dir().join(DIR).join(GONE))?;
            // One that comes back goes on where it was, unless it is elsewhere.
            let former = self.last_trail(session).filter(|former| former.project.as_ref() == Some(project));
            let steps = former.map_or_else(Vec::new, |former| former.steps);
            let (session, project) = (session.clone(), Some(project.clone()));
            let trail = Trail { session, project, worktree: worktree.to_owned(), steps };
            replace(&path, &render(&trail))?;
            let _ = fs::remove_file(&gone);
            if trail.steps.is_empty() { Ok(()) } else { Board::read(self.dir())?.put(&trail) }
        };
        begin().map_err(|error| self.failed(error))
    }

    fn add_step(
        &self,
        trail: &Trail,
        interests: &[&str],
        look: &mut dyn FnMut(&Glance<'_>),
    ) -> Result<(), StoreError> {
        let path = self.trail_file(&trail.session);
        let mut add = || {
            let (Some(mut file), Some(step)) = (append(&path)?, trail.steps.last()) else { return Ok(()) };
            let mut line = String::new();
            write_step(&mut line, step);
            file.write_all(line.as_bytes())?;
            if file.metadata()?.len() > LONG {
                replace(&path, &render(&shortened(trail.clone())))?;
            }
            let board = Board::read(self.dir())?;
            if let Some(project) = &trail.project {
                board.each(project.as_str(), Some(interests), look);
            }
            board.put(trail)
        };
        add().map_err(|error| self.failed(error))
    }

    fn add_visit(&self, session: &SessionId, path: &Path, at: Timestamp, written: bool) {
        let place = self.trail_file(session);
        let mut line = String::new();
        write_visit(&mut line, &path.to_string_lossy(), at, written);
        if let Ok(Some(mut file)) = append(&place) {
            let _ = file.write_all(line.as_bytes());
            if file.metadata().is_ok_and(|file| file.len() > LONGEST)
                && let Some(trail) = self.trail(session)
            {
                let _ = replace(&place, &render(&shortened(trail)));
            }
        }
    }

    fn read_by(&self, path: &Path, session: &SessionId, at: Timestamp) {
        let readers = Readers::of(path);
        let mut slot = format!("{:016x}\n{:013} {}\n", readers.hash, at.0, escaped(session.as_str()));
        let mut options = no_waiting();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let Ok(file) = options.open(self.dir().join(READERS)) else { return };
        // Whoever read it before stays, for when this one writes it.
        if let Some((other, at)) = readers.read(&file).into_iter().find(|(other, _)| other != session) {
            let _ = writeln!(slot, "{:013} {}", at.0, escaped(other.as_str()));
        }
        let mut slot = slot.into_bytes();
        if slot.len() <= SLOT {
            slot.resize(SLOT, b' ');
            let _ = file.write_all_at(&slot, readers.place);
        }
    }

    fn last_reader(&self, path: &Path, but: &SessionId) -> Option<(SessionId, Timestamp)> {
        let file = no_waiting().read(true).open(self.dir().join(READERS)).ok()?;
        Readers::of(path).read(&file).into_iter().find(|(session, _)| session != but)
    }

    fn trail(&self, session: &SessionId) -> Option<Trail> {
        let text = read_text(&self.trail_file(session)).ok()?;
        parse(&text).filter(|trail| trail.session == *session)
    }

    fn last_trail(&self, session: &SessionId) -> Option<Trail> {
        let gone = || parse(&read_text(&self.gone_file(session)).ok()?);
        self.trail(session).or_else(gone).filter(|trail| trail.session == *session)
    }

    fn look_at_all(&self, project: &ProjectId, look: &mut dyn FnMut(&Glance<'_>)) {
        if let Ok(board) = Board::read(self.dir()) {
            board.each(project.as_str(), None, look);
        }
    }

    fn end_trail(&self, session: &SessionId) {
        let _ = fs::rename(self.trail_file(session), self.gone_file(session));
        let _ = Board::read(self.dir()).and_then(|board| board.clear(session));
    }

    fn forget_trails(&self, before: Timestamp) {
        for file in files_in(&self.dir().join(DIR).join(GONE)) {
            let last = read_text(&file).ok().and_then(|text| parse(&text));
            let last = last.and_then(|trail| trail.steps.last().map(|step| step.at));
            if last.is_none_or(|last| last < before) {
                let _ = fs::remove_file(file);
            }
        }
    }

    fn end_trails_but(&self, here: &[SessionId]) {
        let here: Vec<PathBuf> = here.iter().map(|session| self.trail_file(session)).collect();
        for path in files_in(&self.dir().join(DIR)) {
            if path.is_file() && !here.contains(&path) {
                match read_text(&path).ok().and_then(|text| parse(&text)) {
                    Some(trail) => self.end_trail(&trail.session),
                    None => drop(fs::remove_file(&path)),
                }
            }
        }
    }

    fn forget_prompts(&self, worktree: Option<&Path>) {
        for dir in [self.dir().join(DIR), self.dir().join(DIR).join(GONE)] {
            for file in files_in(&dir) {
                let trail = read_text(&file).ok().and_then(|text| parse(&text));
                let Some(mut trail) = trail else { continue };
                let is_meant = worktree.is_none_or(|worktree| trail.worktree == worktree);
                if is_meant && trail.steps.iter().any(|step| step.prompt.is_some()) {
                    trail.steps.iter_mut().for_each(|step| step.prompt = None);
                    let _ = replace(&file, &render(&trail));
                }
            }
        }
    }

    fn radar(&self, worktree: &Path) -> Option<RadarNote> {
        radar::read(self.published(), worktree)
    }
}

/// Where the last readers of a file are noted.
struct Readers {
    hash: u64,
    place: u64,
}

impl Readers {
    fn of(path: &Path) -> Self {
        let hash = text::checksum(path.as_os_str().as_encoded_bytes());
        Self { hash, place: hash % SLOTS * SLOT as u64 }
    }

    /// The last, and the one before it.
    fn read(&self, file: &fs::File) -> Vec<(SessionId, Timestamp)> {
        let mut slot = [0; SLOT];
        if file.read_exact_at(&mut slot, self.place).is_err() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&slot);
        let mut lines = text.lines();
        if lines.next() != Some(&format!("{:016x}", self.hash)) {
            return Vec::new();
        }
        let reader = |line: &str| {
            let (at, session) = line.split_once(' ')?;
            Some((SessionId::from(plain(session)), Timestamp(at.parse().ok()?)))
        };
        lines.map_while(reader).collect()
    }
}

/// A file that is there, to be added to.
fn append(path: &Path) -> std::io::Result<Option<fs::File>> {
    match no_waiting().append(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // Names of sessions have no dot left in them.
    let temporary = path.with_extension("new");
    let mut options = no_waiting();
    options
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?
        .write_all(text.as_bytes())?;
    fs::rename(&temporary, path)
}

fn render(trail: &Trail) -> String {
    let project = trail.project.as_ref().map_or("", |project| project.as_str());
    let worktree = trail.worktree.to_string_lossy();
    let mut text =
        format!("of\t{}\t{}\t{}\n", escaped(project), escaped(trail.session.as_str()), escaped(&worktree));
    for step in &trail.steps {
        write_step(&mut text, step);
        for visit in &step.read {
            write_visit(&mut text, &visit.path, visit.at, false);
        }
        for visit in &step.written {
            write_visit(&mut text, &visit.path, visit.at, true);
        }
    }
    text
}

fn write_step(text: &mut String, step: &Step) {
    let prompt = step.prompt.as_deref().map(escaped).unwrap_or_default();
    let _ = writeln!(text, "p\t{}\t{:x}\t{}\t{prompt}", step.at.0, step.hash, step.topics.join(" "));
}

fn write_visit(text: &mut String, path: &str, at: Timestamp, written: bool) {
    let _ = writeln!(text, "{}\t{}\t{}", if written { 'w' } else { 'r' }, at.0, escaped(path));
}

/// What still counts of a trail.
fn shortened(mut trail: Trail) -> Trail {
    for step in &mut trail.steps {
        for visits in [&mut step.read, &mut step.written] {
            let extra = visits.len().saturating_sub(MOST_FILES);
            visits.drain(..extra);
        }
    }
    trail
}

/// What a file says. Its last line may be half written.
fn parse(text: &str) -> Option<Trail> {
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let mut header = lines.next()?.split('\t');
    let ("of", project, session, worktree) = (header.next()?, header.next()?, header.next()?, header.next()?)
    else {
        return None;
    };
    let worktree = PathBuf::from(&*plain(worktree));
    let mut steps: Vec<Step> = Vec::new();
    for line in lines {
        let mut cells = line.split('\t');
        let (Some(what), Some(at)) = (cells.next(), cells.next().and_then(|at| at.parse().ok())) else {
            continue;
        };
        let at = Timestamp(at);
        match (what, cells.next(), steps.last_mut()) {
            ("p", Some(hash), _) => {
                let topics = cells.next().unwrap_or_default().split(' ').filter(|topic| !topic.is_empty());
                let step = Step {
                    at,
                    hash: u64::from_str_radix(hash, 16).unwrap_or_default(),
                    topics: topics.map(str::to_owned).collect(),
                    prompt: cells
                        .next()
                        .filter(|prompt| !prompt.is_empty())
                        .map(|prompt| plain(prompt).into_owned()),
                    ..Step::default()
                };
                if steps.len() == WINDOW {
                    steps.remove(0);
                }
                steps.push(step);
            }
            ("r" | "w", Some(path), Some(step)) => {
                let path = plain(path);
                let path = Path::new(&*path)
                    .strip_prefix(&worktree)
                    .map_or(&*path, |path| path.to_str().unwrap_or(""));
                let visits = if what == "w" { &mut step.written } else { &mut step.read };
                visits.retain(|known| known.path != path);
                visits.push(Visit { path: path.to_owned(), at });
            }
            _ => {}
        }
    }
    let project = Some(plain(project)).filter(|project| !project.is_empty());
    Some(Trail {
        session: plain(session).into_owned().into(),
        project: project.map(|project| project.into_owned().into()),
        worktree,
        steps,
    })
}
