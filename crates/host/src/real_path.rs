//! Resolves the links of a path, and finds the repository that it is in.

use std::fs;
use std::path::Component;
use std::path::Path;
use std::path::PathBuf;

use consort_core::host::RealPath;

use crate::git;

/// Most links to missing targets that are followed, one after the other.
const MOST_LINKS: usize = 16;

/// Resolves a path, and finds its repository and worktree.
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

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes a directory with a repository at `repo`, known by its `HEAD`.
    pub(crate) fn world() -> (tempfile::TempDir, PathBuf) {
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
}
