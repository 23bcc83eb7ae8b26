//! Runs git on the worktree of a run or of the person, shielded from settings and variables that would
//! change the result.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::RunTree;
use super::error::WorktreeError;
use crate::run_program::Ran;
use crate::run_program::run_with_input;

/// Longest time of one git command; a checkout of a large repository takes minutes.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// Settings that a repository or the person may have otherwise, and that would change what we do.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "index.sparse=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// The author and committer of the commits that we make.
const WHO: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "Consort"),
    ("GIT_AUTHOR_EMAIL", "consort@localhost"),
    ("GIT_COMMITTER_NAME", "Consort"),
    ("GIT_COMMITTER_EMAIL", "consort@localhost"),
];

/// A worktree that git is run on.
#[derive(Clone, Debug)]
pub(super) struct Git {
    pub(super) worktree: PathBuf,
    git_dir: Option<PathBuf>,
    index: Option<PathBuf>,
}

impl Git {
    /// Uses a worktree of the person's.
    pub(super) fn at(worktree: &Path) -> Self {
        Self { worktree: worktree.to_owned(), git_dir: None, index: None }
    }

    /// Finds the worktree of the person's that a directory is in.
    pub(super) fn around(dir: &Path) -> Result<Self, WorktreeError> {
        let ran = Self::at(dir).run(&["rev-parse", "--show-toplevel"], b"")?;
        match ran.is_success {
            true => Ok(Self::at(path(trimmed(&ran.stdout)))),
            false => Err(WorktreeError::NoRepository { path: dir.to_owned() }),
        }
    }

    /// Uses the worktree of a run.
    pub(super) fn of(tree: &RunTree) -> Self {
        Self { worktree: tree.path.clone(), git_dir: Some(tree.git_dir.clone()), index: None }
    }

