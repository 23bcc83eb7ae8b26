//! Removes the worktree of a run, if all work in it is merged.

use std::fs;
use std::path::PathBuf;

use super::RunTree;
use super::error::WorktreeError;
use super::git::Git;
use super::git::text;
use super::merge::INDEX;
use super::merge::check_worktree;
use super::merge::lock;
use super::record::Record;
use super::record::State;
use super::snapshot;
use super::submodules;

/// The result of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Whether the branch was kept: commits on it came back as changes, so that only the branch has their
    /// messages.
    pub is_branch_kept: bool,
}

/// Removes a worktree, its ignored files and its branch. Refused while anything in it is not merged.
pub fn remove(tree: &RunTree) -> Result<Removed, WorktreeError> {
    if !tree.git_dir.exists() && !tree.path.exists() {
        return Ok(Removed { is_branch_kept: false });
    }
    let git = Git::of(tree);
    check_worktree(tree, &Git::at(&PathBuf::new()))?;
    let common = git.common_dir()?;
    let _lock = lock(&common)?;
    let removed = locked(tree, &git);
    let _ = fs::remove_file(tree.git_dir.join(INDEX));
    removed
}

fn locked(tree: &RunTree, git: &Git) -> Result<Removed, WorktreeError> {
    let last = Record::read(tree)?;
    // Git runs outside of the worktree, which is about to be removed.
    let repository = Git::at(&git.common_dir()?);
    if let Some(last) = last.as_ref().filter(|last| last.state == State::Removing) {
        return finish_removal(tree, git, &repository, last);
    }
    if last.as_ref().is_some_and(|last| last.state == State::Begun) {
        return Err(WorktreeError::HalfMerged);
    }
    let unmerged = unmerged(tree, git, last.as_ref())?;
    if !unmerged.is_empty() {
        return Err(WorktreeError::Unmerged { path: tree.path.clone(), what: unmerged });
    }
    let head = git.id("HEAD^{commit}")?;
    let files = snapshot::take(git, &tree.git_dir.join(INDEX), None)?.tree;
    // All files become one commit, so that git itself checks that there is nothing else.
    let all = git.commit(&files, Some(&head), "What the run had not committed\n")?;
    let record = last.unwrap_or_else(|| nothing(tree, &head, &files));
    let record = Record { state: State::Removing, worker_head: all.clone(), worker_files: files, ..record };
    record.write(tree)?;
    finish_removal(tree, git, &repository, &record)
}

/// Removes a worktree that was found to be merged; part of it may be gone already.
fn finish_removal(
    tree: &RunTree,
    git: &Git,
    repository: &Git,
    record: &Record,
) -> Result<Removed, WorktreeError> {
    let (all, files) = (&record.worker_head, &record.worker_files);
    let now = snapshot::take(git, &tree.git_dir.join(INDEX), None)?;
    let is_new = |change: &super::git::Difference| change.after.is_some();
    let changes = git.differences(files, &now.tree)?;
    let mut what = submodules::changed_files(tree)?;
    what.extend(changes.iter().find(|change| is_new(change)).map(|new| text(&new.path)));
    if !what.is_empty() {
        return Err(WorktreeError::Unmerged { path: tree.path.clone(), what });
    }
    git.ask(&["update-ref", "--no-deref", "HEAD", all])?;
    git.ask(&["read-tree", all])?;
    let is_branch_kept = record.as_changes > 0;
    if !is_branch_kept && let Some(tip) = git.tip(&tree.branch)? {
        let reference = format!("refs/heads/{}", tree.branch);
        repository.ask(&["update-ref", "-d", &reference, &tip])?;
    }
    let mut words = vec!["worktree", "remove"];
    // Git takes files that are gone already for changes.
    words.extend((!changes.is_empty()).then_some("--force"));
    let mut command = repository.command(&words);
    command.arg("--").arg(&tree.path);
    let ran = crate::run_program::run_with_input(&mut command, super::git::PATIENCE, b"");
    match ran.map_err(WorktreeError::file(&tree.path))? {
        ran if ran.is_success => Ok(Removed { is_branch_kept }),
        ran => Err(super::git::failed(&["worktree remove"], &ran)),
    }
}

/// Lists the files and commits that are not merged, and would be lost.
fn unmerged(tree: &RunTree, git: &Git, last: Option<&Record>) -> Result<Vec<String>, WorktreeError> {
    let since = match last {
        Some(last) => [last.worker_head.clone(), last.worker_files.clone()],
        None => [tree.baseline.clone(), git.tree_of(&tree.baseline)?],
    };
    let now = snapshot::take(git, &tree.git_dir.join(INDEX), None)?;
    let mut found: Vec<String> =
        git.differences(&since[1], &now.tree)?.iter().map(|change| text(&change.path)).collect();
    found.extend(now.left_out.into_iter().map(|left| left.path));
    found.extend(submodules::changed_files(tree)?);
    found.extend(submodules::gone(tree)?);
    found.extend(submodules::left_commits(tree, git, &since[0])?);
    let head = git.id("HEAD^{commit}")?;
    if !git.is_ancestor(&head, &since[0])? {
        found.push(format!("commit {head}"));
    }
    if let Some(tip) = git.tip(&tree.branch)?
        && !git.is_ancestor(&tip, &since[0])?
    {
        found.push(format!("commit {tip} on {}", tree.branch));
    }
    // A merge that the person has taken back does not count.
    if let Some(last) = last.filter(|last| last.commits > 0)
        && !is_reachable(tree, git, &last.head[1])?
    {
        found.push(format!("commit {}, which is on no branch any more", last.head[1]));
    }
    Ok(found)
}

/// Whether a commit is on a branch or under a tag, or checked out, other than by this run.
fn is_reachable(tree: &RunTree, git: &Git, commit: &str) -> Result<bool, WorktreeError> {
    let contains = format!("--contains={commit}");
    let names = text(&git.ask(&["for-each-ref", "--format=%(refname)", &contains])?);
    let own = format!("refs/heads/{}", tree.branch);
    if names.lines().any(|name| name != own) {
        return Ok(true);
    }
    let worktrees = text(&git.ask(&["worktree", "list", "--porcelain", "-z"])?);
    let own = format!("worktree {}", fs::canonicalize(&tree.path).unwrap_or_default().display());
    let others = worktrees.split("\0\0").filter(|told| told.split('\0').next() != Some(&own));
    let heads = others.filter_map(|told| told.split('\0').find_map(|line| line.strip_prefix("HEAD ")));
    for head in heads {
        if git.is_ancestor(commit, head)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the record of a run that has changed nothing.
fn nothing(tree: &RunTree, head: &str, files: &str) -> Record {
    let two = |id: &str| [id.to_owned(), id.to_owned()];
    Record {
        state: State::Done,
        since: [head.to_owned(), files.to_owned()],
        head: two(&tree.base),
        files: two(files),
        staged: two(files),
        worker_head: head.to_owned(),
        worker_files: files.to_owned(),
        commits: 0,
        as_changes: 0,
        changed: 0,
    }
}
