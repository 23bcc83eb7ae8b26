//! Pulses: what each present agent does right now, in small files.
//!
//! A pulse comes with every tool call of every agent, twice. Through SQLite it
//! would cost a write lock and, for a process that is alone, the replay of the
//! WAL: two and a half times a bare process. A file of its own per session is
//! 1.2 times, and no session ever waits for another.
//!
//! `<session>.now` is what it does, overwritten in place; `<session>.turn` is
//! what its prompts told; `<session>.subs/` has a file per subagent at work;
//! `<session>.host` is the process it runs in, and `hosts` the other way round.
//! Hooks of one session may run at once, so **no two events write the same file
//! in ways that need both to survive**. A file caught half written reads as
//! nothing, until the next look.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::host::Process;
use consort_core::path_part::PathPart;
use consort_core::presence::Agent;
use consort_core::presence::Heard;
use consort_core::presence::Pulse;
use consort_core::presence::PulseStore;
use consort_core::presence::SessionId;
use consort_core::presence::Status;
use consort_core::presence::Subagent;
use consort_files::OurDir;
use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::Timespec;
use rustix::fs::Timestamps;
use rustix::fs::UTIME_NOW;
use serde::Deserialize;
use serde::Serialize;

const NOW: &str = ".now";
const TURN: &str = ".turn";
const SUBAGENTS: &str = ".subs";
const HOST: &str = ".host";
const HOSTS: &str = "hosts";

/// There is a slot for every process id, modulo their number: one that another
/// has taken is a hint that is not given.
const SLOTS: u32 = 512;
const SLOT: usize = 256;

/// What is overwritten in place has a fixed size.
const SIZE: usize = 1_024;

/// The directory of pulses.
#[derive(Clone, Debug)]
pub struct Pulses {
    dir: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Now {
    at: Timestamp,
    status: Status,
    activity: Option<String>,
    waiting_for: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Turn {
    prompts: u32,
    model: Option<String>,
    asks_first: Option<bool>,
}

impl Pulses {
    /// The pulses that belong to the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { dir: path.with_file_name("pulses") }
    }

    /// Forgets them all.
    pub(crate) fn clear(&self) -> std::io::Result<()> {
        OurDir::remove(&self.dir)
    }

    fn of(&self, session: &SessionId, what: &str) -> PathBuf {
        self.dir.join(format!("{}{what}", session.path_part()))
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        StoreError::Unusable { path: self.dir.clone(), source: error.into() }
    }
}

/// Where a process has its slot.
fn slot_of(process: &Process) -> u64 {
    u64::from(process.pid % SLOTS) * SLOT as u64
}

/// That very life of that process, before where it is.
fn life(process: &Process) -> String {
    format!("{} {} ", process.pid, process.start)
}

impl PulseStore for Pulses {
    fn note_pulse(&self, session: &SessionId, at: Timestamp, pulse: &Pulse) -> Result<bool, StoreError> {
        let file = match no_waiting().write(true).open(self.of(session, NOW)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(self.failed(error)),
        };
        let Pulse { status, activity, waiting_for, prompt, .. } = pulse;
        let now = Now { at, status: *status, activity: activity.clone(), waiting_for: waiting_for.clone() };
        file.write_all_at(&padded(&now), 0).map_err(|error| self.failed(error))?;
        if *prompt {
            note_prompt(&self.of(session, TURN), pulse).map_err(|error| self.failed(error))?;
        }
        Ok(true)
    }

