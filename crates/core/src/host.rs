//! The port to this machine: its clock, processes, repositories and files, and the
//! notifications that wake waiting processes.

use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::claims::Case;
use crate::claims::FileStamp;
use crate::claims::Pattern;
use crate::journal::Actor;
use crate::project::ProjectId;

/// Both ends of a connection over the network, as the served side sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionAddrs {
    pub peer: SocketAddr,
    pub local: SocketAddr,
}

/// All that the rules need of the machine.
pub trait Host: Clock + Processes + Repositories + Files + Notifier {}

impl<H: Clock + Processes + Repositories + Files + Notifier> Host for H {}

/// The time and random bytes.
pub trait Clock {
    fn now(&self) -> Timestamp;

    /// Returns ten unpredictable bytes, for ids and names.
    fn random(&self) -> [u8; 10];
}

/// The processes of this machine, and the scope in which their ids are valid.
pub trait Processes {
    /// Returns the name of the scope in which our process ids are valid: this machine's id, and
    /// the process namespace on it. The host's name is no part of it.
    fn name(&self) -> String;

    /// Tells whether `name` is the present name of this scope, or a former one.
    fn is_here(&self, name: &str) -> bool {
        self.name() == name
    }

    /// Tells whether a process of another scope lives, where that can be seen from here.
    fn is_alive_elsewhere(&self, _name: &str, _process: &Process) -> Option<bool> {
        None
    }

    /// Finds the running process with this id.
    fn process(&self, pid: u32) -> Option<Process>;

    /// Tells whether this process (same id, same start) still runs. If that cannot be told, it
    /// counts as alive: a full table of files is not a death.
    fn is_alive(&self, process: &Process) -> bool;

    /// Lists the caller's ancestors, nearest first.
    fn ancestors(&self) -> Vec<Process> {
        self.ancestors_until(&|_| false)
    }

    /// Lists the caller's ancestors up to and including the first for which `is_meant` is true.
    fn ancestors_until(&self, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process>;

    /// Tells whether a process is one of the caller's ancestors.
    fn is_ancestor(&self, process: &Process) -> bool {
        let above = self.ancestors_until(&|ancestor| ancestor.is(process));
        above.last().is_some_and(|last| last.is(process))
    }

    /// Returns this process.
    fn me(&self) -> Option<Process>;

    /// Returns this process, with the machine it runs on.
    fn own_machine_process(&self) -> Option<MachineProcess> {
        Some(MachineProcess { machine: self.name(), process: self.me()? })
    }

    /// Tells whether a process still runs, on this machine or where that can be seen from here.
    fn is_alive_anywhere(&self, one: &MachineProcess) -> bool {
        match self.is_here(&one.machine) {
            true => self.is_alive(&one.process),
            false => self.is_alive_elsewhere(&one.machine, &one.process).unwrap_or(false),
        }
    }
}

/// The facts that git knows of a directory.
pub trait Repositories {
    /// Finds the repository and the worktree that a directory belongs to.
    fn place(&self, dir: &Path) -> PlacedDirectory;

    /// Returns the branch checked out in a worktree now.
    fn branch(&self, worktree: &Path) -> Option<String>;

    /// Returns the commit checked out in a worktree now.
    fn commit(&self, _worktree: &Path) -> Option<String> {
        None
    }

    /// Finds the first commit of a repository; starts `git`, so **never while holding the write lock**.
    fn root_commit(&self, worktree: &Path) -> RootCommit;

    /// Tells whether any path of the pattern has uncommitted changes, untracked files included if
    /// `with_new`; `None` if git does not answer in time. Starts `git`.
    fn has_changes(&self, worktree: &Path, pattern: &Pattern, with_new: bool) -> Option<bool>;

    /// Lists the paths of the pattern that differ between commits, as far as git answers in time;
    /// `range` are arguments of `git diff`. Starts `git`.
    fn differing(&self, _worktree: &Path, _range: &[String], _pattern: &Pattern) -> Vec<String> {
        Vec::new()
    }

    /// Tells whether git would refuse to bring in the paths that differ, because one of them has
    /// uncommitted changes; starts `git`.
    fn would_overwrite_changes(&self, _worktree: &Path, _range: &[String], _pattern: &Pattern) -> bool {
        false
    }

