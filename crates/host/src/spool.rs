//! The spool directory on this machine, through which commands leave a sandbox that keeps them from
//! writing the store.
//!
//! A command in such a sandbox puts an empty file into a directory that it may write, and the MCP server
//! of the same agent, which runs outside, carries the command out. **The server trusts only the kernel**,
//! because every agent in a sandbox can write that directory: the lock on the file tells which process
//! asks, across process namespaces; the request is that process's own command line, to be run in its own
//! directory. The answer goes into memory that the asking process has open, and that nobody else can
//! reach by a name.
//!
//! The server reads the directory and writes nothing to it.

use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::FileExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_core::text;
use rustix::fs::Dir;
use rustix::fs::FlockOperation;
use rustix::fs::MemfdFlags;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::fs::SealFlags;
use rustix::fs::flock;
use rustix::fs::inotify;
use rustix::process::Flock;
use rustix::process::FlockType;

use crate::process::read_proc;
use crate::process::variable_in;

/// Longest wait for a server to take a request.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two looks for the answer.
const LOOK: Duration = Duration::from_millis(10);

/// Most bytes of an answer.
const LONGEST: u64 = 4 << 20;

/// The byte that ends an answer; JSON never contains it.
const END: u8 = 0;

/// The content of the memory from the moment a server takes the request. **A request is taken once**: a
/// server that finds this or an answer in the memory leaves the request alone.
const TAKEN: &[u8] = b" ";

/// Most words that a command line may have.
const MOST_WORDS: usize = 1_000;

/// The name of the memory for an answer.
const MEMORY: &str = "consort-answer";

/// The directory of requests, as the MCP server watches it.
pub struct Spool {
    dir: OwnedFd,
    news: OwnedFd,
}

/// A request that this server has taken and is to carry out.
pub struct SpoolRequest {
    pid: u32,
    /// The command line of the process that asks.
    pub words: Vec<OsString>,
    /// The directory of that process, opened: a path could lead elsewhere a moment later.
    cwd: OwnedFd,
    environment: Vec<u8>,
    /// The memory for the answer, locked while the request is worked on.
    memory: File,
}

/// The outcome of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum SpoolOutcome {
    Answered(Vec<u8>),
    /// No server took the request: nothing was done.
    NobodyThere,
    /// The server that took the request ended before it had answered.
    Unknown,
}

/// Asks a server to carry out this process's own command line, and waits for the answer.
pub fn ask(data: &Path, id: &str) -> io::Result<SpoolOutcome> {
    let dir = open_dir(&dir(data))?;
    let memory = rustix::fs::memfd_create(MEMORY, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let memory = File::from(memory);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A server knows a request by its lock, which comes a moment after the file; `wait` has the server
    // look at the file again.
    sweep(&dir);
    let file = rustix::fs::openat(&dir, id, flags, Mode::from_raw_mode(0o600))?;
    rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let asked = wait(&memory, || rustix::fs::futimens(&file, &NOW).is_ok());
    let _ = rustix::fs::unlinkat(&dir, id, rustix::fs::AtFlags::empty());
    asked
}

const NOW: rustix::fs::Timestamps = {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    rustix::fs::Timestamps { last_access: now, last_modification: now }
};

/// Waits for the answer; `call` draws the servers' attention to the request.
fn wait(memory: &File, call: impl Fn() -> bool) -> io::Result<SpoolOutcome> {
    let (since, mut is_taken) = (Instant::now(), false);
    loop {
        // While this process holds the lock no server can take the request.
        let is_worked_on = flock(memory, FlockOperation::NonBlockingLockExclusive).is_err();
        if let Some(answer) = answer(memory)? {
            return Ok(SpoolOutcome::Answered(answer));
        }
        is_taken |= is_worked_on || memory.metadata()?.size() > 0;
        match (is_taken, is_worked_on) {
            (true, false) => return Ok(SpoolOutcome::Unknown),
            (false, false) if since.elapsed() > PATIENCE => return Ok(SpoolOutcome::NobodyThere),
            (false, false) => {
                flock(memory, FlockOperation::Unlock)?;
                call();
            }
            (_, true) => {}
        }
        std::thread::sleep(LOOK);
    }
}

/// Removes old requests whose processes have ended.
fn sweep(dir: &OwnedFd) {
    for entry in Dir::read_from(dir).into_iter().flatten().flatten() {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(dir, entry.file_name(), flags, Mode::empty()) else { continue };
        let file = File::from(file);
        let is_old = file.metadata().and_then(|found| found.modified()?.elapsed().map_err(io::Error::other));
        if is_old.is_ok_and(|age| age > 30 * PATIENCE) && !is_locked(&file) {
            let _ = rustix::fs::unlinkat(dir, entry.file_name(), rustix::fs::AtFlags::empty());
        }
    }
}

/// Reads the answer, once it is complete.
fn answer(memory: &File) -> io::Result<Option<Vec<u8>>> {
    let mut answer = vec![0; memory.metadata()?.size().min(LONGEST + 1) as usize];
    let is_whole = memory.read_exact_at(&mut answer, 0).is_ok() && answer.pop() == Some(END);
    Ok(is_whole.then_some(answer))
}

impl Spool {
    /// Opens the directory of requests, and makes it if it is missing.
    pub fn open(data: &Path) -> io::Result<Self> {
        let path = dir(data);
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let dir = open_dir(&path)?;
        let news = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        // Watches the directory that was opened, whatever is at its path by now.
        let opened = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&dir));
        let flags =
            inotify::WatchFlags::CREATE | inotify::WatchFlags::ATTRIB | inotify::WatchFlags::DELETE_SELF;
        inotify::add_watch(&news, opened, flags)?;
        Ok(Self { dir, news })
    }

    /// Whether the directory was removed: nobody can ask there any more.
    pub fn is_gone(&self) -> bool {
        rustix::fs::fstat(self.dir.as_fd()).is_ok_and(|found| found.st_nlink == 0)
    }

    /// Sleeps until there is a request, at most for `longest`.
    pub fn wait(&self, longest: Duration) -> io::Result<()> {
        use rustix::event::PollFd;
        use rustix::event::PollFlags;
        let timeout = rustix::event::Timespec::try_from(longest).map_err(io::Error::other)?;
        let mut ready = [PollFd::new(&self.news, PollFlags::IN)];
        match rustix::event::poll(&mut ready, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut news = [0; 4_096];
        while rustix::io::read(&self.news, &mut news).is_ok_and(|length| length > 0) {}
        Ok(())
    }

    /// Takes the requests of processes that are ours, at most `room`.
    pub fn take(&self, is_ours: &dyn Fn(u32) -> bool, room: usize) -> Vec<SpoolRequest> {
        let Ok(entries) = Dir::read_from(&self.dir) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_owned());
        names.filter_map(|name| take(&self.dir, &name, is_ours)).take(room).collect()
    }
}

