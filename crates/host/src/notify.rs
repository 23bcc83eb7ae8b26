//! Notifications between processes over named pipes: wakes the processes that wait for
//! news, and only those.
//!
//! A process that waits opens a named pipe in a directory; the pipe's name says which news it waits for.
//! A process that has committed news writes a byte into the pipes it concerns. A pipe per waiter has no
//! limit on waiters (inotify stops at 128 per user), costs nothing while idle, and keeps a notification
//! that came before its reader looked. If a process is killed between its commit and its notification,
//! the waiters find the news when they look again, every [`POLL_INTERVAL`].
//!
//! **A process notifies after its commit, so a waiter that is woken finds the news.**

use std::fs;
use std::fs::File;
use std::io::Read as _;
use std::io::Write as _;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use consort_core::host::NewsTopic;
use consort_core::text;
use rustix::event::PollFd;
use rustix::event::PollFlags;
use rustix::event::Timespec;

/// Time after which a waiter looks by itself, in case a notification was lost.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// The address of processes that wait for everything.
const ALL: &str = "all";

/// Waits for news; its pipe is removed when it is dropped.
pub struct Listener {
    dir: PathBuf,
    address: String,
    pipe: Pipe,
}

struct Pipe {
    path: PathBuf,
    inode: u64,
    reader: File,
    /// Held so that the reader never sees the end of the pipe.
    _writer: File,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeReason {
    /// News has come.
    Notified,
    /// The other file is readable.
    Other,
    TimedOut,
}

impl Listener {
    /// Opens a pipe for news of one kind, or of every kind.
    pub fn open(dir: &Path, topic: Option<&NewsTopic>) -> std::io::Result<Self> {
        let address = topic.map_or_else(|| ALL.into(), address);
        let pipe = Pipe::open(dir, &address)?;
        Ok(Self { dir: dir.to_owned(), address, pipe })
    }

    /// Sleeps until news, until `other` is readable, or for `timeout`.
    pub fn wait(&mut self, other: Option<BorrowedFd<'_>>, timeout: Duration) -> std::io::Result<WakeReason> {
        if !self.pipe.is_there() {
            self.pipe = Pipe::open(&self.dir, &self.address)?;
            return Ok(WakeReason::Notified);
        }
        let mut ready = vec![PollFd::new(&self.pipe.reader, PollFlags::IN)];
        ready.extend(other.as_ref().map(|other| PollFd::new(other, PollFlags::IN)));
        let timeout = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match rustix::event::poll(&mut ready, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        if is_ready(&ready[0]) {
            drop(ready);
            let mut bytes = [0; 512];
            while matches!((&self.pipe.reader).read(&mut bytes), Ok(n) if n == bytes.len()) {}
            return Ok(WakeReason::Notified);
        }
        Ok(if ready.get(1).is_some_and(is_ready) { WakeReason::Other } else { WakeReason::TimedOut })
    }
}

impl consort_core::call_context::Listener for Listener {
    fn wait(&mut self, longest: Duration) -> std::io::Result<bool> {
        Ok(Self::wait(self, None, longest)? == WakeReason::Notified)
    }
}

impl Pipe {
    fn open(dir: &Path, address: &str) -> std::io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{}.{number}", std::process::id());
        // Made under another name first: a sender that met a pipe nobody reads
        // would take it for a dead waiter's and remove it.
        let hidden = dir.join(format!(".{unique}"));
        let path = dir.join(format!("{address}.{unique}"));
        let _ = fs::remove_file(&hidden);
        make_pipe(&hidden)?;
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let reader = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(&hidden)?;
        let writer = fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(&hidden)?;
        let inode = reader.metadata()?.ino();
        fs::rename(&hidden, &path)?;
        Ok(Self { path, inode, reader, _writer: writer })
    }

