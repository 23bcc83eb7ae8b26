//! What hooks find beside the store: whether there is mail, who has shown
//! what, and who was introduced. Small files, a directory per session.
//!
//! A flag is raised before the commit of what it announces, and lowered after
//! the commit of what settled it, in both cases by whoever holds the gate. So
//! **it may say too much, never too little**.

use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::engine::StoreError;
use consort_core::host::Process;
use consort_core::messages::Flag;
use consort_core::messages::FlagStore;
use consort_core::path_part::PathPart;
use consort_core::presence::SessionId;
use consort_files::OurDir;

use crate::pulses::no_waiting;
use crate::pulses::private_dir;
use crate::pulses::read_small;
use crate::pulses::read_text;
use crate::pulses::unless_absent;

/// What was shown so long ago was noted as read long ago.
const LONGEST_NOTES: u64 = 32 << 10;

/// The notes of sessions.
pub(crate) const DIR: &str = "mail";

#[derive(Clone, Debug)]
pub struct Flags {
    dir: PathBuf,
}

impl Flags {
    /// The flags that belong to the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { dir: path.with_file_name(DIR) }
    }

    fn of(&self, session: &SessionId, what: &str) -> PathBuf {
        of(&self.dir, session, what)
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        StoreError::Unusable { path: self.dir.clone(), source: error.into() }
    }

    /// Forgets all of a session.
    pub(crate) fn clear(&self, session: &SessionId) {
        if self.of(session, "").exists() {
            let _ = OurDir::open(&self.dir).and_then(|ours| ours.remove_entry(session.path_part().as_str()));
        }
    }

    /// Forgets everything.
    pub(crate) fn clear_all(&self) -> std::io::Result<()> {
        OurDir::remove(&self.dir)
    }

    pub(crate) fn set(&self, session: &SessionId, flag: Flag) -> Result<(), StoreError> {
        // It is written over, never removed: files that come and go are slow.
        let mark = |is_set, mark| if is_set { mark } else { b'-' };
        let marks = [mark(flag.new, b'n'), mark(flag.later, b'l'), mark(flag.handed, b'h')];
        write(&self.dir, &self.of(session, "flag"), &marks, false).map_err(|error| self.failed(error))
    }
}

impl FlagStore for Flags {
    fn flag(&self, session: &SessionId) -> Flag {
        match read_small(&self.of(session, "flag")) {
            Ok(marks) => {
                let is_set = |mark: u8| marks.len() != 3 || marks.contains(&mark);
                Flag { new: is_set(b'n'), later: is_set(b'l'), handed: is_set(b'h') }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Flag::default(),
            Err(_) => Flag { new: true, later: true, handed: true },
        }
    }

    fn note_shown(&self, session: &SessionId, hand: &Process) -> Result<(), StoreError> {
        // No directory, no session.
        let note = || {
            let mut options = no_waiting();
            let mut file = options.create(true).append(true).mode(0o600).open(self.of(session, "shown"))?;
            if file.metadata()?.len() > LONGEST_NOTES {
                file.set_len(0)?;
            }
            file.write_all(format!("{}\n", shown_by(hand)).as_bytes())
        };
        unless_absent(note()).map_err(|error| self.failed(error))
    }

    fn was_shown(&self, session: &SessionId, hand: &Process) -> bool {
        let notes = read_text(&self.of(session, "shown")).unwrap_or_default();
        let wanted = shown_by(hand);
        notes.lines().any(|line| line == wanted)
    }

    fn introduced(&self, session: &SessionId) -> Vec<String> {
        let met = read_text(&self.of(session, "met")).unwrap_or_default();
        met.lines().map(str::to_owned).collect()
    }

    fn introduce(&self, session: &SessionId, senders: &[String]) -> Result<(), StoreError> {
        let lines: String = senders.iter().map(|sender| format!("{sender}\n")).collect();
        write(&self.dir, &self.of(session, "met"), lines.as_bytes(), true).map_err(|error| self.failed(error))
    }
}

/// A note of a session, by its name.
pub(crate) fn of(dir: &Path, session: &SessionId, what: &str) -> PathBuf {
    dir.join(format!("{}/{what}", session.path_part()))
}

/// The line by which a process says that it has shown what it had to.
fn shown_by(hand: &Process) -> String {
    format!("{} {}", hand.pid, PathPart::of_any(&hand.start))
}

/// Writes over a file below a directory of ours, or adds to it, making the
/// directories if it is the first.
pub(crate) fn write(ours: &Path, path: &Path, bytes: &[u8], append: bool) -> std::io::Result<()> {
    let open = || {
        let mut options = no_waiting();
        options.create(true).mode(0o600).write(true).append(append).truncate(false).open(path)
    };
    let file = match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            OurDir::create(ours)?;
            path.parent().map_or(Ok(()), private_dir)?;
            open()
        }
        opened => opened,
    };
    file?.write_all(bytes)
}