    /// Returns the same worktree with an index of our own.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut git = Command::new("git");
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        for (name, _) in std::env::vars_os() {
            if name.as_bytes().starts_with(b"GIT_") && !name.as_bytes().starts_with(b"GIT_CONFIG_") {
                git.env_remove(name);
            }
        }
        git.arg("-C").arg(&self.worktree).args(words).envs(WHO);
        git.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_LITERAL_PATHSPECS", "1");
        if let Some(git_dir) = &self.git_dir {
            git.env("GIT_DIR", git_dir).env("GIT_WORK_TREE", &self.worktree);
        }
        if let Some(index) = &self.index {
            git.env("GIT_INDEX_FILE", index);
        }
        // A signal to our process group must not interrupt git between two files.
        git.process_group(0);
        git
    }

    /// Runs git, and returns its output and exit, even if it fails.
    pub(super) fn run(&self, words: &[&str], input: &[u8]) -> Result<Ran, WorktreeError> {
        #[cfg(test)]
        super::tests::fault::step()?;
        let failed = |said: String| WorktreeError::Git { doing: doing(words), said };
        run_with_input(&mut self.command(words), PATIENCE, input).map_err(|error| failed(error.to_string()))
    }

    /// Runs git, and returns its output; an error if it fails.
    pub(super) fn give(&self, words: &[&str], input: &[u8]) -> Result<Vec<u8>, WorktreeError> {
        let ran = self.run(words, input)?;
        match ran.is_success {
            true => Ok(ran.stdout),
            false => Err(failed(words, &ran)),
        }
    }

    pub(super) fn ask(&self, words: &[&str]) -> Result<Vec<u8>, WorktreeError> {
        self.give(words, b"")
    }

    /// Runs git, and returns the one line that it prints.
    pub(super) fn line(&self, words: &[&str]) -> Result<String, WorktreeError> {
        Ok(line(self.ask(words)?))
    }

    /// Returns the id of the commit or tree that a name means.
    pub(super) fn id(&self, name: &str) -> Result<String, WorktreeError> {
        self.line(&["rev-parse", "--verify", "--end-of-options", name])
    }

    /// Returns the commit that a branch is on, if there is such a branch.
    pub(super) fn tip(&self, branch: &str) -> Result<Option<String>, WorktreeError> {
        let reference = format!("refs/heads/{branch}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &reference];
        let ran = self.run(&words, b"")?;
        match ran.code {
            Some(0) => Ok(Some(line(ran.stdout))),
            Some(1) => Ok(None),
            _ => Err(failed(&words, &ran)),
        }
    }

    pub(super) fn tree_of(&self, commit: &str) -> Result<String, WorktreeError> {
        self.id(&format!("{commit}^{{tree}}"))
    }

    /// Makes a commit with our name as its author.
    pub(super) fn commit(
        &self,
        tree: &str,
        parent: Option<&str>,
        text: &str,
    ) -> Result<String, WorktreeError> {
        let mut words = vec!["commit-tree", tree];
        words.extend(parent.iter().flat_map(|parent| ["-p", parent]));
        Ok(line(self.give(&words, text.as_bytes())?))
    }

    pub(super) fn is_ancestor(&self, one: &str, of: &str) -> Result<bool, WorktreeError> {
        let words = ["merge-base", "--is-ancestor", one, of];
        let ran = self.run(&words, b"")?;
        match ran.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed(&words, &ran)),
        }
    }

    /// Returns the git directory that all worktrees of the repository share.
    pub(super) fn common_dir(&self) -> Result<PathBuf, WorktreeError> {
        let dir = self.ask(&["rev-parse", "--git-common-dir"])?;
        let dir = self.worktree.join(path(trimmed(&dir)));
        std::fs::canonicalize(&dir).map_err(WorktreeError::file(&dir))
    }

    /// Returns the path of a file of git's own for this worktree.
    pub(super) fn git_path(&self, name: &str) -> Result<PathBuf, WorktreeError> {
        let found = self.ask(&["rev-parse", "--git-path", name])?;
        Ok(self.worktree.join(path(trimmed(&found))))
    }

    /// Merges two trees that both come from `base`. The inner error lists the paths that conflict.
    pub(super) fn merge_trees(
        &self,
        base: &str,
        one: &str,
        other: &str,
    ) -> Result<Result<String, Vec<String>>, WorktreeError> {
        if one == base || one == other {
            return Ok(Ok(other.to_owned()));
        }
        if other == base {
            return Ok(Ok(one.to_owned()));
        }
        let root = self.commit(base, None, "base")?;
        let one = self.commit(one, Some(&root), "one")?;
        let other = self.commit(other, Some(&root), "other")?;
        let words = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", &one, &other];
        let ran = self.run(&words, b"")?;
        let mut told = fields(&ran.stdout);
        match ran.code {
            Some(0) => Ok(Ok(told.next().map(text).unwrap_or_default())),
            // Git prints first the tree, then the paths.
            Some(1) => Ok(Err(told.skip(1).map(text).collect())),
            _ => Err(failed(&words, &ran)),
        }
    }

    /// Lists the differences between two trees.
    pub(super) fn differences(&self, one: &str, other: &str) -> Result<Vec<Difference>, WorktreeError> {
        let told = self.ask(&["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", one, other])?;
        let mut fields = fields(&told);
        let mut found = Vec::new();
        // `:100644 100755 <before> <after> M`, then the path.
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = text(head);
            let mut words = head.trim_start_matches(':').split(' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let (mode_before, mode_after, before, after) = (word(), word(), word(), word());
            let side = |mode: String, id: String| (mode != "000000").then_some(Entry { mode, id });
            found.push(Difference {
                path: path.to_vec(),
                before: side(mode_before, before),
                after: side(mode_after, after),
            });
        }
        Ok(found)
    }
}

/// A path that differs between two trees.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) path: Vec<u8>,
    pub(super) before: Option<Entry>,
    pub(super) after: Option<Entry>,
}

/// The mode and id that a tree or an index has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) mode: String,
    pub(super) id: String,
}

impl Entry {
    /// Whether the entry is a commit of another repository.
    pub(super) fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }
}

/// Splits git's output into its fields, which end in zero bytes.
pub(super) fn fields(told: &[u8]) -> impl Iterator<Item = &[u8]> {
    told.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(super) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn line(told: Vec<u8>) -> String {
    text(trimmed(&told))
}

pub(super) fn failed(words: &[&str], ran: &Ran) -> WorktreeError {
    let said = text(&ran.stderr).trim().to_owned();
    let said = if said.is_empty() { format!("it ended with {:?}", ran.code) } else { said };
    WorktreeError::Git { doing: doing(words), said }
}

fn doing(words: &[&str]) -> String {
    words.first().copied().unwrap_or_default().to_owned()
}
