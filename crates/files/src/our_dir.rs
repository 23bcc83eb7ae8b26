//! Directories that a marker file shows to be ours, and the only recursive removal in the
//! program.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::Dir;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// The marker file that shows that a directory was made by us and may be removed.
pub const MARKER: &str = ".consort-directory";

/// Most levels of nested directories that are removed.
const DEEPEST: usize = 8;

/// A directory that was shown to be ours: it was opened without following a
/// link, this user owns it, and our marker is in it.
pub struct OurDir {
    dir: OwnedFd,
}

impl OurDir {
    /// Makes a private directory and the ones above it, and marks it as ours. A directory
    /// that existed before stays as it is: it may be somebody else's.
    pub fn create(path: &Path) -> io::Result<()> {
        let make = || fs::DirBuilder::new().mode(0o700).create(path);
        let made = match make() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), private_dir)?;
                make()
            }
            made => made,
        };
        match made {
            Ok(()) => Self::adopt(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Marks a directory that is known to be ours because an earlier version made it.
    pub fn adopt(path: &Path) -> io::Result<()> {
        let dir = open_dir(CWD, path)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&dir, MARKER, flags, Mode::from_raw_mode(0o600))?;
        Ok(())
    }

    /// Opens a directory that is ours; an error if it is not shown to be.
    pub fn open(path: &Path) -> io::Result<Self> {
        let dir = open_dir(CWD, path)?;
        let not_ours = |why: &str| {
            let text = format!("{} is left alone: {why}", path.display());
            Err(io::Error::new(io::ErrorKind::PermissionDenied, text))
        };
        if rustix::fs::fstat(&dir)?.st_uid != rustix::process::geteuid().as_raw() {
            return not_ours("it belongs to another user");
        }
        match rustix::fs::statat(&dir, MARKER, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => Ok(Self { dir }),
            _ => not_ours("our marker is not in it"),
        }
    }

    /// Removes a directory of ours and everything in it. It is no error if the directory
    /// does not exist.
    pub fn remove(path: &Path) -> io::Result<()> {
        let ours = match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            ours => ours?,
        };
        // The marker goes last, so that an interrupted removal can be finished.
        empty(&ours.dir, Some(MARKER), DEEPEST)?;
        rustix::fs::unlinkat(&ours.dir, MARKER, AtFlags::empty())?;
        fs::remove_dir(path)
    }

    /// Removes one entry of this directory, with everything in it. The name is
    /// one component. It is no error if the entry does not exist.
    pub fn remove_entry(&self, name: &str) -> io::Result<()> {
        if name.is_empty() || name.contains(['/', '\0']) || matches!(name, "." | ".." | MARKER) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of an entry"));
        }
        absent_is_fine(remove_entry(&self.dir, name, DEEPEST))
    }
}

/// Makes a directory and those above it, readable by this user alone.
fn private_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn open_dir(at: impl AsFd, path: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at, path, flags, Mode::empty())?)
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn remove_entry(dir: &OwnedFd, name: impl rustix::path::Arg + Copy, deepest: usize) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        // For a directory, Linux says ISDIR, and other systems say PERM.
        Err(Errno::ISDIR | Errno::PERM) if deepest > 0 => {
            let inner = open_dir(dir, name)?;
            empty(&inner, None, deepest - 1)?;
            Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
        }
        removed => Ok(removed?),
    }
}

/// Removes everything in an open directory, except one entry.
fn empty(dir: &OwnedFd, except: Option<&str>, deepest: usize) -> io::Result<()> {
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_kept = matches!(name.to_bytes(), b"." | b"..")
            || except.is_some_and(|except| name.to_bytes() == except.as_bytes());
        if !is_kept {
            absent_is_fine(remove_entry(dir, name, deepest))?;
        }
    }
    Ok(())
}
