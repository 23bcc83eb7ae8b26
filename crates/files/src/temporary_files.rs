//! Records which temporary files exist, so that those of killed processes can be
//! removed.

use std::ffi::OsString;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::FlockOperation;
use rustix::fs::OFlags;

use crate::MARKER;
use crate::OurDir;
use crate::replace::is_temporary;
use crate::replace::random;

/// Most bytes that are read of a note; longer than any path.
const LONGEST: u64 = 8 << 10;

/// A directory of notes, one per temporary file. The process that makes the
/// file holds a lock on its note; **the kernel releases it when the process
/// dies**, and the process that gets the lock then removes the file.
pub struct TemporaryFiles {
    dir: PathBuf,
}

/// A locked note about one temporary file; removed when dropped.
pub(crate) struct Note {
    path: PathBuf,
    _locked: File,
}

impl TemporaryFiles {
    /// Sets `dir` as the directory of the notes; it is made when it is needed.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Removes the temporary files of processes that were killed.
    pub fn sweep(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            if entry.file_name() != MARKER {
                let _ = finish(&entry.path());
            }
        }
    }

    pub(crate) fn note(&self, temporary: &Path) -> io::Result<Note> {
        OurDir::create(&self.dir)?;
        let path = self.dir.join(format!("{:016x}", random()?));
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
        (&file).write_all(temporary.as_os_str().as_bytes())?;
        Ok(Note { path, _locked: file })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a note and its temporary file, unless a living process holds the note's lock.
fn finish(note: &Path) -> io::Result<()> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(note)?;
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let mut path = Vec::new();
    file.take(LONGEST).read_to_end(&mut path)?;
    let path = PathBuf::from(OsString::from_vec(path));
    // A note cannot cause the removal of anything but a temporary file.
    if is_temporary(&path) && fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        fs::remove_file(&path)?;
    }
    fs::remove_file(note)
}
