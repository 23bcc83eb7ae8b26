//! Lists, reads, hashes, stamps and puts back files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use consort_core::claims::FileStamp;
use consort_core::host::FileContent;
use consort_files::NoFollowTree;
use consort_files::TemporaryFiles;

use crate::git;

/// Most names of a directory that are listed.
const MOST_NAMES: usize = 2_000;

/// Lists the names in a directory that are text, up to a limit.
pub fn names(directory: &Path) -> Option<Vec<String>> {
    let entries = fs::read_dir(directory).ok()?.take(MOST_NAMES);
    Some(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

pub(crate) fn stamp(path: &Path) -> FileStamp {
    match fs::metadata(path) {
        Ok(file) => FileStamp {
            // The change time also tells files that were moved here, or whose modification time was set
            // back.
            changed: file.ctime().saturating_mul(1_000_000_000).saturating_add(file.ctime_nsec()),
            size: file.size(),
        },
        Err(_) => FileStamp::default(),
    }
}

/// Lists the files below a directory, breadth first, without `.git`; false if there are more than `most`.
pub(crate) fn below(worktree: &Path, below: &str, depth: Option<usize>, most: usize) -> (Vec<String>, bool) {
    let start = worktree.join(below);
    let relative = |path: &Path| path.strip_prefix(worktree).unwrap_or(path).to_string_lossy().into_owned();
    if start.is_file() {
        return (vec![relative(&start)], true);
    }
    let mut open = std::collections::VecDeque::from([(start, 1)]);
    let mut found = Vec::new();
    while let Some((dir, level)) = open.pop_front() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if depth.is_none_or(|depth| level < depth) && entry.file_name() != OsStr::new(".git") {
                        open.push_back((entry.path(), level + 1));
                    }
                }
                Ok(_) => found.push(relative(&entry.path())),
                Err(_) => {}
            }
            if found.len() >= most || open.len() > most {
                return (found, false);
            }
        }
    }
    (found, true)
}

/// Most bytes of a file that is hashed.
const LONGEST_HASHED: u64 = 64 << 20;

pub(crate) fn content_hash(path: &Path) -> Option<String> {
    let content = consort_files::read_regular_file(path, LONGEST_HASHED).ok()?;
    Some(blake3::hash(&content).to_hex()[..32].to_owned())
}

/// Reads a regular file of at most `longest` bytes, without following a link.
pub(crate) fn content(path: &Path, longest: u64) -> Option<FileContent> {
    let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    let (dir, name) = (path.parent()?, path.file_name()?);
    let bytes = NoFollowTree::new(dir).read(Path::new(name), longest).ok()??;
    let hash = blake3::hash(&bytes).to_hex().to_string();
    Some(FileContent { bytes, hash, is_executable: found.mode() & 0o100 != 0 })
}

/// Puts a file of a worktree back; a file that was gone is made executable again if it was.
pub(crate) fn put_back(
    worktree: &Path,
    path: &str,
    content: &[u8],
    is_executable: bool,
    pending: &Path,
) -> std::io::Result<()> {
    let is_gone = fs::symlink_metadata(worktree.join(path)).is_err();
    NoFollowTree::new(worktree).replace(
        Path::new(path),
        content,
        &TemporaryFiles::new(pending),
        || Ok(()),
    )?;
    if is_gone && is_executable {
        let place = worktree.join(path);
        let mut permissions = fs::metadata(&place)?.permissions();
        // Executable for all who may read it.
        permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
        fs::set_permissions(&place, permissions)?;
    }
    Ok(())
}

/// Hashes bytes with BLAKE3, as hexadecimal text.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Most bytes of a text file that somebody named.
const LONGEST_TEXT: u64 = 4 << 20;

fn no_such_file() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file")
}

/// Reads a file's text. In a repository no link is followed: its authors may have pointed the link
/// anywhere.
pub(crate) fn text(path: &Path) -> std::io::Result<String> {
    let path = std::path::absolute(path)?;
    let worktree = path.ancestors().skip(1).find(|dir| git::git_dir(dir).is_some());
    let bytes = match worktree.and_then(|worktree| Some((worktree, path.strip_prefix(worktree).ok()?))) {
        Some((worktree, inside)) => {
            NoFollowTree::new(worktree).read(inside, LONGEST_TEXT)?.ok_or_else(no_such_file)?
        }
        None => consort_files::read_regular_file(&path, LONGEST_TEXT)?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real_path::tests::world;

    #[test]
    fn a_walk_is_bounded_and_leaves_git_alone() {
        let (_temp, root) = world();
        assert_eq!(below(&root.join("repo"), "", None, 10), (vec!["src/auth/login.rs".into()], true));
        assert_eq!(below(&root.join("repo"), "", Some(2), 10), (vec![], true));
        assert_eq!(below(&root.join("repo"), "src/auth/login.rs", None, 10).0, ["src/auth/login.rs"]);
        for n in 0..20 {
            fs::write(root.join(format!("repo/src/{n}")), "").unwrap();
        }
        let (files, is_complete) = below(&root.join("repo"), "src", None, 10);
        assert_eq!((files.len(), is_complete), (10, false));
    }
}
