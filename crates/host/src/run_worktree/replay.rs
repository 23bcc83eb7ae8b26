//! The commits of a run, made again on top of the person's.

use super::error::WorktreeError;
use super::git::Git;
use super::git::text;

/// What became of the commits of a run.
#[derive(Debug)]
pub(super) struct Replayed {
    /// The last one, or the commit they were to be put on.
    pub(super) tip: String,
    /// How many are in it.
    pub(super) brought: usize,
    /// How many are not: they build on what the person has not committed.
    pub(super) left: usize,
}

/// Puts what was committed after `since` on top of `onto`, with authors, dates and messages as
/// they are; a merge as one commit. The same commits on the same commit are the same again.
pub(super) fn replay(git: &Git, since: &str, head: &str, onto: &str) -> Result<Replayed, WorktreeError> {
    let not_since = format!("^{since}");
    let list = git.ask(&["rev-list", "--reverse", "--first-parent", head, &not_since])?;
    let list = text(&list);
    let commits: Vec<&str> = list.lines().collect();
    let mut replayed = Replayed { tip: onto.to_owned(), brought: 0, left: commits.len() };
    // A history that was written anew no longer says what was the person's.
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
            // What is there already is not committed again, and neither is a merge with it.
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

/// The same commit with another tree and parent. A signature would no longer fit.
fn again(git: &Git, commit: &str, tree: &str, parent: &str) -> Result<String, WorktreeError> {
    let raw = git.ask(&["cat-file", "commit", commit])?;
    let end = raw.windows(2).position(|pair| pair == b"\n\n").unwrap_or(raw.len());
    let (head, message) = raw.split_at(end);
    let mut made = format!("tree {tree}\nparent {parent}").into_bytes();
    let mut is_kept = false;
    for line in head.split(|byte| *byte == b'\n') {
        // A line that begins with a space goes on with the one before.
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
