//! `Machine`, which implements core's port to the host.

use std::cell::OnceCell;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use consort_core::Timestamp;
use consort_core::claims::Case;
use consort_core::claims::FileStamp;
use consort_core::claims::Pattern;
use consort_core::host::Clock;
use consort_core::host::FileContent;
use consort_core::host::Files;
use consort_core::host::NewsTopic;
use consort_core::host::Notifier;
use consort_core::host::PlacedDirectory;
use consort_core::host::Process;
use consort_core::host::Processes;
use consort_core::host::RealPath;
use consort_core::host::Repositories;
use consort_core::host::RootCommit;
use consort_core::monitor::TreeProcess;

use crate::files;
use crate::git;
use crate::machine_id;
use crate::notify;
use crate::process;
use crate::process_tree;
use crate::real_path;

/// The machine this process runs on.
pub struct Machine {
    data: PathBuf,
    boot: OnceCell<String>,
    place: OnceCell<PidSpace>,
}

/// The space in which process ids have one meaning: a machine and, unless it is the machine's own, a
/// process namespace.
struct PidSpace {
    machine: String,
    namespace: Option<String>,
}

impl Machine {
    /// Makes the adapter; `data` is our data directory.
    pub fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), boot: OnceCell::new(), place: OnceCell::new() }
    }

    fn seat(&self) -> &PidSpace {
        self.place.get_or_init(|| {
            let boot = self.boot().unwrap_or_default();
            let machine = machine_id::machine_id(&self.data.join("machine"), boot, || self.random());
            PidSpace { machine, namespace: process::namespace() }
        })
    }

    /// Returns a process and its ancestors, nearest first.
    pub fn lineage(&self, pid: u32) -> Vec<Process> {
        self.boot().map(|boot| process::lineage(pid, boot, &|_| false)).unwrap_or_default()
    }

    /// Returns a process and all below it, itself first.
    pub fn tree(&self, root: u32) -> Vec<TreeProcess> {
        self.boot().map(|boot| process_tree::tree(root, boot)).unwrap_or_default()
    }

    /// Lists every process that can be seen.
    pub(crate) fn all(&self) -> Vec<Process> {
        let all = self.boot().map(process_tree::all).unwrap_or_default();
        all.into_iter().map(|one| one.process).collect()
    }

    fn boot(&self) -> std::io::Result<&str> {
        if let Some(boot) = self.boot.get() {
            return Ok(boot);
        }
        let boot = process::boot()?;
        Ok(self.boot.get_or_init(|| boot))
    }
}

impl Clock for Machine {
    #[expect(clippy::disallowed_methods, reason = "this is where time comes from")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        // Were there no randomness, time and pid would still tell processes apart.
        if fill_random(&mut bytes).is_err() {
            bytes[..8].copy_from_slice(&self.now().0.to_le_bytes());
            bytes[6..].copy_from_slice(&std::process::id().to_le_bytes());
        }
        bytes
    }
}

impl Processes for Machine {
    fn name(&self) -> String {
        let PidSpace { machine, namespace } = self.seat();
        namespace.as_ref().map_or_else(|| machine.clone(), |namespace| format!("{machine}/{namespace}"))
    }

    fn is_here(&self, name: &str) -> bool {
        let PidSpace { machine, namespace } = self.seat();
        let is_it = match (name.split_once('/'), namespace) {
            (None, None) => name == machine,
            (Some((of, within)), Some(namespace)) => of == machine && within == namespace,
            _ => false,
        };
        is_it || process::former_machine_name(namespace.as_deref()) == name
    }

    fn is_alive_elsewhere(&self, name: &str, process: &Process) -> Option<bool> {
        let (machine, namespace) = name.split_once('/')?;
        if machine != self.seat().machine {
            return None;
        }
        process::lives_in(namespace, process.pid, &process.start, self.boot().ok()?)
    }

    fn process(&self, pid: u32) -> Option<Process> {
        process::stat(pid, self.boot().ok()?).ok().flatten().map(|stat| stat.process)
    }

