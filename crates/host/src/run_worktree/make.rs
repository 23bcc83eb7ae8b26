//! Makes the worktree of a run.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::RunTree;
use super::bootstrap;
use super::bootstrap::Bootstrap;
use super::bootstrap::SetUpResult;
use super::error::WorktreeError;
use super::git::Git;
use super::snapshot;
use super::snapshot::LeftOut;
use super::submodules;

/// Most bytes of a file of the person's that is copied.
const LARGEST: u64 = 10 << 20;

/// The first version of git that merges trees.
const NEEDED: (u32, u32) = (2, 38);

/// A worktree that was made.
#[derive(Debug)]
pub struct Made {
    pub tree: RunTree,
    /// The files of the person's worktree that are not in the new one.
    pub left_out: Vec<LeftOut>,
    /// The result of the set-up command, if there is one. If it failed, the caller decides: the worktree
    /// is there.
    pub set_up: Option<SetUpResult>,
}

/// Makes a worktree at `at`, which is in a directory of ours, on a new branch, with the state of the
/// person's worktree: commits, staged and unstaged changes, new files.
pub fn make(
    repository_worktree: &Path,
    at: &Path,
    branch: &str,
    bootstrap: &Bootstrap,
) -> Result<Made, WorktreeError> {
    let git = Git::around(repository_worktree)?;
    check_version(&git)?;
    let reference = format!("refs/heads/{branch}");
    if branch.starts_with('-') || git.run(&["check-ref-format", &reference], b"")?.code != Some(0) {
        return Err(WorktreeError::NoBranchName { branch: branch.to_owned() });
    }
    if fs::symlink_metadata(at).is_ok() {
        return Err(WorktreeError::Exists { path: at.to_owned() });
    }
    let Ok(base) = git.id("HEAD^{commit}") else { return Err(WorktreeError::NoCommit) };
    let parent = at.parent().unwrap_or(at);
    fs::create_dir_all(parent).map_err(WorktreeError::file(parent))?;
    let index = beside(at);
    let taken = snapshot::take(&git, &index, Some(LARGEST));
    let _ = fs::remove_file(&index);
    let taken = taken?;
    let baseline = match taken.tree == git.tree_of(&base)? {
        true => base.clone(),
        false => git.commit(&taken.tree, Some(&base), "What was not committed when the run began\n")?,
    };
    let mut add = git.command(&["worktree", "add", "--quiet", "--no-track", "-b", branch, "--"]);
    add.arg(at).arg(&baseline);
    let ran = crate::run_program::run_with_input(&mut add, super::git::PATIENCE, b"");
    match ran.map_err(WorktreeError::file(at))? {
        ran if ran.is_success => {}
        ran => return Err(super::git::failed(&["worktree add"], &ran)),
    }
    let git_dir = PathBuf::from(Git::at(at).line(&["rev-parse", "--absolute-git-dir"])?);
    let mut tree = RunTree { path: at.to_owned(), git_dir, branch: branch.to_owned(), base, baseline };
    let set_up = bootstrap::prepare(&git.worktree, &mut tree, bootstrap)?;
    submodules::note(&tree)?;
    Ok(Made { tree, left_out: taken.left_out, set_up })
}

/// Returns the path of an index file beside a directory.
fn beside(at: &Path) -> PathBuf {
    let mut name = at.file_name().unwrap_or_default().to_owned();
    name.push(".index");
    at.with_file_name(name)
}

fn check_version(git: &Git) -> Result<(), WorktreeError> {
    let told = git.line(&["version"])?;
    let version = told.trim_start_matches("git version ");
    let mut numbers = version.split('.').map_while(|number| number.parse::<u32>().ok());
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match found >= NEEDED {
        true => Ok(()),
        false => Err(WorktreeError::OldGit { found: version.to_owned() }),
    }
}
