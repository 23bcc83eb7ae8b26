//! The way out of a sandbox that keeps commands from writing the store.
//!
//! A command that runs in one puts a request into a directory that such sandboxes
//! let it write, and our MCP server of the same agent, which runs outside, carries
//! it out. **Who asks is what the kernel says, not what the request says**: whoever
//! asks holds a lock on its request for as long as it waits, and the kernel names
//! the process that holds a lock, across process namespaces.
//!
//! A request is `<id>.ask`; whoever carries it out renames it to `<id>.taken`, which
//! succeeds once, and leaves `<id>.answer`.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use consort_core::host::Topic;
use consort_core::text;
use rustix::fs::FlockOperation;
use rustix::process::Flock;
use rustix::process::FlockType;

use crate::bell;
use crate::bell::Bell;

/// How long to wait for somebody to take a request.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often whoever asks looks for the answer.
const LOOK: Duration = Duration::from_millis(10);

/// More than any command line or answer of ours.
const LONGEST: u64 = 4 << 20;

/// The directory of requests that belongs to a data directory.
pub struct Spool {
    dir: PathBuf,
}

/// A request that is ours to carry out.
pub struct Taken {
    /// The process that asked.
    pub pid: u32,
    pub request: Vec<u8>,
    file: File,
    path: PathBuf,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    Answered(Vec<u8>),
    /// Nobody took it: nothing was done.
    NobodyThere,
    /// Whoever took it ended before it had answered.
    Unknown,
}

impl Spool {
    /// Makes the directory where it is missing.
    pub fn create(data: &Path) -> io::Result<Self> {
        match fs::DirBuilder::new().mode(0o700).create(dir(data)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Self::open(data),
        }
    }

