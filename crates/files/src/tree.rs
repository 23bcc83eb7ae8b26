//! Reads, replaces and removes files below the root of a repository, following no link
//! at any level.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::read::read_open;
use crate::replace::NewFileMode;
use crate::replace::replace_at;
use crate::temporary_files::TemporaryFiles;

/// A directory tree in which no link is followed, at any level below its root.
pub struct NoFollowTree {
    root: PathBuf,
}

impl NoFollowTree {
    /// Makes the tree below `root`; the root itself is the caller's choice and may be
    /// reached through links.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Reads a regular file of at most `limit` bytes; `None` if it does not exist.
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        let open = || {
            let (dir, name) = self.parent(path, Missing::Refuse)?;
            let flags =
                OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
            let file = rustix::fs::openat(&dir, name, flags, Mode::empty()).map_err(as_link)?;
            read_open(file, limit)
        };
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    /// Replaces a regular file as [`crate::replace`] does, or makes it and the
    /// directories above it.
    pub fn replace(
        &self,
        path: &Path,
        contents: &[u8],
        pending: &TemporaryFiles,
        is_due: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let (dir, _) = self.parent(path, Missing::Make)?;
        replace_at(&dir, &self.root.join(path), contents, NewFileMode::Shared, pending, is_due)
    }

    /// Removes a file or a link; the target of a link stays.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path, Missing::Refuse)?;
        Ok(rustix::fs::unlinkat(&dir, name, AtFlags::empty())?)
    }

    /// Removes a directory if it is empty.
    pub fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        let (dir, name) = self.parent(path, Missing::Refuse)?;
        Ok(rustix::fs::unlinkat(&dir, name, AtFlags::REMOVEDIR)?)
    }

    /// Tells whether a regular file is at `path`, reached without following a link.
    pub fn has_file(&self, path: &Path) -> bool {
        let kind = || {
            let (dir, name) = self.parent(path, Missing::Refuse).ok()?;
            let stat = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(FileType::from_raw_mode(stat.st_mode))
        };
        kind() == Some(FileType::RegularFile)
    }

    /// Opens the directory that contains `path`, component by component, and returns it with
    /// the last component.
    pub(crate) fn parent<'p>(&self, path: &'p Path, missing: Missing) -> io::Result<(OwnedFd, &'p OsStr)> {
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "the path leads outside of its root");
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        let name = names.pop().ok_or_else(outside)?;
        let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut dir = rustix::fs::openat(CWD, &self.root, directory, Mode::empty())?;
        for name in names {
            if missing == Missing::Make {
                match rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let flags = directory | OFlags::NOFOLLOW;
            dir = rustix::fs::openat(&dir, name, flags, Mode::empty()).map_err(as_link)?;
        }
        Ok((dir, name))
    }
}

/// The way to treat directories above a path that do not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

/// Explains the errors with which the kernel reports a link that must not be followed: a
/// loop, or something that is no directory.
fn as_link(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOTDIR => {
            io::Error::new(io::ErrorKind::InvalidInput, "a symbolic link or a file is in its place")
        }
        error => error.into(),
    }
}
