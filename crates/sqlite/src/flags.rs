//! What hooks find beside the store: whether there is mail, who has shown
//! what, and who was introduced. Small files, a directory per session.
//!
//! A flag is raised before the commit of what it announces, and lowered after
//! the commit of what settled it, in both cases by whoever holds the gate. So
//! **it may say too much, never too little**.

use std::fs;
use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_core::engine::StoreError;
use consort_core::host::Process;
use consort_core::messages::Flag;
use consort_core::messages::FlagStore;
use consort_core::presence::SessionId;

use crate::pulses::file_name;
use crate::pulses::private_dir;
use crate::pulses::unless_absent;

#[derive(Clone, Debug)]
pub struct Flags {
    dir: PathBuf,
}

impl Flags {
    /// The flags that belong to the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self { dir: path.with_file_name("mail") }
    }

    fn of(&self, session: &SessionId, what: &str) -> PathBuf {
        self.dir.join(file_name(session.as_str())).join(what)
    }

    fn shown(&self, session: &SessionId, hand: &Process) -> PathBuf {
        self.of(session, &format!("shown-{}-{}", hand.pid, file_name(&hand.start)))
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        StoreError::Unusable { path: self.dir.clone(), source: error.into() }
    }

    /// Forgets all of a session.
    pub(crate) fn clear(&self, session: &SessionId) {
        let _ = fs::remove_dir_all(self.of(session, ""));
    }

    /// Forgets everything.
    pub(crate) fn clear_all(&self) -> std::io::Result<()> {
        unless_absent(fs::remove_dir_all(&self.dir))
    }

    pub(crate) fn set(&self, session: &SessionId, flag: Flag) -> Result<(), StoreError> {
        let path = self.of(session, "flag");
        let set = if flag.is_down() {
            unless_absent(fs::remove_file(path))
        } else {
            let mark = |is_set, mark| if is_set { mark } else { b'-' };
            write(&path, &[mark(flag.new, b'n'), mark(flag.later, b'l'), mark(flag.handed, b'h')], false)
        };
        set.map_err(|error| self.failed(error))
    }
}

impl FlagStore for Flags {
    fn flag(&self, session: &SessionId) -> Flag {
        match fs::read(self.of(session, "flag")) {
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
        let noted =
            fs::OpenOptions::new().create(true).append(true).mode(0o600).open(self.shown(session, hand));
        unless_absent(noted.map(drop)).map_err(|error| self.failed(error))
    }

    fn was_shown(&self, session: &SessionId, hand: &Process) -> bool {
        self.shown(session, hand).exists()
    }

    fn forget_shown(&self, session: &SessionId, hand: &Process) {
        // One that stays is in nobody's way.
        let _ = fs::remove_file(self.shown(session, hand));
    }

    fn introduced(&self, session: &SessionId) -> Vec<String> {
        let met = fs::read_to_string(self.of(session, "met")).unwrap_or_default();
        met.lines().map(str::to_owned).collect()
    }

    fn introduce(&self, session: &SessionId, senders: &[String]) -> Result<(), StoreError> {
        let lines: String = senders.iter().map(|sender| format!("{sender}\n")).collect();
        write(&self.of(session, "met"), lines.as_bytes(), true).map_err(|error| self.failed(error))
    }
}

/// Writes over a file or adds to it, making the session's directory if it is
/// the first.
fn write(path: &Path, bytes: &[u8], append: bool) -> std::io::Result<()> {
    let open = || {
        let mut options = fs::OpenOptions::new();
        options.create(true).mode(0o600).write(true).append(append).truncate(false).open(path)
    };
    let file = match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), private_dir)?;
            open()
        }
        opened => opened,
    };
    file?.write_all(bytes)
}
