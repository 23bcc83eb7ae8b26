//! A fake machine for tests, whose clock, processes and repositories the test sets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::rc::Rc;

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::FileStamp;
use consort_core::claims::Pattern;
use consort_core::host::Clock;
use consort_core::host::Files;
use consort_core::host::NewsTopic;
use consort_core::host::Notifier;
use consort_core::host::PlacedDirectory;
use consort_core::host::Process;
use consort_core::host::Processes;
use consort_core::host::RealPath;
use consort_core::host::Repositories;
use consort_core::host::RootCommit;

/// A fake machine. Clones share its state.
#[derive(Clone)]
pub struct FakeHost(Rc<RefCell<Machine>>);

struct Machine {
    now: i64,
    random: u64,
    /// The running processes: the id of each, and a text for its start that tells reused ids apart.
    processes: BTreeMap<u32, String>,
    ancestors: Vec<u32>,
    notified: Vec<Vec<NewsTopic>>,
    /// The process that the test currently plays.
    me: u32,
    /// The files that were written: their text and the time in nanoseconds.
    files: BTreeMap<PathBuf, (String, i64)>,
}

impl Default for FakeHost {
    fn default() -> Self {
        Self(Rc::new(RefCell::new(Machine {
            now: 1_000_000,
            random: 0,
            processes: BTreeMap::new(),
            ancestors: Vec::new(),
            notified: Vec::new(),
            me: 0,
            files: BTreeMap::new(),
        })))
    }
}

impl FakeHost {
    pub fn advance(&self, milliseconds: i64) {
        self.0.borrow_mut().now += milliseconds;
    }

    /// Starts a process, or reuses its id with another start.
    pub fn start_process(&self, pid: u32, life: &str) -> Process {
        self.0.borrow_mut().processes.insert(pid, life.to_owned());
        process(pid, life)
    }

    pub fn kill(&self, pid: u32) {
        self.0.borrow_mut().processes.remove(&pid);
    }

    /// Sets the ancestors of the caller, nearest first.
    pub fn set_caller_ancestors(&self, ancestors: &[u32]) {
        self.0.borrow_mut().ancestors = ancestors.to_vec();
    }

    /// Makes the test play this process from now on.
    pub fn play_process(&self, pid: u32) {
        self.start_process(pid, "first");
        self.0.borrow_mut().me = pid;
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let mut machine = self.0.borrow_mut();
        let now = machine.now * 1_000_000;
        machine.files.insert(path.into(), (text.to_owned(), now));
    }

    pub fn notified(&self) -> usize {
        self.0.borrow().notified.len()
    }

    /// Returns the topics that were notified so far, and forgets them.
    pub fn take_notified(&self) -> Vec<NewsTopic> {
        std::mem::take(&mut self.0.borrow_mut().notified).concat()
    }

    /// Returns the topics of the last notification.
    pub fn last_notified(&self) -> Vec<NewsTopic> {
        self.0.borrow().notified.last().cloned().unwrap_or_default()
    }
}

fn process(pid: u32, life: &str) -> Process {
    Process { pid, start: life.to_owned(), tty: None, program: "agent".into() }
}

impl Clock for FakeHost {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.borrow().now)
    }

    fn random(&self) -> [u8; 10] {
        let mut machine = self.0.borrow_mut();
        machine.random = machine.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bytes = [0; 10];
        bytes[2..].copy_from_slice(&machine.random.to_be_bytes());
        bytes
    }
}

impl Processes for FakeHost {
    fn name(&self) -> String {
        "here".into()
    }

    fn process(&self, pid: u32) -> Option<Process> {
        self.0.borrow().processes.get(&pid).map(|life| process(pid, life))
    }

    fn is_alive(&self, process: &Process) -> bool {
        self.process(process.pid).is_some_and(|now| now.start == process.start)
    }

    fn ancestors_until(&self, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process> {
        let pids = self.0.borrow().ancestors.clone();
        let mut ancestors: Vec<Process> = pids.into_iter().filter_map(|pid| self.process(pid)).collect();
        let last = ancestors.iter().position(is_meant);
        ancestors.truncate(last.map_or(ancestors.len(), |last| last + 1));
        ancestors
    }

    fn me(&self) -> Option<Process> {
        let me = self.0.borrow().me;
        self.process(me)
    }
}

impl Repositories for FakeHost {
    /// Takes the first part of a path as the repository, the second as the worktree.
    fn place(&self, dir: &Path) -> PlacedDirectory {
        let parts: Vec<_> = dir.components().take(3).collect();
        PlacedDirectory {
            repository: parts.iter().take(2).collect(),
            worktree: parts.iter().collect(),
            origin: None,
            branch: Some("main".into()),
            is_git: false,
        }
    }

    fn branch(&self, _worktree: &Path) -> Option<String> {
        None
    }

    fn root_commit(&self, _worktree: &Path) -> RootCommit {
        RootCommit::Absent
    }

    fn has_changes(&self, _worktree: &Path, _pattern: &Pattern, _with_new: bool) -> Option<bool> {
        Some(true)
    }

    fn merge_conflicts(&self, _one: &Path, _other: &Path) -> Vec<String> {
        Vec::new()
    }

    fn changes(&self, _worktree: &Path) -> Vec<String> {
        Vec::new()
    }
}

impl Files for FakeHost {
    /// Splits a path like [`Repositories::place`]; only worktrees count as existing.
    fn locate(&self, path: &Path) -> RealPath {
        let PlacedDirectory { worktree, repository, .. } = self.place(path);
        let rest = path.strip_prefix(&worktree).unwrap_or(path).to_string_lossy().into_owned();
        let is_dir = rest.is_empty();
        RealPath { repository: Some(repository), worktree, path: rest, exists: is_dir, is_dir }
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn case(&self) -> Case {
        Case::Matters
    }

    fn stamp(&self, path: &Path) -> FileStamp {
        let changed = self.0.borrow().files.get(path).map_or(0, |(_, changed)| *changed);
        FileStamp { changed, size: 0 }
    }

    fn files(&self, _: &Path, _below: &str, _depth: Option<usize>, _most: usize) -> (Vec<String>, bool) {
        (Vec::new(), true)
    }

    fn text(&self, path: &Path) -> std::io::Result<String> {
        let machine = self.0.borrow();
        machine
            .files
            .get(path)
            .map(|(text, _)| text.clone())
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

impl Notifier for FakeHost {
    fn notify(&self, topics: &[NewsTopic]) {
        self.0.borrow_mut().notified.push(topics.to_vec());
    }
}