    fn is_there(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|metadata| metadata.ino() == self.inode)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Notifies the processes that wait for these topics. Failures are ignored: waiters look by themselves
/// before long.
pub(crate) fn notify(dir: &Path, topics: &[NewsTopic]) {
    if topics.is_empty() {
        return;
    }
    let Ok(pipes) = fs::read_dir(dir) else { return };
    let wanted: Vec<String> = topics.iter().map(address).collect();
    let for_all = topics.contains(&NewsTopic::Everyone);
    for pipe in pipes.flatten() {
        let name = pipe.file_name();
        let Some((address, _)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
        let concerned = for_all || address == ALL || wanted.iter().any(|wanted| wanted == address);
        if address.is_empty() || !concerned {
            continue;
        }
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
        match fs::OpenOptions::new().write(true).custom_flags(flags.bits() as i32).open(pipe.path()) {
            // A pipe that is full wakes its reader anyway.
            Ok(mut writer) => drop(writer.write(&[1])),
            // Nobody reads the pipe: its owner is dead.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                let _ = fs::remove_file(pipe.path());
            }
            Err(_) => {}
        }
    }
}

#[cfg(target_os = "linux")]
fn make_pipe(path: &Path) -> std::io::Result<()> {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    Ok(rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)?)
}

/// Makes a pipe with a program, which every system has; outside Linux there is no safe call for it.
#[cfg(not(target_os = "linux"))]
fn make_pipe(path: &Path) -> std::io::Result<()> {
    let status = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(path).status()?;
    status.success().then_some(()).ok_or_else(|| std::io::ErrorKind::Other.into())
}

/// Returns a topic's part of a pipe's name: short, and safe in a file name.
fn address(topic: &NewsTopic) -> String {
    let (kind, of) = match topic {
        NewsTopic::Everyone => return ALL.into(),
        NewsTopic::Project(project) => ('p', project.to_string()),
        NewsTopic::Mailbox(who) => ('m', who.to_string()),
    };
    format!("{kind}{:016x}", text::stable_hash(of.as_bytes()))
}

#[cfg(test)]
mod tests {
    use consort_core::journal::Actor;

    use super::*;

    const SOON: Duration = Duration::from_secs(5);
    const NEVER: Duration = Duration::from_millis(20);

    #[test]
    fn a_notification_wakes_those_it_concerns() {
        let temp = tempfile::tempdir().unwrap();
        let (a, b) = (NewsTopic::Project("a".into()), NewsTopic::Mailbox(Actor::Person));
        let mut for_a = Listener::open(temp.path(), Some(&a)).unwrap();
        let mut for_b = Listener::open(temp.path(), Some(&b)).unwrap();
        let mut for_all = Listener::open(temp.path(), None).unwrap();
        notify(temp.path(), &[a]);
        assert_eq!(for_a.wait(None, SOON).unwrap(), WakeReason::Notified);
        assert_eq!(for_all.wait(None, SOON).unwrap(), WakeReason::Notified);
        assert_eq!(for_b.wait(None, NEVER).unwrap(), WakeReason::TimedOut);
        notify(temp.path(), &[NewsTopic::Everyone]);
        assert_eq!(for_b.wait(None, SOON).unwrap(), WakeReason::Notified);
    }

    #[test]
    fn many_before_a_look_are_one_waking() {
        let temp = tempfile::tempdir().unwrap();
        let mut listener = Listener::open(temp.path(), None).unwrap();
        for _ in 0..100_000 {
            notify(temp.path(), &[NewsTopic::Everyone]);
        }
        assert_eq!(listener.wait(None, SOON).unwrap(), WakeReason::Notified);
        assert_eq!(listener.wait(None, NEVER).unwrap(), WakeReason::TimedOut);
    }

    #[test]
    fn a_dead_waiters_pipe_is_removed_and_a_lost_one_is_made_again() {
        let temp = tempfile::tempdir().unwrap();
        let listeners = temp.path().join("listeners");
        let mut listener = Listener::open(&listeners, None).unwrap();
        let dead = listeners.join("all.1.0");
        make_pipe(&dead).unwrap();
        notify(&listeners, &[NewsTopic::Everyone]);
        assert!(!dead.exists());

        fs::rename(&listeners, temp.path().join("lost")).unwrap();
        assert_eq!(listener.wait(None, NEVER).unwrap(), WakeReason::Notified);
        notify(&listeners, &[NewsTopic::Everyone]);
        assert_eq!(listener.wait(None, SOON).unwrap(), WakeReason::Notified);
    }
}
