//! Reads, replaces and removes files of other programs, for `init` and `uninit`.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::path::PathBuf;

use consort_agents::Level;
use consort_files::NewFileMode;
use consort_files::NoFollowTree;
use consort_files::TemporaryFiles;

use crate::error::CommandError;
use crate::error::CommandResult;

/// Longest settings file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// A file of somebody else's that we read and change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TheirFile {
    /// A file of the user's own. A link among someone's dotfiles stays a link: its target is changed.
    OfUser(PathBuf),
    /// A file in a repository, which anybody may have filled: no link is followed.
    InRepository { worktree: PathBuf, path: PathBuf },
}

impl TheirFile {
    /// Returns the settings file of an agent CLI at that level.
    pub(crate) fn at(level: Level<'_>, file: &Path) -> Self {
        match level {
            Level::User(_) => Self::OfUser(resolve(file)),
            Level::Project(worktree) => Self::in_repository(worktree, file),
        }
    }

    /// Returns a file below a worktree's root.
    pub(crate) fn in_repository(worktree: &Path, file: &Path) -> Self {
        let path = file.strip_prefix(worktree).unwrap_or(file).to_owned();
        Self::InRepository { worktree: worktree.to_owned(), path }
    }

    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::OfUser(path) => path.clone(),
            Self::InRepository { worktree, path } => worktree.join(path),
        }
    }

    /// Reads the text of the file; `None` if there is no such file.
    pub(crate) fn read(&self) -> Result<Option<String>, CommandError> {
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        };
        let bytes = self.read_bytes(LONGEST)?;
        bytes.map(text).transpose().map_err(|error| CommandError::file("cannot read", &self.path(), error))
    }

    pub(crate) fn read_bytes(&self, limit: u64) -> Result<Option<Vec<u8>>, CommandError> {
        let read = match self {
            Self::OfUser(path) => match consort_files::read_regular_file(path, limit) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some),
            },
            Self::InRepository { worktree, path } => NoFollowTree::new(worktree).read(path, limit),
        };
        read.map_err(|error| CommandError::file("cannot read", &self.path(), error))
    }

    /// Replaces the file in one step; its permissions stay, and its directory is made.
    pub(crate) fn write(&self, contents: &[u8], pending: &TemporaryFiles) -> CommandResult {
        self.replace(contents, pending, || Ok(()))
    }

    /// Replaces the file in one step, if `is_due` still allows it when only the rename is left.
    pub(super) fn replace(
        &self,
        contents: &[u8],
        pending: &TemporaryFiles,
        is_due: impl FnOnce() -> CommandResult,
    ) -> CommandResult {
        // The error of `is_due` says more than an `io::Error` can, so it is kept here.
        let mut objection = None;
        let ask = || {
            is_due().map_err(|error| {
                objection = Some(error);
                io::ErrorKind::Other.into()
            })
        };
        let replaced = match self {
            Self::OfUser(path) => {
                let new =
                    if contents.starts_with(b"#!") { NewFileMode::Program } else { NewFileMode::Shared };
                consort_files::replace(path, contents, new, pending, ask)
            }
            Self::InRepository { worktree, path } => {
                NoFollowTree::new(worktree).replace(path, contents, pending, ask)
            }
        };
        let cannot = |error| CommandError::file("cannot write", &self.path(), error);
        replaced.map_err(|error| objection.take().unwrap_or_else(|| cannot(error)))
    }

    pub(crate) fn remove(&self) -> CommandResult {
        let removed = match self {
            Self::OfUser(path) => fs::remove_file(path),
            Self::InRepository { worktree, path } => NoFollowTree::new(worktree).remove(path),
        };
        removed.map_err(|error| CommandError::file("cannot remove", &self.path(), error))
    }

    /// Removes a directory above the file, if that is empty.
    pub(super) fn remove_empty_dir(&self, dir: &Path) {
        let _ = match self {
            Self::OfUser(_) => fs::remove_dir(dir),
            Self::InRepository { worktree, .. } => match dir.strip_prefix(worktree) {
                Ok(dir) => NoFollowTree::new(worktree).remove_empty_dir(dir),
                Err(_) => Ok(()),
            },
        };
    }
}

/// Replaces a file of our own in one step; a new one is readable by this user
/// alone.
pub(crate) fn write_own(path: &Path, contents: &[u8], pending: &TemporaryFiles) -> CommandResult {
    consort_files::replace(path, contents, NewFileMode::Private, pending, || Ok(()))
        .map_err(|error| CommandError::file("cannot write", path, error))
}

/// Returns the file behind a path: the target of links, even if it is not there yet.
pub(super) fn resolve(path: &Path) -> PathBuf {
    if let Ok(path) = fs::canonicalize(path) {
        return path;
    }
    match (path.parent(), path.file_name(), fs::read_link(path)) {
        (Some(parent), _, Ok(target)) => parent.join(target),
        (Some(parent), Some(name), Err(_)) => resolve(parent).join(name),
        _ => path.to_owned(),
    }
}

pub(crate) fn private_dir(path: &Path) -> CommandResult {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| CommandError::file("cannot make", path, error))
}
