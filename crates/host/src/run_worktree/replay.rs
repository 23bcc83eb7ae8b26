//! Replays the commits of a run on top of the person's.

use super::error::WorktreeError;
use super::git::Git;
use super::git::text;

/// The result of replaying a run's commits.
#[derive(Debug)]
pub(super) struct Replayed {
    /// The last replayed commit, or the commit they were to be put on.
    pub(super) tip: String,
    /// Number of commits that were replayed.
    pub(super) brought: usize,
    /// Number of commits that were not: they build on changes that the person has not committed.
    pub(super) left: usize,
}

/// Replays the commits after `since` on top of `onto`, with their authors, dates and messages; a merge
/// becomes one commit. The same commits on the same commit get the same ids again.
pub(super) fn replay(git: &Git, since: &str, head: &str, onto: &str) -> Result<Replayed, WorktreeError> {
    let not_since = format!("^{since}");
    let list = git.ask(&["rev-list", "--reverse", "--first-parent", head, &not_since])?;
    let list = text(&list);
    let commits: Vec<&str> = list.lines().collect();
    let mut replayed = Replayed { tip: onto.to_owned(), brought: 0, left: commits.len() };
    // A rewritten history no longer tells which commits were the person's.
    if !git.is_ancestor(since, head)? {
        return Ok(replayed);
    }
    for commit in commits {
        let parent = git.id(&format!("{commit}^1"))?;
        if parent == replayed.tip {
            replayed.tip = commit.to_owned();
        } else {
            let (before, after) = (git.tree_of(&parent)?, git.tree_of(commit)?);
            let here = git.tree_of(&replayed.tip)?;
            let Ok(merged) = git.merge_trees(&before, &after, &here)? else { break };
            // A commit whose change is there already is skipped, and so is a merge with the person's
            // branch; a commit that was empty from the start is kept.
            let is_empty = || before == after && git.id(&format!("{commit}^2")).is_err();
            if merged != here || is_empty() {
                replayed.tip = again(git, commit, &merged, &replayed.tip)?;
            }
        }
        replayed.brought += 1;
        replayed.left -= 1;
    }
    Ok(replayed)
}

/// Writes a commit again with another tree and parent, without its signature, which would no longer fit.
fn again(git: &Git, commit: &str, tree: &str, parent: &str) -> Result<String, WorktreeError> {
    let raw = git.ask(&["cat-file", "commit", commit])?;
    let end = raw.windows(2).position(|pair| pair == b"\n\n").unwrap_or(raw.len());
    let (head, message) = raw.split_at(end);
    let mut made = format!("tree {tree}\nparent {parent}").into_bytes();
    let mut is_kept = false;
    for line in head.split(|byte| *byte == b'\n') {
        // A line that begins with a space continues the line before.
        if !line.starts_with(b" ") {
            is_kept =
                [&b"author "[..], b"committer ", b"encoding "].iter().any(|kept| line.starts_with(kept));
        }
        if is_kept {
            made.push(b'\n');
            made.extend_from_slice(line);
        }
    }
    made.extend_from_slice(message);
    let id = git.give(&["hash-object", "-t", "commit", "-w", "--stdin"], &made)?;
    Ok(text(&id).trim().to_owned())
}
