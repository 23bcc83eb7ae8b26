//! Finds work in a run's worktree that no snapshot of it has: files of submodules, and commits that are
//! on no branch. Git is not run in a submodule: programs that its settings name would run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::RunTree;
use super::error::WorktreeError;
use super::git::Entry;
use super::git::Git;
use super::git::path;
use super::git::text;
use super::snapshot;

/// The file that lists the submodules' files as of when the worktree was made.
const NOTED: &str = "consort-submodules";

/// Files of submodules, each with a stamp that changes with the file.
type Files = BTreeMap<Vec<u8>, String>;

/// Notes the files that the set-up has put into submodules: they are not the run's work.
pub(super) fn note(tree: &RunTree) -> Result<(), WorktreeError> {
    let found = files(tree)?;
    if found.is_empty() {
        return Ok(());
    }
    let mut noted = Vec::new();
    for (name, stamp) in found {
        noted.extend_from_slice(&[stamp.as_bytes(), b" ", &name, b"\0"].concat());
    }
    let path = tree.git_dir.join(NOTED);
    fs::write(&path, noted).map_err(WorktreeError::file(&path))
}

/// Lists the files in submodules that are new or changed since the worktree was made.
pub(super) fn changed_files(tree: &RunTree) -> Result<Vec<String>, WorktreeError> {
    let noted = noted(tree);
    let is_new = |(name, stamp): &(Vec<u8>, String)| noted.get(name) != Some(stamp);
    Ok(files(tree)?.into_iter().filter(is_new).map(|(name, _)| text(&name)).collect())
}

/// Lists the files that were in submodules when the worktree was made, and are gone now.
pub(super) fn gone(tree: &RunTree) -> Result<Vec<String>, WorktreeError> {
    let now = files(tree)?;
    Ok(noted(tree).keys().filter(|name| !now.contains_key(*name)).map(|name| text(name)).collect())
}

fn noted(tree: &RunTree) -> Files {
    let noted = fs::read(tree.git_dir.join(NOTED)).unwrap_or_default();
    let file = |line: &[u8]| {
        let space = line.iter().position(|byte| *byte == b' ')?;
        Some((line[space + 1..].to_vec(), text(&line[..space])))
    };
    super::git::fields(&noted).filter_map(file).collect()
}

/// Lists all files of submodules, those of their repositories included.
fn files(tree: &RunTree) -> Result<Files, WorktreeError> {
    let mut found = Files::new();
    let entries = snapshot::entries(&Git::of(tree))?;
    for (name, _) in entries.iter().filter(|(_, entry)| Entry::is_submodule(entry)) {
        if snapshot::look(&tree.path, path(name)).is_some_and(|there| there.is_dir()) {
            walk(&tree.path, path(name), &mut found);
        }
    }
    walk(&tree.git_dir, Path::new("modules"), &mut found);
    Ok(found)
}

fn walk(top: &Path, dir: &Path, found: &mut Files) {
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(top.join(&dir)).into_iter().flatten().flatten() {
            let name = dir.join(entry.file_name());
            let Ok(there) = entry.metadata() else { continue };
            if there.is_dir() {
                dirs.push(name);
            } else if !(dir.starts_with("modules") && entry.file_name() == "index") {
                // An index does not count: even `git status` writes the submodule's.
                let stamp = format!("{}.{}.{}", there.len(), there.ctime(), there.ctime_nsec());
                found.insert(name.as_os_str().as_bytes().to_vec(), stamp);
            }
        }
    }
}

/// Lists the commits that were checked out, were left for another checkout, and are neither merged nor on
/// a branch or tag.
pub(super) fn left_commits(tree: &RunTree, git: &Git, merged: &str) -> Result<Vec<String>, WorktreeError> {
    let log = fs::read(tree.git_dir.join("logs/HEAD")).unwrap_or_default();
    let mut left = Vec::new();
    for line in text(&log).lines() {
        // A line of git's log: `<before> <after> <who> <when>`, a tab, and the action.
        let Some((head, _)) = line.split_once("\tcheckout: moving from ") else { continue };
        let commit = head.split(' ').next().unwrap_or_default().to_owned();
        if !left.contains(&commit) && is_lost(git, &commit, merged)? {
            left.push(commit);
        }
    }
    Ok(left.into_iter().map(|commit| format!("commit {commit}, which is on no branch")).collect())
}

/// Whether a commit has a change that is on no branch, under no tag and not merged.
fn is_lost(git: &Git, commit: &str, merged: &str) -> Result<bool, WorktreeError> {
    // A commit that git has deleted already cannot be kept.
    if !git.run(&["cat-file", "-e", &format!("{commit}^{{commit}}")], b"")?.is_success {
        return Ok(false);
    }
    let alone = git.line(&["rev-list", commit, "--not", "--all", merged])?;
    if alone.is_empty() {
        return Ok(false);
    }
    // The same change may be in another commit.
    let both = format!("{merged}...{commit}");
    let changes = git.line(&["rev-list", "--cherry-pick", "--right-only", &both])?;
    Ok(alone.lines().any(|commit| changes.lines().any(|change| change == commit)))
}