    /// The file's own time is the sign of life: every pulse renews it too.
    fn renew(&self, session: &SessionId) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        // One that has left has nothing to renew.
        let _ = rustix::fs::utimensat(CWD, self.of(session, NOW), &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    fn renewed(&self, session: &SessionId) -> Option<Timestamp> {
        let file = fs::symlink_metadata(self.of(session, NOW)).ok()?;
        Some(Timestamp(file.mtime() * 1_000 + file.mtime_nsec() / 1_000_000))
    }

    fn start_pulse(&self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.end_pulse(session)?;
        let now = Now { at, status: Status::Idle, activity: None, waiting_for: None };
        let start = || {
            OurDir::create(&self.dir)?;
            open_or_create(&self.of(session, NOW))?.write_all_at(&padded(&now), 0)
        };
        start().map_err(|error| self.failed(error))
    }

    fn note_host(&self, agent: &Agent) {
        let life = life(&agent.process) + &agent.host;
        let hosted = format!("{life} {}", agent.session.path_part());
        let note = |path: &Path, text: &str, at: u64| {
            let mut slot = [b' '; SLOT];
            slot[..text.len()].copy_from_slice(text.as_bytes());
            open_or_create(path)?.write_all_at(&slot, at)
        };
        if hosted.len() <= SLOT {
            // Its own word first: a slot counts only with that.
            let _ = note(&self.of(&agent.session, HOST), &life, 0)
                .and_then(|()| note(&self.dir.join(HOSTS), &hosted, slot_of(&agent.process)));
        }
    }

    fn is_host(&self, process: &Process) -> bool {
        let mut slot = [0; SLOT];
        let read = |file: fs::File| file.read_exact_at(&mut slot, slot_of(process));
        // The last slots may not have been written yet.
        if no_waiting().read(true).open(self.dir.join(HOSTS)).and_then(read).is_err() {
            return false;
        }
        let life = life(process);
        let slot = str::from_utf8(&slot).ok().map(str::trim_ascii_end);
        // The session may have ended since, or moved to another process.
        let session = slot.and_then(|slot| slot.strip_prefix(&life)?.rsplit(' ').next());
        session.is_some_and(|session| {
            // A slot may be torn: it must still be one file name.
            !session.contains('/')
                && read_text(&self.dir.join(format!("{session}{HOST}")))
                    .is_ok_and(|now| now.starts_with(&life))
        })
    }

    fn host_of(&self, session: &SessionId) -> Option<(String, Process)> {
        let note = read_text(&self.of(session, HOST)).ok()?;
        let mut words = note.trim_ascii_end().splitn(3, ' ');
        let (pid, start, host) = (words.next()?.parse().ok()?, words.next()?, words.next()?);
        Some((host.to_owned(), Process { pid, start: start.to_owned(), ..Process::default() }))
    }

    fn end_pulse(&self, session: &SessionId) -> Result<(), StoreError> {
        let ended = [
            fs::remove_file(self.of(session, NOW)),
            fs::remove_file(self.of(session, HOST)),
            fs::remove_file(self.of(session, TURN)),
        ];
        ended.into_iter().try_for_each(unless_absent).map_err(|error| self.failed(error))?;
        // What stays of its subagents is shown with nobody.
        if self.of(session, SUBAGENTS).exists() {
            let _ = OurDir::open(&self.dir)
                .and_then(|ours| ours.remove_entry(&format!("{}{SUBAGENTS}", session.path_part())));
        }
        Ok(())
    }

    fn note_subagent(&self, session: &SessionId, subagent: &Subagent) -> Result<(), StoreError> {
        let note = || {
            if !self.of(session, NOW).exists() {
                return Ok(());
            }
            let dir = self.of(session, SUBAGENTS);
            private_dir(&dir)?;
            open_or_create(&dir.join(PathPart::of_any(&subagent.id).as_str()))?
                .write_all_at(&padded_json(subagent), 0)
        };
        note().map_err(|error| self.failed(error))
    }

    fn end_subagent(&self, session: &SessionId, id: &str) -> Result<(), StoreError> {
        let path = self.of(session, SUBAGENTS).join(PathPart::of_any(id).as_str());
        unless_absent(fs::remove_file(path)).map_err(|error| self.failed(error))
    }

    fn heard(&self, session: &SessionId) -> Option<Heard> {
        // Caught in the middle of a write, it is whole a moment later.
        let path = self.of(session, NOW);
        let now: Now = read(&path).or_else(|| read(&path))?;
        let turn: Turn = read(&self.of(session, TURN)).unwrap_or_default();
        let files = fs::read_dir(self.of(session, SUBAGENTS)).into_iter().flatten().flatten();
        let mut subagents: Vec<Subagent> = files.filter_map(|file| read(&file.path())).collect();
        subagents.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        Some(Heard {
            last_active: now.at,
            status: now.status,
            activity: now.activity,
            waiting_for: now.waiting_for,
            prompts: turn.prompts,
            model: turn.model,
            asks_first: turn.asks_first,
            subagents,
        })
    }
}

/// Prompts of one session come one after the other, so reading and writing
/// back loses none.
fn note_prompt(path: &Path, pulse: &Pulse) -> std::io::Result<()> {
    let turn: Turn = read(path).unwrap_or_default();
    let turn = Turn {
        prompts: turn.prompts.saturating_add(1),
        model: pulse.model.clone().or(turn.model),
        asks_first: pulse.asks_first.or(turn.asks_first),
    };
    open_or_create(path)?.write_all_at(&padded_json(&turn), 0)
}

/// Opens without waiting: a pipe in the place of a file would hold a hook up.
pub(crate) fn no_waiting() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    options
}

/// A small file of ours; no longer one is read.
pub(crate) fn read_small(path: &Path) -> std::io::Result<Vec<u8>> {
    consort_files::read(path, 1 << 20)
}

/// The same as text.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_small(path)?).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

pub(crate) fn private_dir(dir: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// What is not there need not be removed.
pub(crate) fn unless_absent(removed: std::io::Result<()>) -> std::io::Result<()> {
    removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Never truncates: a writer killed after that would leave nothing.
fn open_or_create(path: &Path) -> std::io::Result<fs::File> {
    no_waiting().create(true).truncate(false).write(true).mode(0o600).open(path)
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    serde_json::from_slice(read_small(path).ok()?.trim_ascii_end()).ok()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// What is too long even for us is cut down to the facts that fit.
fn padded(now: &Now) -> Vec<u8> {
    let text = padded_json(now);
    if text.len() > SIZE {
        return padded_json(&Now { activity: None, waiting_for: None, ..*now });
    }
    text
}

/// JSON may end in spaces, so what is shorter than the last leaves nothing of it.
fn padded_json(value: &impl Serialize) -> Vec<u8> {
    let mut text = json(value);
    text.resize(text.len().max(SIZE), b' ');
    text
}