    /// It is where every user may write, so it counts only if it is this user's alone.
    pub fn open(data: &Path) -> io::Result<Self> {
        let (dir, user) = (dir(data), rustix::process::getuid().as_raw());
        let found = fs::symlink_metadata(&dir)?;
        if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
            let text = format!("{} is not a private directory of yours", dir.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        Ok(Self { dir })
    }

    /// Whether anyone is there to take requests.
    pub fn is_attended(&self) -> bool {
        bell::ring(&self.bells(), &[Topic::Everyone])
    }

    /// Asks for something, and waits until it was done.
    pub fn ask(&self, id: &str, request: &[u8]) -> io::Result<Asked> {
        let name = |what: &str| self.dir.join(format!("{id}.{what}"));
        let (new, ask, answer) = (name("new"), name("ask"), name("answer"));
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        let placed = file.write_all(request).and_then(|()| {
            rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
            fs::rename(&new, &ask)
        });
        if let Err(error) = placed {
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        let (since, mut rung) = (Instant::now(), None::<Instant>);
        loop {
            if let Ok(answer) = read_and_remove(&answer) {
                return Ok(Asked::Answered(answer));
            }
            let is_taken = !ask.exists();
            if rung.is_none_or(|rung| rung.elapsed() > PATIENCE) {
                let is_anyone_there = self.is_attended();
                if is_taken && !is_anyone_there {
                    // It may have answered as its last act.
                    let last = read_and_remove(&answer);
                    return Ok(last.map_or(Asked::Unknown, Asked::Answered));
                }
                rung = is_anyone_there.then(Instant::now);
            }
            let is_hopeless = rung.is_none() || since.elapsed() > PATIENCE;
            // Taken back before anyone has taken it: once, like taking it.
            if !is_taken && is_hopeless && fs::rename(&ask, &new).is_ok() {
                let _ = fs::remove_file(&new);
                return Ok(Asked::NobodyThere);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// A bell that is rung for every request.
    pub fn bell(&self) -> io::Result<Bell> {
        Bell::hang(&self.bells(), None)
    }

    /// Removes the directory if nobody is left who uses it.
    pub fn tidy(&self) {
        let _ = fs::remove_dir(self.bells());
        let _ = fs::remove_dir(&self.dir);
    }

    fn bells(&self) -> PathBuf {
        self.dir.join("bells")
    }

    /// Takes the requests of processes that are ours. Those whose process has ended
    /// are cleared away.
    pub fn take(&self, is_ours: &dyn Fn(u32) -> bool) -> Vec<Taken> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let asks = entries.map(|entry| entry.path()).filter(|path| path.extension() == Some("ask".as_ref()));
        asks.filter_map(|path| take(&path, is_ours)).collect()
    }
}

fn dir(data: &Path) -> PathBuf {
    let user = rustix::process::getuid().as_raw();
    PathBuf::from(format!("/tmp/consort-{user}-{:016x}", text::checksum(data.as_os_str().as_encoded_bytes())))
}

fn take(ask: &Path, is_ours: &dyn Fn(u32) -> bool) -> Option<Taken> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = File::options().read(true).write(true).custom_flags(flags.bits() as i32).open(ask).ok()?;
    let Some(pid) = holder(&file) else {
        let _ = fs::remove_file(ask);
        return None;
    };
    if !is_ours(pid) {
        return None;
    }
    let request = consort_files::read_open(&file, LONGEST).ok()?;
    let path = ask.with_extension("taken");
    fs::rename(ask, &path).ok()?;
    Some(Taken { pid, request, file, path })
}

impl Taken {
    /// Whether whoever asked still waits.
    pub fn is_waited_for(&self) -> bool {
        holder(&self.file) == Some(self.pid)
    }

    pub fn answer(self, answer: &[u8]) -> io::Result<()> {
        let new = self.path.with_extension("answering");
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(answer).and_then(|()| fs::rename(&new, self.path.with_extension("answer")))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // An answer that nobody waits for any more stays nowhere.
        if !self.is_waited_for() {
            let _ = fs::remove_file(self.path.with_extension("answer"));
        }
    }
}

/// The process that holds a lock on a file, as it is called here.
fn holder(file: &File) -> Option<u32> {
    let lock = rustix::process::fcntl_getlk(file, &Flock::from(FlockType::WriteLock)).ok()??;
    lock.pid.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
}

fn read_and_remove(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = consort_files::read(path, LONGEST)?;
    fs::remove_file(path)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of its own for a test.
    fn spool(dir: &tempfile::TempDir) -> Spool {
        Spool { dir: dir.path().to_owned() }
    }

    /// Somebody else who asks: a process of its own.
    fn asker(dir: &tempfile::TempDir, id: &str) -> std::process::Child {
        let script = "import fcntl, os, sys; f = open(sys.argv[1], 'w'); f.write('please'); f.flush(); \
                      fcntl.lockf(f, fcntl.LOCK_EX); os.rename(sys.argv[1], sys.argv[2]); print(flush=True); \
                      sys.stdin.read()";
        let name = |what: &str| dir.path().join(format!("{id}.{what}"));
        let mut python = std::process::Command::new("python3");
        python.args(["-c", script]).arg(name("new")).arg(name("ask"));
        python.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = python.spawn().unwrap();
        let _ = io::Read::read(child.stdout.as_mut().unwrap(), &mut [0]);
        child
    }

    #[test]
    fn nobody_there_means_nothing_was_done() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(spool(&dir).ask("a", b"please").unwrap(), Asked::NobodyThere);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_kernel_says_who_asks_and_one_takes_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = asker(&dir, "a");
        assert!(spool(&dir).take(&|pid| pid != child.id()).is_empty());
        let taken = spool(&dir).take(&|pid| pid == child.id());
        assert_eq!(
            (taken.len(), taken[0].request.as_slice(), taken[0].is_waited_for()),
            (1, &b"please"[..], true)
        );
        assert!(spool(&dir).take(&|_| true).is_empty());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!taken[0].is_waited_for());
        drop(taken);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_the_dead_have_asked_is_cleared_away() {
        let dir = tempfile::tempdir().unwrap();
        let mut child = asker(&dir, "a");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(spool(&dir).take(&|_| true).is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_answer_reaches_whoever_asked() {
        let dir = tempfile::tempdir().unwrap();
        let _bell = spool(&dir).bell().unwrap();
        let mut child = asker(&dir, "a");
        let taken = spool(&dir).take(&|_| true).pop().unwrap();
        taken.answer(b"done").unwrap();
        assert_eq!(fs::read(dir.path().join("a.answer")).unwrap(), b"done");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