    fn is_alive(&self, process: &Process) -> bool {
        match self.boot().and_then(|boot| process::stat(process.pid, boot)) {
            Ok(Some(now)) => now.process.start == process.start,
            Ok(None) => false,
            Err(_) => true,
        }
    }

    fn ancestors_until(&self, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process> {
        self.boot().map(|boot| process::ancestors(boot, is_meant)).unwrap_or_default()
    }

    fn is_ancestor(&self, process: &Process) -> bool {
        self.boot().is_ok_and(|boot| process::is_ancestor(process, boot))
    }

    fn me(&self) -> Option<Process> {
        let process = self.process(std::process::id())?;
        Some(Process { tty: None, program: String::new(), ..process })
    }
}

impl Repositories for Machine {
    fn place(&self, dir: &Path) -> PlacedDirectory {
        git::place(dir)
    }

    fn branch(&self, worktree: &Path) -> Option<String> {
        git::branch(worktree)
    }

    fn commit(&self, worktree: &Path) -> Option<String> {
        git::current_commit(worktree)
    }

    fn root_commit(&self, worktree: &Path) -> RootCommit {
        git::root_commit(worktree)
    }

    fn has_changes(&self, worktree: &Path, pattern: &Pattern, with_new: bool) -> Option<bool> {
        git::has_changes(worktree, pattern, with_new)
    }

    fn differing(&self, worktree: &Path, range: &[String], pattern: &Pattern) -> Vec<String> {
        git::differing(worktree, range, pattern)
    }

    fn would_overwrite_changes(&self, worktree: &Path, range: &[String], pattern: &Pattern) -> bool {
        git::would_overwrite_changes(worktree, range, pattern)
    }

    fn worktrees(&self, repository: &Path) -> Vec<PathBuf> {
        git::worktrees(repository)
    }

    fn ignored(&self, worktree: &Path, paths: &[&str]) -> Option<Vec<String>> {
        git::ignored(worktree, paths)
    }

    fn merge_conflicts(&self, one: &Path, other: &Path) -> Vec<String> {
        git::merge_conflicts(one, other)
    }

    fn changes(&self, worktree: &Path) -> Vec<String> {
        git::changes(worktree)
    }
}

impl Files for Machine {
    fn digest(&self, bytes: &[u8]) -> String {
        files::hash(bytes)
    }

    fn content_hash(&self, path: &Path) -> Option<String> {
        files::content_hash(path)
    }

    fn locate(&self, path: &Path) -> RealPath {
        real_path::locate(path)
    }

    fn real_path(&self, path: &Path) -> PathBuf {
        real_path::real_path(path)
    }

    fn case(&self) -> Case {
        if cfg!(target_os = "macos") { Case::Ignored } else { Case::Matters }
    }

    fn stamp(&self, path: &Path) -> FileStamp {
        files::stamp(path)
    }

    fn files(&self, worktree: &Path, below: &str, depth: Option<usize>, most: usize) -> (Vec<String>, bool) {
        files::below(worktree, below, depth, most)
    }

    fn content(&self, path: &Path, longest: u64) -> Option<FileContent> {
        files::content(path, longest)
    }

    fn put_back(
        &self,
        worktree: &Path,
        path: &str,
        content: &[u8],
        is_executable: bool,
    ) -> std::io::Result<()> {
        files::put_back(worktree, path, content, is_executable, &self.data.join("pending"))
    }

    fn text(&self, path: &Path) -> std::io::Result<String> {
        files::text(path)
    }
}

impl Notifier for Machine {
    fn notify(&self, topics: &[NewsTopic]) {
        notify::notify(&crate::paths::listeners(&self.data), topics);
    }
}

#[cfg(target_os = "linux")]
fn fill_random(bytes: &mut [u8]) -> std::io::Result<()> {
    rustix::rand::getrandom(bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn fill_random(bytes: &mut [u8]) -> std::io::Result<()> {
    use std::io::Read as _;
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}
