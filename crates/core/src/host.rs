//! The port to this machine: its clock, processes, repositories and files, and the
//! notifications that wake waiting processes.

use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::Timestamp;
use crate::claims::Case;
use crate::claims::Pattern;
use crate::claims::Stamp;
use crate::journal::Actor;
use crate::project::ProjectId;

/// Both ends of a connection over the network, as the served side sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionAddrs {
    pub peer: SocketAddr,
    pub local: SocketAddr,
}

/// What the rules need of the machine.
pub trait Host: Clock + Processes + Repositories + Files + Notifier {}

impl<H: Clock + Processes + Repositories + Files + Notifier> Host for H {}

/// The time, and what cannot be foreseen.
pub trait Clock {
    fn now(&self) -> Timestamp;

    /// Ten unpredictable bytes, for ids and names.
    fn random(&self) -> [u8; 10];
}

/// Which processes run here, and where that is.
pub trait Processes {
    /// Where process ids mean what they mean to us: this machine, and the process
    /// namespace on it. The host's name is no part of it.
    fn name(&self) -> String;

    /// Whether that is here, under this or an earlier name.
    fn is_here(&self, name: &str) -> bool {
        self.name() == name
    }

    /// Whether a process elsewhere lives, where that can be seen from here.
    fn is_alive_elsewhere(&self, _name: &str, _process: &Process) -> Option<bool> {
        None
    }

    /// The process with this id as it runs now.
    fn process(&self, pid: u32) -> Option<Process>;

    /// Whether that very life of that process goes on. What cannot be told
    /// counts as alive: a full table of files is not a death.
    fn is_alive(&self, process: &Process) -> bool;

    /// The caller's ancestors, nearest first.
    fn ancestors(&self) -> Vec<Process> {
        self.ancestors_until(&|_| false)
    }

    /// The same up to the first that is meant, itself included.
    fn ancestors_until(&self, is_meant: &dyn Fn(&Process) -> bool) -> Vec<Process>;

    /// Whether that is one of the caller's ancestors.
    fn is_ancestor(&self, process: &Process) -> bool {
        let above = self.ancestors_until(&|ancestor| ancestor.is(process));
        above.last().is_some_and(|last| last.is(process))
    }

    /// This process.
    fn me(&self) -> Option<Process>;

    /// This process, and where it runs.
    fn own_machine_process(&self) -> Option<MachineProcess> {
        Some(MachineProcess { machine: self.name(), process: self.me()? })
    }

    /// Whether a process goes on, here or where that can be seen from here.
    fn is_alive_anywhere(&self, one: &MachineProcess) -> bool {
        match self.is_here(&one.machine) {
            true => self.is_alive(&one.process),
            false => self.is_alive_elsewhere(&one.machine, &one.process).unwrap_or(false),
        }
    }
}

/// What git knows of a directory.
pub trait Repositories {
    /// Where a directory belongs: its checkout, and what is checked out.
    fn place(&self, dir: &Path) -> Place;

    /// The branch checked out in a worktree now.
    fn branch(&self, worktree: &Path) -> Option<String>;

    /// The commit checked out in a worktree now.
    fn commit(&self, _worktree: &Path) -> Option<String> {
        None
    }

    /// The first commit of a repository; starts `git`, so **never while holding
    /// the write lock**.
    fn root_commit(&self, worktree: &Path) -> RootCommit;

    /// Whether anything that the pattern means is uncommitted, files that git
    /// does not know included or not, if git tells in time; starts `git`.
    fn has_changes(&self, worktree: &Path, pattern: &Pattern, with_new: bool) -> Option<bool>;

    /// What the pattern means and is different between commits, as `git diff` is asked for
    /// them, as far as it tells in time; starts `git`.
    fn differing(&self, _worktree: &Path, _range: &[String], _pattern: &Pattern) -> Vec<String> {
        Vec::new()
    }

    /// Whether git would refuse to bring in what differs there, because a file of it has
    /// changes that are not committed; starts `git`.
    fn would_overwrite_changes(&self, _worktree: &Path, _range: &[String], _pattern: &Pattern) -> bool {
        false
    }

