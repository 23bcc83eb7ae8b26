//! Reading and replacing other people's files.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::path::PathBuf;

use crate::error::CommandError;
use crate::error::CommandResult;

/// Replaces a file in one step; its permissions stay, its directory is made. A
/// new one has the permissions that any new file of this person has.
pub(crate) fn write_atomically(path: &Path, contents: &[u8]) -> CommandResult {
    replace(path, contents, || Ok(()))
}

/// The same, if `is_due` still says so when all that is left to do is to put
/// the new file in the place of the old one.
pub(super) fn replace(path: &Path, contents: &[u8], is_due: impl FnOnce() -> CommandResult) -> CommandResult {
    let path = &resolve(path);
    let parent = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = parent.join(format!(".{name}.consort-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(parent)?;
        let permissions = fs::metadata(path).map(|metadata| metadata.permissions()).ok();
        let mut file = fs::File::create(&temporary)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.write_all(contents)?;
        file.sync_all()
    };
    let cannot = |error| CommandError::file("cannot write", path, error);
    let result = write()
        .map_err(cannot)
        .and_then(|()| is_due())
        .and_then(|()| fs::rename(&temporary, path).map_err(cannot));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// The file behind a path: what links point to, even if that is not there yet.
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

pub(super) fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::file("cannot read", path, error)),
    }
}

pub(crate) fn private_dir(path: &Path) -> CommandResult {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| CommandError::file("cannot make", path, error))
}
