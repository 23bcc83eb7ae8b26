//! Takes the state of a worktree as a git tree: what is committed, staged, changed and new.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::error::WorktreeError;
use super::git::Entry;
use super::git::Git;
use super::git::fields;
use super::git::path;
use super::git::text;

/// A path of a worktree that a snapshot does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The path from the top of the worktree.
    pub path: String,
    pub why: WhyLeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeftOut {
    /// A file above the size limit.
    TooLarge,
    /// A submodule that has changed: another repository's state is its own matter.
    Submodule,
    /// A repository inside this one that is no submodule.
    Repository,
}

/// The state of a worktree.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) tree: String,
    /// The tree of the staged files.
    pub(super) staged: String,
    pub(super) left_out: Vec<LeftOut>,
}

/// Takes a snapshot of a worktree, with links as links and without ignored files. `index` is a file of
/// ours: afterwards it is an index with that state and the files' times and sizes.
pub(super) fn take(git: &Git, index: &Path, limit: Option<u64>) -> Result<Snapshot, WorktreeError> {
    let own = git.git_path("index")?;
    match copy_index(&own, index) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let _ = fs::remove_file(index);
        }
        copied => copied.map_err(WorktreeError::file(&own))?,
    }
    let ours = git.with_index(index);
    let unresolved: BTreeSet<String> = fields(&ours.ask(&["ls-files", "-u", "-z"])?)
        .filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1).map(text))
        .collect();
    if !unresolved.is_empty() {
        let paths = unresolved.into_iter().collect();
        return Err(WorktreeError::Unresolved { path: git.worktree.clone(), paths });
    }
    let staged = ours.line(&["write-tree"])?;
    // Git exits with 1 if files have changed, which are looked for next.
    ours.run(&["update-index", "-q", "--ignore-submodules", "--refresh"], b"")?;
    look_at_flagged(&ours)?;
    let entries = entries(&ours)?;
    let (mut gone, mut there, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    let mut leave = |name: &[u8], why| left_out.push(LeftOut { path: text(name), why });
    let told = ours.ask(&["ls-files", "-z", "-m", "-d", "-o", "--exclude-standard"])?;
    for name in fields(&told).collect::<BTreeSet<_>>() {
        if entries.get(name).is_some_and(Entry::is_submodule) {
            leave(name, WhyLeftOut::Submodule);
            continue;
        }
        if let Some(name) = name.strip_suffix(b"/") {
            leave(name, WhyLeftOut::Repository);
            continue;
        }
        let list = match look(&git.worktree, path(name)) {
            Some(found) if found.is_dir() => &mut gone,
            Some(found) if found.is_file() && limit.is_some_and(|limit| found.len() > limit) => {
                leave(name, WhyLeftOut::TooLarge);
                continue;
            }
            Some(_) => &mut there,
            None => &mut gone,
        };
        list.extend_from_slice(name);
        list.push(0);
    }
    ours.give(&["update-index", "-z", "--force-remove", "--stdin"], &gone)?;
    ours.give(&["update-index", "-z", "--add", "--replace", "--stdin"], &there)?;
    Ok(Snapshot { tree: ours.line(&["write-tree"])?, staged, left_out })
}

/// Copies an index with its modification time: git reads a file's content again unless the file is older
/// than the index.
fn copy_index(own: &Path, index: &Path) -> std::io::Result<()> {
    let mut from = fs::File::open(own)?;
    let times = fs::FileTimes::new().set_modified(from.metadata()?.modified()?);
    let mut to = fs::File::create(index)?;
    std::io::copy(&mut from, &mut to)?;
    to.set_times(times)
}

/// Has git look again at files that it was told not to look at (`--skip-worktree`, `--assume-unchanged`).
/// Files that are not there stay so: a sparse checkout has not all files.
fn look_at_flagged(ours: &Git) -> Result<(), WorktreeError> {
    let mut there = Vec::new();
    for name in flagged(ours)? {
        if look(&ours.worktree, path(&name)).is_some() {
            there.extend_from_slice(&name);
            there.push(0);
        }
    }
    if !there.is_empty() {
        ours.give(&["update-index", "-z", "--no-skip-worktree", "--stdin"], &there)?;
        ours.give(&["update-index", "-z", "--no-assume-unchanged", "--stdin"], &there)?;
    }
    Ok(())
}

/// Lists the files of an index that git was told not to look at.
pub(super) fn flagged(git: &Git) -> Result<BTreeSet<Vec<u8>>, WorktreeError> {
    let told = git.ask(&["ls-files", "-v", "-z"])?;
    // A flagged line: `S` or a small letter, a space, the path.
    let is_flagged = |line: &&[u8]| line[0] == b'S' || line[0].is_ascii_lowercase();
    Ok(fields(&told).filter(is_flagged).filter_map(|line| line.get(2..)).map(<[u8]>::to_vec).collect())
}

/// Lists the entries of an index, by path.
pub(super) fn entries(git: &Git) -> Result<BTreeMap<Vec<u8>, Entry>, WorktreeError> {
    let told = git.ask(&["ls-files", "-s", "-z"])?;
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        // `100644 <id> 0`
        let head = text(&line[..tab]);
        let mut words = head.split(' ').map(str::to_owned);
        Some((line[tab + 1..].to_vec(), Entry { mode: words.next()?, id: words.next()? }))
    };
    Ok(fields(&told).filter_map(entry).collect())
}

/// Returns the metadata of a path, if it is reached without following a link.
pub(super) fn look(worktree: &Path, name: &Path) -> Option<fs::Metadata> {
    let above = name.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    for above in above {
        if !fs::symlink_metadata(worktree.join(above)).ok()?.is_dir() {
            return None;
        }
    }
    fs::symlink_metadata(worktree.join(name)).ok()
}