    /// The worktrees of a repository, itself included, if it has more than one.
    fn worktrees(&self, _repository: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Which of these paths git ignores; `None` if it does not tell. Starts `git`.
    fn ignored(&self, _worktree: &Path, _paths: &[&str]) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// What conflicts between the commits that two worktrees are at; starts
    /// `git`.
    fn merge_conflicts(&self, one: &Path, other: &Path) -> Vec<String>;

    /// The files of a worktree that differ from its last commit, with how much;
    /// starts `git`.
    fn changes(&self, worktree: &Path) -> Vec<String>;
}

/// Where paths really are, and what is there.
pub trait Files {
    /// Where a path really is, as far as it exists.
    fn locate(&self, path: &Path) -> Located;

    /// The same of an entry in a directory: a link is itself meant.
    fn locate_entry(&self, path: &Path) -> Located {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return self.locate(path) };
        let above = self.locate(parent);
        let path = Path::new(&above.path).join(name).to_string_lossy().into_owned();
        Located { path, is_dir: false, ..above }
    }

    /// The path without links, as far as it exists: less than [`Files::locate`].
    fn real_path(&self, path: &Path) -> PathBuf;

    /// Whether two spellings that differ in case only are one file here.
    fn case(&self) -> Case;

    /// The state a file is in.
    fn stamp(&self, path: &Path) -> Stamp;

    /// The files below a directory of a worktree, relative to it, so many levels
    /// deep and at most so many; and whether those are all.
    fn files(&self, worktree: &Path, below: &str, depth: Option<usize>, most: usize) -> (Vec<String>, bool);

    /// What tells a file's content from any other.
    fn content_hash(&self, _path: &Path) -> Option<String> {
        None
    }

    /// What tells some bytes from any others, in hexadecimal.
    fn digest(&self, bytes: &[u8]) -> String {
        format!("{:016x}", crate::text::checksum(bytes))
    }

    /// A file that is no link, if it is not longer than that.
    fn content(&self, _path: &Path, _longest: u64) -> Option<FileContent> {
        None
    }

    /// Puts a file of a worktree in the place of what is there. No link is followed.
    fn put_back(
        &self,
        _worktree: &Path,
        _path: &str,
        _content: &[u8],
        _is_executable: bool,
    ) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    /// A file's text.
    fn text(&self, path: &Path) -> std::io::Result<String>;
}

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    pub bytes: Vec<u8>,
    /// What tells it from any other content, in hexadecimal.
    pub hash: String,
    pub is_executable: bool,
}

/// Wakes those who wait for news.
pub trait Notifier {
    /// Wakes those who wait for any of these, and those who wait for
    /// everything. Called after the commit, never before.
    fn notify(&self, topics: &[Topic]);
}

/// What one may wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
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
    /// The terminal it is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tty: Option<String>,
    /// The program's short name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
}

impl Process {
    /// Whether that is the same life of the same process.
    pub fn is(&self, other: &Process) -> bool {
        self.pid == other.pid && self.start == other.start
    }
}

/// A process, and the machine and process namespace that its id means something on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineProcess {
    pub machine: String,
    pub process: Process,
}

/// The first commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCommit {
    Found(String),
    /// It has no commits.
    Absent,
    /// `git` did not answer, or is not here: another time it may.
    Unknown,
}

/// A directory, placed: all worktrees of a repository share `repository`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The root of the worktree, or of the marked or plain directory.
    pub worktree: PathBuf,
    /// The repository's common directory; without one, the worktree itself.
    pub repository: PathBuf,
    /// `remote.origin.url`, as configured.
    pub origin: Option<String>,
    pub branch: Option<String>,
    pub is_git: bool,
}

/// A path, located: symbolic links are followed, `.` and `..` are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The repository's common directory, if it is in one.
    pub repository: Option<PathBuf>,
    /// The root of its worktree; outside of any repository, of the file system.
    pub worktree: PathBuf,
    /// Relative to the worktree; outside of any repository, absolute.
    pub path: String,
    pub exists: bool,
    pub is_dir: bool,
}
