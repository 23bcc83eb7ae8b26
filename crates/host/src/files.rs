//! Resolves the links of paths on this machine, and lists, reads, hashes, stamps and puts back files.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use consort_core::claims::FileStamp;
use consort_core::host::FileContent;
use consort_core::host::RealPath;
use consort_files::NoFollowTree;
use consort_files::TemporaryFiles;

use crate::git;

/// Most links to missing targets that are followed, one after the other.
const MOST_LINKS: usize = 16;
/// Most names of a directory that are listed.
const MOST_NAMES: usize = 2_000;

pub(crate) fn locate(path: &Path) -> RealPath {
    let real = real_path(path);
    let metadata = fs::metadata(&real).ok();
    let (exists, is_dir) = (metadata.is_some(), metadata.is_some_and(|metadata| metadata.is_dir()));
    for worktree in real.ancestors().skip(usize::from(exists && !is_dir)) {
        if let Some(git_dir) = git::git_dir(worktree) {
            let repository = Some(git::text(&git::common_dir(&git_dir)));
            let path = real.strip_prefix(worktree).unwrap_or(&real).to_string_lossy().into_owned();
            return RealPath { repository, worktree: git::text(worktree), path, exists, is_dir };
        }
    }
    let path = real.to_string_lossy().into_owned();
    RealPath { repository: None, worktree: "/".into(), path, exists, is_dir }
}

/// Lists the names in a directory that are text, up to a limit.
pub fn names(directory: &Path) -> Option<Vec<String>> {
    let entries = fs::read_dir(directory).ok()?.take(MOST_NAMES);
    Some(entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// Resolves links, `.` and `..` in a path, even if its end does not exist yet.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| follow(path, MOST_LINKS))
}

/// Resolves a path whose end does not exist, part by part.
fn follow(path: &Path, links: usize) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parts: Vec<Component<'_>> = path.components().collect();
    for end in (1..=parts.len()).rev() {
        let Ok(mut real) = fs::canonicalize(parts[..end].iter().collect::<PathBuf>()) else { continue };
        let mut rest = parts[end..].iter();
        // A write through a link to a missing target would make the target.
        if let Some(name) = rest.clone().next()
            && let Ok(target) = fs::read_link(real.join(name))
            && links > 0
        {
            let tail: PathBuf = rest.skip(1).collect();
            return follow(&real.join(target).join(tail), links - 1);
        }
        for part in rest.by_ref() {
            match part {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                part => real.push(part),
            }
        }
        return real;
    }
    path
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
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes a directory with a repository at `repo`, known by its `HEAD`.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::write(root.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(root.join("repo/src/auth")).unwrap();
        fs::write(root.join("repo/src/auth/login.rs"), "").unwrap();
        (temp, root)
    }

    #[test]
    fn every_spelling_of_a_path_is_one_place() {
        let (_temp, root) = world();
        symlink("src/auth", root.join("repo/link")).unwrap();
        symlink("src/new.rs", root.join("repo/dangling")).unwrap();
        symlink(root.join("repo"), root.join("elsewhere")).unwrap();
        for (spelled, path) in [
            ("repo/src/auth/login.rs", "src/auth/login.rs"),
            ("repo/./src/../src/auth/login.rs", "src/auth/login.rs"),
            ("repo/link/login.rs", "src/auth/login.rs"),
            ("elsewhere/link/login.rs", "src/auth/login.rs"),
            ("repo/link/new/../new.rs", "src/auth/new.rs"),
            ("repo/dangling", "src/new.rs"),
            ("repo/src/auth/", "src/auth"),
            ("repo", ""),
            ("repo/not/there/a\nb", "not/there/a\nb"),
        ] {
            let located = locate(&root.join(spelled));
            assert_eq!(located.path, path, "{spelled}");
            assert_eq!(located.worktree, root.join("repo"), "{spelled}");
            assert_eq!(located.repository, Some(root.join("repo/.git")), "{spelled}");
        }
        let outside = locate(&root.join("plain.txt"));
        assert_eq!((outside.repository, outside.worktree), (None, PathBuf::from("/")));
        assert_eq!(outside.path, root.join("plain.txt").to_string_lossy());
    }

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
