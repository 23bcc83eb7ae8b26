//! Implements the port to the knowledge file in git: takes the file in in a process of its own, and gathers
//! the worktrees whose file has to be written again.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use consort_core::knowledge::GitFile;
use consort_core::knowledge::GitFileStamp;
use consort_core::knowledge::TakenIn;
use consort_knowledge::document;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;

use super::file;

/// Longest time that a hook, and that everybody else, waits for a file to be taken in.
const HOOK_PATIENCE: Duration = Duration::from_millis(1_000);
const PATIENCE: Duration = Duration::from_secs(60);

/// Time that a server waits for more changes before it writes the file.
const QUIET: Duration = Duration::from_millis(200);

/// The port for hooks, which never write the file: nothing is recorded there that could not wait.
pub(crate) struct HookFile;

impl GitFile for HookFile {
    fn stamp(&self, worktree: &Path) -> Option<GitFileStamp> {
        file::stamp(worktree)
    }

    fn take_in(&self, worktree: &Path) -> TakenIn {
        in_a_child(worktree, HOOK_PATIENCE)
    }

    fn scrub(&self, update: &str, entities: &BTreeSet<String>) -> Option<String> {
        document::scrub_update(update, entities)
    }

    fn request_write(&self, _worktree: &Path) {}
}

/// The port for commands and servers. A command writes the file when it ends, a server soon after something
/// was recorded, and when it ends.
#[derive(Default)]
pub(crate) struct SavedFiles(Arc<Shared>);

#[derive(Default)]
struct Shared {
    due: Mutex<PendingSave>,
    /// Held while files are written, so that the end of the process waits for that.
    writing: Mutex<()>,
}

/// A function that writes the file of a worktree.
type Save = Arc<dyn Fn(&Path) + Send + Sync>;

#[derive(Default)]
struct PendingSave {
    worktrees: BTreeSet<PathBuf>,
    /// The worktrees whose settings were read, and whether these want the file written.
    wanted: BTreeMap<PathBuf, bool>,
    /// The function by which a server writes a file; a command takes the due worktrees when it ends.
    save: Option<Save>,
    is_awaited: bool,
}

impl SavedFiles {
    /// Returns a second handle to the same state.
    pub(crate) fn share(&self) -> Arc<dyn GitFile> {
        Arc::new(Self(Arc::clone(&self.0)))
    }

    /// Notes whether the settings of a worktree want the file written, so that nobody reads them twice.
    pub(crate) fn set_wanted(&self, worktree: &Path, is_wanted: bool) {
        lock(&self.0.due).wanted.insert(worktree.to_owned(), is_wanted);
    }

    /// Has files written while the process goes on, from now on.
    pub(crate) fn save_in_background(&self, save: impl Fn(&Path) + Send + Sync + 'static) {
        lock(&self.0.due).save = Some(Arc::new(save));
    }

    /// Takes the worktrees whose file has to be written.
    pub(crate) fn take_due(&self) -> Vec<PathBuf> {
        let mut due = lock(&self.0.due);
        let worktrees = std::mem::take(&mut due.worktrees);
        let is_wanted = |worktree: &PathBuf| due.wanted.get(worktree).copied().unwrap_or(true);
        worktrees.into_iter().filter(is_wanted).collect()
    }

    /// Writes the files that are due, and waits for those being written.
    pub(crate) fn finish(&self) {
        self.0.write();
    }
}

impl Shared {
    fn write(&self) {
        let _turn = lock(&self.writing);
        let (worktrees, save) = {
            let mut due = lock(&self.due);
            due.is_awaited = false;
            (std::mem::take(&mut due.worktrees), due.save.clone())
        };
        if let Some(save) = save {
            worktrees.iter().for_each(|worktree| save(worktree));
        }
    }
}

impl GitFile for SavedFiles {
    fn stamp(&self, worktree: &Path) -> Option<GitFileStamp> {
        file::stamp(worktree)
    }

    fn take_in(&self, worktree: &Path) -> TakenIn {
        in_a_child(worktree, PATIENCE)
    }

    fn scrub(&self, update: &str, entities: &BTreeSet<String>) -> Option<String> {
        document::scrub_update(update, entities)
    }

    fn request_write(&self, worktree: &Path) {
        let mut due = lock(&self.0.due);
        due.worktrees.insert(worktree.to_owned());
        if due.save.is_some() && !due.is_awaited {
            let shared = Arc::clone(&self.0);
            let wait = move || {
                std::thread::sleep(QUIET);
                shared.write();
            };
            due.is_awaited = std::thread::Builder::new().name("saver".into()).spawn(wait).is_ok();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_a_child(worktree: &Path, patience: Duration) -> TakenIn {
    let started = std::env::current_exe().and_then(|this| {
        let mut child = Command::new(this);
        child.args(["know", "take-in"]).current_dir(worktree);
        child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    });
    match started {
        Ok(child) => ended(child, patience),
        Err(error) => TakenIn::Failed(format!("cannot run consort: {error}")),
    }
}

/// Waits for a child, for so long at most, and returns the outcome.
fn ended(mut child: Child, patience: Duration) -> TakenIn {
    let Some(mut said) = child.stderr.take() else { return TakenIn::Later };
    let end = std::time::Instant::now() + patience;
    let mut text = Vec::new();
    loop {
        let left = end.saturating_duration_since(std::time::Instant::now());
        let mut news = [PollFd::new(&said, PollFlags::IN)];
        let left = Timespec::try_from(left).ok();
        match rustix::event::poll(&mut news, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            Ok(0) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return TakenIn::Later;
            }
            Ok(_) => {}
        }
        let mut piece = [0; 1 << 10];
        match said.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(length) => text.extend_from_slice(&piece[..length]),
        }
    }
    match child.wait() {
        Ok(status) if status.success() => TakenIn::Now,
        Ok(status) if status.code().is_none() => TakenIn::Failed(
            "the project's knowledge file cannot be read; `consort know save` writes it anew".into(),
        ),
        _ => TakenIn::Failed(String::from_utf8_lossy(&text).trim_start_matches("Error: ").to_owned()),
    }
}
