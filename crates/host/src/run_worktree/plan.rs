//! Plans the merge of a run's work, in git's objects alone.

use super::RunTree;
use super::error::WorktreeError;
use super::git::Git;
use super::merge::INDEX;
use super::record::Record;
use super::record::State;
use super::replay::replay;
use super::snapshot;

/// Most bytes of a file of the person's that is read; a merge that would change a larger one is refused.
pub(super) const LARGEST: u64 = 10 << 20;

pub(super) enum Plan {
    /// The run has done nothing since the last merge.
    Nothing,
    Conflicts(Vec<String>),
    Merge(Box<Record>),
}

/// Plans a merge of the run's work since the last merge.
pub(super) fn plan(tree: &RunTree, into: &Git, last: Option<&Record>) -> Result<Plan, WorktreeError> {
    let worker = Git::of(tree);
    let index = tree.git_dir.join(INDEX);
    let since = match last {
        Some(last) => [last.worker_head.clone(), last.worker_files.clone()],
        None => [tree.baseline.clone(), worker.tree_of(&tree.baseline)?],
    };
    let worker_files = snapshot::take(&worker, &index, None)?.tree;
    let worker_head = worker.id("HEAD^{commit}")?;
    if worker_head == since[0] && worker_files == since[1] {
        return Ok(Plan::Nothing);
    }
    let theirs = snapshot::take(into, &index, Some(LARGEST))?;
    let head = into.id("HEAD^{commit}")?;
    let files = match into.merge_trees(&since[1], &worker_files, &theirs.tree)? {
        Ok(files) => files,
        Err(paths) => return Ok(Plan::Conflicts(paths)),
    };
    let mut replayed = replay(into, &since[0], &worker_head, &head)?;
    let (before, after) = (into.tree_of(&head)?, into.tree_of(&replayed.tip)?);
    let staged = match into.merge_trees(&before, &after, &theirs.staged)? {
        Ok(staged) => staged,
        // If that conflicts, the staged files stay as they are, and so does the commit below them.
        Err(_) => {
            replayed.tip = head.clone();
            replayed.left += replayed.brought;
            replayed.brought = 0;
            theirs.staged.clone()
        }
    };
    let changed = into.differences(&theirs.tree, &files)?.len();
    Ok(Plan::Merge(Box::new(Record {
        state: State::Begun,
        since,
        head: [head, replayed.tip],
        files: [theirs.tree, files],
        staged: [theirs.staged, staged],
        worker_head,
        worker_files,
        commits: replayed.brought,
        as_changes: replayed.left,
        changed,
    })))
}
