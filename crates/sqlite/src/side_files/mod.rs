//! The files beside the database (`consort_core::side_files`): `published/`
//! (`published.rs`), `sessions/` (here), `slots/` (`slots.rs`) and `kept/` (`kept.rs`).

mod kept;
pub(crate) mod published;
mod slots;

use std::cell::OnceCell;
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use std::time::UNIX_EPOCH;

use consort_core::Timestamp;
use consort_core::engine::StoreError;
use consort_core::messages::MailFlags;
use consort_core::presence::Agent;
use consort_core::presence::SessionId;
use consort_core::side_files::STATE_LENGTH;
use consort_core::side_files::SessionFiles;
use consort_core::side_files::SessionState;
use consort_core::side_files::SideFiles;
use consort_core::side_files::SlotTable;
use consort_core::side_files::StateField;
use consort_core::side_files::without_padding;
use consort_core::text;
use consort_files::OurDir;
use consort_files::create_whole;
use consort_files::replace_whole;
use published::Published;
use slots::Slots;

const SESSIONS: &str = "sessions";
const STATE_FILE: &str = "state";
const LOG_FILE: &str = "log";

/// The files and directories that earlier versions kept in place of these.
const FORMER: [&str; 14] = [
    "pulses",
    "mail",
    "touched",
    "trails",
    "digests",
    "board",
    "readers",
    "held",
    "radar",
    "knowledge.db",
    "knowledge.db-wal",
    "knowledge.db-shm",
    "knowledge.lock",
    published::DIR,
];

/// The files beside one store.
pub(crate) struct StoreFiles {
    store: PathBuf,
    /// The directory of the store.
    dir: PathBuf,
    /// The published file, as it was when it was first asked for.
    published: OnceCell<Published>,
    /// The table that was last read as a whole.
    slots: RefCell<Option<Slots>>,
    /// Whether a state file that was opened stays open: for a process that ends before another file could
    /// take its place.
    is_for_hook: bool,
    /// The state file that was opened last.
    state: RefCell<Option<(SessionId, Rc<File>)>>,
}

impl StoreFiles {
    /// The files that belong to the store at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        Self {
            store: path.to_owned(),
            dir: path.parent().map(Path::to_owned).unwrap_or_default(),
            published: OnceCell::new(),
            slots: RefCell::default(),
            is_for_hook: false,
            state: RefCell::default(),
        }
    }

    /// The files for a hook, which keeps them open: its process does not live for long.
    pub(crate) fn for_hook(path: &Path) -> Self {
        Self { is_for_hook: true, ..Self::beside(path) }
    }

    /// Removes all files beside the store. A directory that was not made by us stays.
    pub(crate) fn clear(&self) {
        for name in [SESSIONS, slots::DIR, published::DIR, kept::DIR] {
            let _ = OurDir::remove(&self.dir.join(name));
        }
    }

    /// Removes what an earlier version kept here.
    pub(crate) fn clear_former(&self) {
        for name in FORMER {
            let path = self.dir.join(name);
            let _ = if path.is_dir() { OurDir::remove(&path) } else { fs::remove_file(&path) };
        }
    }

    /// Makes the files of the agents that are here. Their mail flags begin raised, so that their next
    /// hooks look up what mail there is.
    pub(crate) fn make_agent_files(&self, present: &[Agent]) {
        let files: &dyn SideFiles = self;
        for agent in present {
            let _ = files.start_activity(&agent.session, agent.joined_at);
            files.note_host(agent);
            let _ = files.set_mail_flags(&agent.session, MailFlags::UNKNOWN);
            let _ =
                files.begin_or_continue_trail(&agent.session, &agent.project.id, &agent.location.worktree);
        }
    }

    fn of(&self, session: &SessionId, name: &str) -> PathBuf {
        let part = session.path_part();
        // One allocation: a start or `who` asks for the state of every agent that is here.
        let length = self.dir.as_os_str().len() + SESSIONS.len() + part.as_str().len() + name.len() + 3;
        let mut path = OsString::with_capacity(length);
        path.push(&self.dir);
        for component in [SESSIONS, part.as_str(), name] {
            path.push("/");
            path.push(component);
        }
        path.into()
    }

    fn state_file(&self, session: &SessionId) -> std::io::Result<Option<Rc<File>>> {
        if let Some((of, file)) = &*self.state.borrow()
            && of == session
        {
            return Ok(Some(Rc::clone(file)));
        }
        match no_waiting().read(true).write(true).open(self.of(session, STATE_FILE)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => {
                let file = Rc::new(opened?);
                if self.is_for_hook {
                    *self.state.borrow_mut() = Some((session.clone(), Rc::clone(&file)));
                }
                Ok(Some(file))
            }
        }
    }

    fn failed(&self, error: std::io::Error) -> StoreError {
        StoreError::Unusable { path: self.dir.clone(), source: error.into() }
    }
}

