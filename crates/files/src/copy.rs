//! Copies a file or a directory from one tree to another; a link is copied as a link.

use std::io;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::AtFlags;
use rustix::fs::Dir;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::NoFollowTree;
use crate::tree::Missing;

/// Most levels of nested directories that are copied.
const DEEPEST: usize = 100;

impl NoFollowTree {
    /// Copies the file or directory at `path` to the same path of another tree, with its modes. No
    /// link is followed: each is copied as a link. Files that the other tree has already stay as
    /// they are. If nothing is at `path`, nothing is copied.
    pub fn copy_to(&self, other: &Self, path: &Path) -> io::Result<()> {
        let (from, name) = match self.parent(path, Missing::Refuse) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        match rustix::fs::statat(&from, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(()),
            found => found?,
        };
        let (to, _) = other.parent(path, Missing::Make)?;
        copy(&from, &to, name, DEEPEST)
    }
}

fn copy(from: &OwnedFd, to: &OwnedFd, name: impl rustix::path::Arg + Copy, deepest: usize) -> io::Result<()> {
    let stat = rustix::fs::statat(from, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = Mode::from_raw_mode(stat.st_mode & 0o777);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(from, name, Vec::new())?;
            there_is_fine(rustix::fs::symlinkat(&target, to, name))
        }
        FileType::RegularFile => {
            let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let source = rustix::fs::openat(from, name, flags | OFlags::RDONLY, Mode::empty())?;
            let create = flags | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
            match rustix::fs::openat(to, name, create, mode) {
                Err(Errno::EXIST) => Ok(()),
                target => {
                    let target = target?;
                    io::copy(&mut std::fs::File::from(source), &mut std::fs::File::from(target))?;
                    Ok(())
                }
            }
        }
        FileType::Directory if deepest > 0 => {
            there_is_fine(rustix::fs::mkdirat(to, name, Mode::from_raw_mode(0o700)))?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let source = rustix::fs::openat(from, name, flags, Mode::empty())?;
            let target = rustix::fs::openat(to, name, flags, Mode::empty())?;
            for entry in Dir::read_from(source.as_fd())? {
                let entry = entry?;
                if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                    copy(&source, &target, entry.file_name(), deepest - 1)?;
                }
            }
            Ok(rustix::fs::fchmod(&target, mode)?)
        }
        FileType::Directory => Err(io::Error::other("it is nested too deep")),
        // A pipe, a socket or a device has no content to copy.
        _ => Ok(()),
    }
}

fn there_is_fine(made: rustix::io::Result<()>) -> io::Result<()> {
    match made {
        Err(Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}
