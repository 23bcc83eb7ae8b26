//! Replaces a file atomically: a temporary file, then a rename.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::io::Write as _;
use std::os::fd::AsFd;
use std::path::Path;
use std::path::PathBuf;

use rustix::fs::AtFlags;
use rustix::fs::CWD;
use rustix::fs::FileType;
use rustix::fs::Mode;
use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::temporary_files::TemporaryFiles;

/// The text that every temporary file of ours has in its name.
const INFIX: &str = ".consort-tmp-";

/// The mode of a file that did not exist before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewFileMode {
    /// Readable by this user alone.
    Private,
    /// Readable by everyone whom the umask lets read new files.
    Shared,
    /// Readable and executable by everyone whom the umask lets.
    Program,
}

/// Replaces the file behind `path`, or makes it: a complete new file with the
/// mode of the old one takes its place in one step. If the last component is a
/// link, its target is replaced and the link stays.
///
/// `is_due` is called when only the rename is left to do; if it returns an error, the
/// old file stays in place. A temporary file that a killed process leaves behind is
/// removed by [`TemporaryFiles::sweep`].
pub fn replace(
    path: &Path,
    contents: &[u8],
    new: NewFileMode,
    pending: &TemporaryFiles,
    is_due: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let path = behind_link(&std::path::absolute(path)?)?;
    let (Some(parent), Some(_)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file's path"));
    };
    std::fs::create_dir_all(parent)?;
    let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(CWD, parent, directory, Mode::empty())?;
    replace_at(&dir, &path, contents, new, pending, is_due)
}

impl NewFileMode {
    fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Shared => 0o666,
            Self::Program => 0o777,
        }
    }
}

/// Tells whether a file has the name of a temporary file of ours.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.starts_with('.') && name.contains(INFIX)
}

/// Replaces a file in an open directory as [`replace`] does.
pub(crate) fn replace_at(
    dir: impl AsFd,
    path: &Path,
    contents: &[u8],
    new: NewFileMode,
    pending: &TemporaryFiles,
    is_due: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default();
    let mode = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
            Some(Mode::from_raw_mode(stat.st_mode & 0o7777))
        }
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        Err(Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    let temporary = temporary_name(name)?;
    let _note = pending.note(&path.with_file_name(&temporary))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let write = || -> io::Result<()> {
        let file = rustix::fs::openat(&dir, &*temporary, flags, Mode::from_raw_mode(new.mode()))?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, mode)?;
        }
        let mut file = File::from(file);
        file.write_all(contents)?;
        file.sync_all()?;
        is_due()?;
        Ok(rustix::fs::renameat(&dir, &*temporary, &dir, name)?)
    };
    let written = write();
    if written.is_err() {
        let _ = rustix::fs::unlinkat(&dir, &*temporary, AtFlags::empty());
    }
    written
}

/// Makes a name that is unique even if several process namespaces share the directory.
fn temporary_name(name: &OsStr) -> io::Result<String> {
    let random = random()?;
    // File names have at most 255 bytes.
    let name: String = name.to_string_lossy().chars().take(48).collect();
    Ok(format!(".{name}{INFIX}{}-{random:016x}", std::process::id()))
}

#[cfg(target_os = "linux")]
pub(crate) fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn random() -> io::Result<u64> {
    use std::io::Read as _;
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Finds the file that a link in the last component points to, even if that file does not
/// exist yet.
fn behind_link(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 16;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(Errno::LOOP.into())
}