    /// Lists the worktrees of a repository, its main one included, if it has more than one.
    fn worktrees(&self, _repository: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Lists those of the paths that git ignores; `None` if git does not answer. Starts `git`.
    fn ignored(&self, _worktree: &Path, _paths: &[&str]) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// Lists the paths that conflict between the commits of two worktrees; starts `git`.
    fn merge_conflicts(&self, one: &Path, other: &Path) -> Vec<String>;

    /// Lists the files of a worktree that differ from its last commit, each with the size of its
    /// change; starts `git`.
    fn changes(&self, worktree: &Path) -> Vec<String>;
}

/// The real places of paths, and the files there.
pub trait Files {
    /// Locates a path in its worktree; resolves links as far as the path exists.
    fn locate(&self, path: &Path) -> RealPath;

    /// Locates an entry of a directory: a link at the end of the path is not followed.
    fn locate_entry(&self, path: &Path) -> RealPath {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return self.locate(path) };
        let above = self.locate(parent);
        let path = Path::new(&above.path).join(name).to_string_lossy().into_owned();
        RealPath { path, is_dir: false, ..above }
    }

    /// Resolves links as far as the path exists: does less than [`Files::locate`].
    fn real_path(&self, path: &Path) -> PathBuf;

    /// Tells whether two spellings that differ in case only are one file here.
    fn case(&self) -> Case;

    /// Reads the stamp of a file, which tells whether it has changed.
    fn stamp(&self, path: &Path) -> FileStamp;

    /// Lists the files below a directory of a worktree, relative to the worktree, at most `depth`
    /// levels deep and at most `most`; also tells whether those are all.
    fn files(&self, worktree: &Path, below: &str, depth: Option<usize>, most: usize) -> (Vec<String>, bool);

    /// Returns a hash of a file's content.
    fn content_hash(&self, _path: &Path) -> Option<String> {
        None
    }

    /// Returns a hash of bytes, in hexadecimal.
    fn digest(&self, bytes: &[u8]) -> String {
        format!("{:016x}", crate::text::stable_hash(bytes))
    }

    /// Reads a file that is no link and not longer than `longest` bytes.
    fn content(&self, _path: &Path, _longest: u64) -> Option<FileContent> {
        None
    }

    /// Replaces or recreates a file of a worktree. No link is followed.
    fn put_back(
        &self,
        _worktree: &Path,
        _path: &str,
        _content: &[u8],
        _is_executable: bool,
    ) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// Reads a file as text.
    fn text(&self, path: &Path) -> std::io::Result<String>;
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    /// A hash of the content, in hexadecimal.
    pub hash: String,
    pub is_executable: bool,
}

/// The way to wake processes that wait for news.
pub trait Notifier {
    /// Wakes the processes that wait for any of these topics, and those that wait for everything.
    /// Called after the commit, never before.
    fn notify(&self, topics: &[NewsTopic]);
}

/// A subject of news that a process can wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewsTopic {
    /// News that concern everyone.
    Everyone,
    Project(ProjectId),
    Mailbox(Actor),
}

/// One life of one process: ids are reused, so the start tells lives apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pub pid: u32,
    /// Opaque: equal for the same life of the same process, never for another.
    pub start: String,
    /// The terminal that the process is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The program's short name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
}

impl Process {
    /// Tells whether both are the same life of the same process.
    pub fn is(&self, other: &Process) -> bool {
        self.pid == other.pid && self.start == other.start
    }
}

/// A process, with the machine and process namespace in which its id is valid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineProcess {
    pub machine: String,
    pub process: Process,
}

/// The first commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCommit {
    Found(String),
    /// The repository has no commits.
    Absent,
    /// `git` did not answer, or is not here: a later call may succeed.
    Unknown,
}

/// The worktree and repository of a directory: all worktrees of a repository share `repository`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedDirectory {
    /// The root of the worktree, or of the marked or plain directory.
    pub worktree: PathBuf,
    /// The repository's common directory; without one, the worktree itself.
    pub repository: PathBuf,
    /// `remote.origin.url`, as configured.
    pub origin: Option<String>,
    pub branch: Option<String>,
    pub is_git: bool,
}

/// The real place of a path: symbolic links are followed, `.` and `..` are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealPath {
    /// The common directory of the path's repository, if it is in one.
    pub repository: Option<PathBuf>,
    /// The root of the path's worktree; outside of any repository, of the file system.
    pub worktree: PathBuf,
    /// The path relative to the worktree; outside of any repository, absolute.
    pub path: String,
    pub exists: bool,
    pub is_dir: bool,
}