fn take(dir: &OwnedFd, name: &std::ffi::CStr, is_ours: &dyn Fn(u32) -> bool) -> Option<SpoolRequest> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?);
    let pid = holder(&file).filter(|pid| is_ours(*pid))?;
    let memory = memory_of(pid)?;
    // Only one server gets the lock, and loses it when it closes the file or ends.
    flock(&memory, FlockOperation::NonBlockingLockExclusive).ok()?;
    if memory.metadata().ok()?.size() > 0 {
        return None;
    }
    let line = read_proc(pid, "cmdline")?;
    let words =
        line.strip_suffix(b"\0")?.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec()));
    let words = words.take(MOST_WORDS + 1).collect::<Vec<_>>();
    let environment = read_proc(pid, "environ")?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let cwd = rustix::fs::open(format!("/proc/{pid}/cwd"), flags, Mode::empty()).ok()?;
    // The same process still holds the lock, so what was read above was its own.
    if words.len() > MOST_WORDS || holder(&file) != Some(pid) || !is_ours(pid) {
        return None;
    }
    memory.write_all_at(TAKEN, 0).ok()?;
    Some(SpoolRequest { pid, words, cwd, environment, memory })
}

/// Opens the memory that a process has for its answer. **Nothing but such memory is opened**: a file that
/// the process may only read would become writable this way.
fn memory_of(pid: u32) -> Option<File> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let is_named = |path: &PathBuf| {
        fs::read_link(path)
            .is_ok_and(|target| target.as_os_str() == format!("/memfd:{MEMORY} (deleted)").as_str())
    };
    let path = files.map(|file| file.path()).find(is_named)?;
    let memory = File::options().read(true).open(&path).ok()?;
    let is_memory = |file: &File| {
        let is_nameless = file.metadata().is_ok_and(|found| found.is_file() && found.nlink() == 0);
        // Of all files only memory (`memfd`) can be sealed.
        is_nameless && rustix::fs::fcntl_get_seals(file).is_ok_and(|seals| !seals.contains(SealFlags::SEAL))
    };
    if !is_memory(&memory) {
        return None;
    }
    let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&memory));
    File::options().read(true).write(true).open(own).ok().filter(is_memory)
}

impl SpoolRequest {
    /// Returns a path of the asking process's directory that stays valid for as long as this request
    /// lives, here and in a process that is being started.
    pub fn cwd(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.cwd)))
    }

    /// Returns a variable of the asking process's environment.
    pub fn variable(&self, name: &str) -> Option<OsString> {
        variable_in(&self.environment, name)
    }

    /// Whether the asking process still lives.
    pub fn is_waited_for(&self) -> bool {
        fs::read_link(format!("/proc/{}/cwd", self.pid)).is_ok()
    }

    /// Hands the answer to the process that asked.
    pub fn answer(self, mut answer: Vec<u8>) -> io::Result<()> {
        answer.push(END);
        match answer.len() as u64 > LONGEST {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => self.memory.write_all_at(&answer, 0),
        }
    }
}

/// Returns the directory of the requests for a data directory, in a place that sandboxes let commands
/// write.
fn dir(data: &Path) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    PathBuf::from(format!(
        "/tmp/consort-{user}-{:016x}",
        text::stable_hash(data.as_os_str().as_encoded_bytes())
    ))
}