impl SideFiles for StoreFiles {
    fn is_current(&self) -> bool {
        self.published.get_or_init(|| Published::read(&self.store)).is_current
    }

    fn published(&self, beginning: &str, most: usize) -> Option<Vec<String>> {
        self.published.get_or_init(|| Published::read(&self.store)).lines(beginning, most)
    }

    fn text(&self, name: &str) -> Option<String> {
        read_text(&self.text_file(name)).ok()
    }

    fn set_text(&self, name: &str, text: &str) {
        if self.text(name).is_none_or(|known| known != text) {
            let dir = self.dir.join(published::DIR);
            let _ = OurDir::create(&dir).and_then(|()| replace_whole(&self.text_file(name), text.as_bytes()));
        }
    }

    fn state(&self, session: &SessionId) -> Result<Option<SessionState>, StoreError> {
        let Some(file) = self.state_file(session).map_err(|error| self.failed(error))? else {
            return Ok(None);
        };
        let mut bytes = [0; STATE_LENGTH as usize];
        let length = file.read_at(&mut bytes, 0).map_err(|error| self.failed(error))?;
        // Without padding, because a listing of agents keeps many states.
        Ok(Some(SessionState(without_padding(&bytes[..length]).to_vec())))
    }

    fn set_fields(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<bool, StoreError> {
        let set = || {
            let Some(file) = self.state_file(session)? else { return Ok(false) };
            for (field, text) in fields {
                let mut bytes = text.as_bytes().to_vec();
                if bytes.len() > field.len {
                    return Err(ErrorKind::FileTooLarge.into());
                }
                bytes.resize(field.len, b' ');
                file.write_all_at(&bytes, field.at)?;
            }
            Ok(true)
        };
        set().map_err(|error| self.failed(error))
    }

    fn make_session(&self, session: &SessionId, fields: &[(StateField, &str)]) -> Result<bool, StoreError> {
        *self.state.borrow_mut() = None;
        let make = || {
            OurDir::create(&self.dir.join(SESSIONS))?;
            fs::DirBuilder::new().recursive(true).mode(0o700).create(self.of(session, ""))?;
            // A field that is not set is blank, which for mail means that there may be some.
            let mut state = vec![b' '; STATE_LENGTH as usize];
            for (field, text) in fields {
                let at = field.at as usize;
                state[at..at + text.len()].copy_from_slice(text.as_bytes());
            }
            create_whole(&self.of(session, STATE_FILE), &state)
        };
        make().map_err(|error| self.failed(error))
    }

    fn end_session(&self, session: &SessionId) -> Result<(), StoreError> {
        *self.state.borrow_mut() = None;
        match fs::remove_file(self.of(session, STATE_FILE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    fn log(&self, session: &SessionId) -> String {
        read_text(&self.of(session, LOG_FILE)).unwrap_or_default()
    }

    fn append(&self, session: &SessionId, lines: &str) -> Result<Option<u64>, StoreError> {
        let append = || {
            let mut file = no_waiting().create(true).append(true).open(self.of(session, LOG_FILE))?;
            file.write_all(lines.as_bytes())?;
            Ok(file.metadata()?.len())
        };
        match append() {
            Ok(length) => Ok(Some(length)),
            Err(error) if std::io::Error::kind(&error) == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn replace_log(&self, session: &SessionId, text: &str) {
        let _ = replace_whole(&self.of(session, LOG_FILE), text.as_bytes());
    }

    fn sessions(&self) -> Vec<SessionFiles> {
        let entries = fs::read_dir(self.dir.join(SESSIONS)).into_iter().flatten().flatten();
        let sessions =
            entries.filter(|entry| entry.file_name() != consort_files::MARKER).map(|entry| SessionFiles {
                name: entry.file_name().to_string_lossy().into_owned(),
                log: read_text(&entry.path().join(LOG_FILE)).unwrap_or_default(),
                has_state: entry.path().join(STATE_FILE).exists(),
            });
        sessions.collect()
    }

    fn remove_session(&self, name: &str) {
        *self.state.borrow_mut() = None;
        let _ = OurDir::open(&self.dir.join(SESSIONS)).and_then(|ours| ours.remove_entry(name));
    }

    fn slot(&self, table: SlotTable, key: &str) -> Option<String> {
        slots::get(&self.dir, table, key)
    }

    fn set_slot(&self, table: SlotTable, key: &str, value: &str) -> Result<(), StoreError> {
        let set = || match table.buckets {
            0 => self.all_slots(table).put(key, value),
            _ => slots::put(&self.dir, table, key, value),
        };
        set().map_err(|error| self.failed(error))
    }

    fn free_slot(&self, table: SlotTable, key: &str) {
        let _ = self.all_slots(table).free(key);
    }

    fn keep(&self, name: &str, content: &[u8], now: Timestamp) -> Result<(), StoreError> {
        let now = UNIX_EPOCH + Duration::from_millis(now.0.try_into().unwrap_or_default());
        kept::put(&self.dir, name, content, now).map_err(|error| self.failed(error))
    }

    fn kept(&self, name: &str) -> Option<Vec<u8>> {
        kept::get(&self.dir, name)
    }

    fn forget_kept(&self, before: Timestamp) {
        kept::forget(&self.dir, before);
    }

    fn each_slot(&self, table: SlotTable, look: &mut dyn FnMut(&str, &str)) {
        let slots = Slots::read(&self.dir, table);
        slots.each().for_each(|(key, value)| look(key, value));
        *self.slots.borrow_mut() = Some(slots);
    }
}

impl StoreFiles {
    fn text_file(&self, name: &str) -> PathBuf {
        self.dir.join(published::DIR).join(format!("{:016x}", text::stable_hash(name.as_bytes())))
    }

    /// Returns the table that was read a moment ago, or reads it.
    fn all_slots(&self, table: SlotTable) -> Slots {
        let read = self.slots.borrow_mut().take().filter(|slots| slots.is_of(table));
        read.unwrap_or_else(|| Slots::read(&self.dir, table))
    }
}

/// Returns options to open a file without waiting: a pipe in its place would hold a hook up.
pub(crate) fn no_waiting() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).mode(0o600);
    options
}

/// Reads a text file of ours, of at most 1 MiB.
fn read_text(path: &Path) -> std::io::Result<String> {
    let bytes = consort_files::read_regular_file(path, 1 << 20)?;
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender may raise a flag while the session that it writes to is starting.
    #[test]
    fn a_flag_that_is_raised_while_a_session_starts_stays_raised() {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("consort.db");
        let raised = MailFlags { new: true, later: false, handed: false };
        for round in 0..500 {
            let session = SessionId::from(format!("s{round}"));
            let began = std::sync::Barrier::new(2);
            let at_once = |act: &dyn Fn(&dyn SideFiles) -> Result<(), StoreError>| {
                began.wait();
                act(&StoreFiles::beside(&store)).unwrap();
            };
            std::thread::scope(|scope| {
                scope.spawn(|| at_once(&|files| files.start_activity(&session, Timestamp(1))));
                at_once(&|files| files.set_mail_flags(&session, raised));
            });
            let files = StoreFiles::beside(&store);
            let files: &dyn SideFiles = &files;
            assert_eq!(files.mail_flags(&session), raised);
            assert!(files.activity(&session).is_some());
        }
        for session in fs::read_dir(dir.path().join(SESSIONS)).unwrap().flatten() {
            let files = fs::read_dir(session.path()).into_iter().flatten().count();
            assert!(files <= 1, "a temporary file was left");
        }
    }
}
