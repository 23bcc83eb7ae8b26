//! Makes the diff of a worktree against a commit, new files included.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::git::git;
use crate::run_program::run;
use crate::run_program::run_with_codes_bytes;
use crate::run_program::run_with_input;

/// Longest time one git command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Most attempts to add the new files; between two, files may be deleted.
const TRIES: u32 = 3;

/// Most new files that a diff shows.
const MOST_NEW: usize = 10_000;

/// The `git` arguments of a diff: no program that the repository configures runs, full ids tell contents
/// apart, and a large file is shown by its id only.
pub(crate) const DIFF: [&str; 7] = [
    "-c",
    "core.bigFileThreshold=4m",
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--full-index",
];

/// Returns the diff of a worktree against a commit, with uncommitted changes and new files that are not
/// ignored. Starts `git`; nothing in the repository changes.
pub fn diff_since(worktree: &Path, commit: &str) -> Option<String> {
    let mut list = git(worktree);
    list.args(["ls-files", "-z", "-o", "--exclude-standard", "--full-name", ":/"]);
    let told = run_with_codes_bytes(&mut list, PATIENCE, &[0])?;
    // A nested repository, which ends with `/`, is left out.
    let is_file = |name: &&[u8]| !name.is_empty() && !name.ends_with(b"/");
    let new: Vec<&[u8]> = told.split(|byte| *byte == 0).filter(is_file).collect();
    let mut diff = git(worktree);
    diff.args(DIFF).args([commit, "--"]);
    if new.is_empty() {
        return run(&mut diff, PATIENCE);
    }
    let top = run(git(worktree).args(["rev-parse", "--show-toplevel"]), PATIENCE)?;
    let index = Index::with(Path::new(top.trim_end_matches('\n')), &new[..new.len().min(MOST_NEW)])?;
    let mut told = run(index.of(&mut diff), PATIENCE)?;
    if let Some(more @ 1..) = new.len().checked_sub(MOST_NEW) {
        told.push_str(&format!("({more} more new files are not shown)\n"));
    }
    Some(told)
}

/// A copy of a worktree's index, in a temporary directory that is removed with it.
struct Index(PathBuf);

impl Index {
    /// Copies the index of a worktree and marks new files in the copy as to be added.
    fn with(top: &Path, new: &[&[u8]]) -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("consort-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let index = Self(std::env::temp_dir().join(name));
        fs::DirBuilder::new().mode(0o700).create(&index.0).ok()?;
        let own = run(git(top).args(["rev-parse", "--git-path", "index"]), PATIENCE)?;
        // A repository to which nothing was ever added has no index.
        let _ = fs::copy(top.join(own.trim_end_matches('\n')), index.file());
        // Git adds none of the files if one of them was deleted meanwhile.
        for _ in 0..TRIES {
            let there = |name: &&&[u8]| fs::symlink_metadata(top.join(OsStr::from_bytes(name))).is_ok();
            let new: Vec<&[u8]> = new.iter().filter(there).copied().collect();
            let mut add = git(top);
            add.args(["add", "--intent-to-add", "--ignore-errors", "--pathspec-from-file=-"]);
            add.arg("--pathspec-file-nul").env("GIT_LITERAL_PATHSPECS", "1");
            let is_added = |ran: crate::run_program::Ran| ran.is_success;
            if new.is_empty() || is_added(run_with_input(index.of(&mut add), PATIENCE, &new.join(&0)).ok()?) {
                break;
            }
        }
        Some(index)
    }

    fn file(&self) -> PathBuf {
        self.0.join("index")
    }

    fn of<'a>(&self, git: &'a mut Command) -> &'a mut Command {
        git.env("GIT_INDEX_FILE", self.file())
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        // Git may have been killed while it wrote the index, which leaves a lock file.
        for file in ["index", "index.lock"] {
            let _ = fs::remove_file(self.0.join(file));
        }
        let _ = fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git_in(dir: &Path, words: &[&str]) -> String {
        let ran = Command::new("git")
            .args(["-c", "user.name=P", "-c", "user.email=p@p"])
            .args(words)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    #[test]
    fn new_files_are_in_it_and_nothing_changes() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path();
        git_in(dir, &["init", "-q"]);
        fs::create_dir(dir.join("sub")).unwrap();
        fs::write(dir.join("a"), "a\n").unwrap();
        fs::write(dir.join(".gitignore"), "ignored\n").unwrap();
        git_in(dir, &["add", "-A"]);
        git_in(dir, &["commit", "-q", "-m", "root"]);
        assert_eq!(diff_since(dir, "HEAD").unwrap(), "");
        for name in ["new", "*", "-x", "ignored", "sub/inner"] {
            fs::write(dir.join(name), format!("in {name}\n")).unwrap();
        }
        fs::create_dir(dir.join("other")).unwrap();
        git_in(&dir.join("other"), &["init", "-q"]);
        let before = (git_in(dir, &["status", "--porcelain"]), git_in(dir, &["ls-files", "-s"]));
        for from in [dir.to_owned(), dir.join("sub")] {
            let diff = diff_since(&from, "HEAD").unwrap();
            for said in ["+in new\n", "+in *\n", "+in -x\n", "+in sub/inner\n"] {
                assert!(diff.contains(said), "{said}: {diff}");
            }
            assert!(!diff.contains("ignored") && !diff.contains("other"), "{diff}");
        }
        // One that was deleted since it was listed takes no other with it.
        let index = Index::with(dir, &[b"gone", b"new"]).unwrap();
        let mut diff = git(dir);
        let diff = run(index.of(diff.args(["diff", "--name-only"])), PATIENCE).unwrap();
        assert_eq!(diff, "new\n");
        drop(index);
        let after = (git_in(dir, &["status", "--porcelain"]), git_in(dir, &["ls-files", "-s"]));
        assert_eq!(before, after);
        let left = format!("consort-{}-", std::process::id());
        let mut found = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        assert!(!found.any(|entry| entry.file_name().to_string_lossy().starts_with(&left)));
        // Large files are shown by their ids.
        fs::write(dir.join("large"), "x\n".repeat(3 << 20)).unwrap();
        let one = diff_since(dir, "HEAD").unwrap();
        fs::write(dir.join("large"), "y\n".repeat(3 << 20)).unwrap();
        let other = diff_since(dir, "HEAD").unwrap();
        assert!(one.len() < 10_000 && one.contains("large") && one != other, "{one}");
    }
}