/// Opens the directory of requests; an error unless it is this user's alone.
fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = rustix::fs::open(path, flags, Mode::empty())?;
    let found = rustix::fs::fstat(dir.as_fd())?;
    if found.st_uid != rustix::process::getuid().as_raw() || found.st_mode & 0o077 != 0 {
        let text = format!("{} is not a private directory of yours", path.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(dir)
}

fn is_locked(file: &File) -> bool {
    !matches!(rustix::process::fcntl_getlk(file, &Flock::from(FlockType::WriteLock)), Ok(None))
}

/// Returns the process that holds a lock on a file, by its id in our namespace; `None` if there is no
/// lock, or no such id.
fn holder(file: &File) -> Option<u32> {
    let lock = rustix::process::fcntl_getlk(file, &Flock::from(FlockType::WriteLock)).ok()??;
    lock.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another process that makes a request.
    struct Asker(std::process::Child);

    impl Asker {
        fn start(dir: &Path, script: &str) -> Self {
            Self::with_words(dir, script, &[])
        }

        fn with_words(dir: &Path, script: &str, words: &[&str]) -> Self {
            let common = "import fcntl, os, sys, time\ndef file(name):\n f = open(os.path.join(sys.argv[1], name), 'w')\n \
                          fcntl.lockf(f, fcntl.LOCK_EX)\n return f\n";
            let mut python = std::process::Command::new("python3");
            python.arg("-c").arg(format!("{common}{script}\nprint(flush=True)\nsys.stdin.read()")).arg(dir);
            python.args(words);
            python.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = python.spawn().unwrap();
            let _ = io::Read::read(child.stdout.as_mut().unwrap(), &mut [0]);
            Self(child)
        }
    }

    impl Drop for Asker {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    const ASKS: &str = "f = file('a'); m = os.memfd_create('consort-answer', os.MFD_ALLOW_SEALING)";

    fn take_all(dir: &Path, is_ours: impl Fn(u32) -> bool) -> Vec<SpoolRequest> {
        let dir = open_dir(dir).unwrap();
        let names = Dir::read_from(&dir).unwrap().flatten().map(|entry| entry.file_name().to_owned());
        names.filter_map(|name| take(&dir, &name, &is_ours)).collect()
    }

    fn private_dir() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        dir
    }

    #[test]
    fn the_kernel_says_who_asks_for_what_and_one_takes_it() {
        let dir = private_dir();
        let asker = Asker::start(dir.path(), ASKS);
        let pid = asker.0.id();
        assert!(take_all(dir.path(), |asks| asks != pid).is_empty());
        // A hard link to a request is the same request, and is taken once.
        fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
        let mut taken = take_all(dir.path(), |asks| asks == pid);
        assert_eq!(taken.len(), 1);
        assert!(take_all(dir.path(), |_| true).is_empty());
        let taken = taken.remove(0);
        assert_eq!(taken.cwd().canonicalize().unwrap(), std::env::current_dir().unwrap());
        assert_eq!(taken.variable("HOME"), std::env::var_os("HOME"));
        assert_eq!(taken.words[1], "-c");
        assert_eq!(taken.words.last().unwrap(), dir.path().as_os_str());
        assert!(taken.is_waited_for());
        let memory = memory_of(pid).unwrap();
        assert_eq!(answer(&memory).unwrap(), None);
        taken.answer(b"done".to_vec()).unwrap();
        assert_eq!(answer(&memory).unwrap(), Some(b"done".to_vec()));
        // A request is not taken again either while its answer is unread.
        assert!(take_all(dir.path(), |_| true).is_empty());
    }

    /// Nobody knows how much a killed server has done: no other server may begin again.
    #[test]
    fn what_was_taken_is_not_taken_again() {
        let dir = private_dir();
        let asker = Asker::start(dir.path(), ASKS);
        drop(take_all(dir.path(), |asks| asks == asker.0.id()));
        assert!(take_all(dir.path(), |_| true).is_empty());
    }

    #[test]
    fn a_command_line_without_end_is_not_read() {
        let dir = private_dir();
        let _asker = Asker::with_words(dir.path(), ASKS, &["x"; MOST_WORDS]);
        assert!(take_all(dir.path(), |_| true).is_empty());
    }

    /// A file would become writable if it were opened as the memory for an answer.
    #[test]
    fn no_file_is_taken_for_memory() {
        let dir = private_dir();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        for script in [
            "f = file('a'); m = open(os.path.join(sys.argv[1], 'victim'))",
            "f = file('a'); p = os.path.join(sys.argv[1], 'memfd:consort-answer'); m = open(p, 'w+'); os.remove(p)",
            "f = file('a'); m = os.memfd_create('consort-answer')",
        ] {
            let asker = Asker::start(dir.path(), script);
            assert!(take_all(dir.path(), |asks| asks == asker.0.id()).is_empty(), "{script}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn what_is_no_file_with_a_lock_is_passed_over() {
        let dir = private_dir();
        fs::write(dir.path().join("unlocked"), "").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join("dir")).unwrap();
        assert!(
            std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success()
        );
        assert!(take_all(dir.path(), |_| true).is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }
}
