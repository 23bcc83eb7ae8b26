//! Writes small files of ours in one piece: beside their place first, under a name that no other process,
//! thread or container takes. Nothing is flushed to the disk.

use std::fs;
use std::io;
use std::io::ErrorKind;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::path::PathBuf;

use crate::replace::random;

/// Makes a private file that is whole as soon as it is there; returns false if there is one, which stays as
/// it is.
pub fn create_whole(path: &Path, contents: &[u8]) -> io::Result<bool> {
    let aside = write_aside(path, contents)?;
    let linked = match fs::hard_link(&aside, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        // A file system without links.
        Err(_) if !path.exists() => fs::rename(&aside, path).map(|()| true),
        Err(error) => Err(error),
    };
    let _ = fs::remove_file(&aside);
    linked
}

/// Puts a private file in the place of another.
pub fn replace_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    let aside = write_aside(path, contents)?;
    fs::rename(&aside, path).inspect_err(|_| drop(fs::remove_file(&aside)))
}

/// Writes a private file beside `path`, and returns where it is.
fn write_aside(path: &Path, contents: &[u8]) -> io::Result<PathBuf> {
    let aside = path.with_extension(format!("{:016x}.new", random()?));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    file.write_all(contents).inspect_err(|_| drop(fs::remove_file(&aside)))?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_and_replaced_often() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        assert!(create_whole(&path, b"one").unwrap());
        assert!(!create_whole(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert!(replace_whole(&dir.path().join("no/such"), b"").is_err());
        fs::create_dir(dir.path().join("full")).unwrap();
        fs::write(dir.path().join("full/file"), "").unwrap();
        assert!(replace_whole(&dir.path().join("full"), b"").is_err());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2, "nothing is left aside");
    }
}
