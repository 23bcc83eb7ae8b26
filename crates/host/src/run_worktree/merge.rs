//! Merges a run's work into a worktree of the person's: commits as commits, changes as changes.

use std::collections::BTreeSet;
use std::fs;
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use rustix::fs::FlockOperation;

use super::RunTree;
use super::error::WorktreeError;
use super::git::Difference;
use super::git::Git;
use super::git::path;
use super::git::text;
use super::plan::LARGEST;
use super::plan::Plan;
use super::plan::plan;
use super::record::Record;
use super::record::State;
use super::snapshot;

/// The name of the index that snapshots are made in.
pub(super) const INDEX: &str = "consort-index";

/// Longest wait for another merge into the same repository.
const PATIENCE: Duration = Duration::from_secs(120);

/// Longest time that a git command of the person's may keep the index.
const INDEX_PATIENCE: Duration = Duration::from_secs(5);

/// Most times that a merge is planned, because files change meanwhile.
const ATTEMPTS: usize = 5;

/// The outcome of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The run has changed nothing.
    Nothing,
    Merged {
        /// Commits that are now on the person's branch.
        commits: usize,
        /// Commits that build on changes the person has not committed: their changes are in the files,
        /// and they are on the run's branch.
        as_changes: usize,
        /// Files of the person's worktree that changed.
        files: usize,
    },
    /// Nothing was merged. The worktree and its branch stay.
    Conflicts {
        paths: Vec<String>,
        /// An earlier merge was interrupted, and these files changed before it could be
        /// finished: some files have the run's changes already.
        is_half_done: bool,
    },
}

/// Merges a run's work into a worktree of the person's, which may have changed since and may have changes
/// of its own. A merge that was interrupted is finished; work that is merged already is not merged again.
pub fn merge(tree: &RunTree, into: &Path) -> Result<Merge, WorktreeError> {
    let into = Git::around(into)?;
    check_worktree(tree, &into)?;
    let common = into.common_dir()?;
    if !fs::canonicalize(&tree.git_dir).is_ok_and(|dir| dir.starts_with(common.join("worktrees"))) {
        return Err(WorktreeError::OtherRepository { path: into.worktree });
    }
    let _lock = lock(&common)?;
    let merged = locked(tree, &into);
    let _ = fs::remove_file(tree.git_dir.join(INDEX));
    merged
}

fn locked(tree: &RunTree, into: &Git) -> Result<Merge, WorktreeError> {
    nothing_under_way(into)?;
    let mut last = Record::read(tree)?;
    if let Some(begun) = last.take_if(|last| last.state == State::Begun) {
        repair(tree, into, &begun)?;
        if !is_untouched(tree, into, &begun)? {
            return finish(tree, into, begun, Begun::Before).map(|merged| merged.unwrap_or(Merge::Nothing));
        }
        let undone = begun.undone();
        undone.write(tree)?;
        last = Some(undone);
    }
    for _ in 0..ATTEMPTS {
        match plan(tree, into, last.as_ref())? {
            Plan::Nothing => return Ok(last.map_or(Merge::Nothing, |last| outcome(&last))),
            Plan::Conflicts(paths) => return Ok(Merge::Conflicts { paths, is_half_done: false }),
            Plan::Merge(record) => {
                record.write(tree)?;
                let undone = Record::clone(&record).undone();
                if let Some(merged) = finish(tree, into, *record, Begun::Now)? {
                    return Ok(merged);
                }
                undone.write(tree)?;
                last = Some(undone);
            }
        }
    }
    Err(WorktreeError::KeepsChanging { path: into.worktree.clone() })
}

fn outcome(record: &Record) -> Merge {
    match record.commits + record.as_changes + record.changed {
        0 if record.since[1] == record.worker_files => Merge::Nothing,
        _ => Merge::Merged { commits: record.commits, as_changes: record.as_changes, files: record.changed },
    }
}

/// The moment at which a merge was begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    Now,
    /// Earlier, by a process that did not finish the merge.
    Before,
}

/// Carries out the rest of a merge. `None` if the merge was begun just now and the files have changed
/// since it was planned.
fn finish(
    tree: &RunTree,
    into: &Git,
    mut record: Record,
    begun: Begun,
) -> Result<Option<Merge>, WorktreeError> {
    let index = tree.git_dir.join(INDEX);
    let now = snapshot::take(into, &index, Some(LARGEST))?.tree;
    let is_half_done = begun == Begun::Before;
    let conflicts = |paths| Ok(Some(Merge::Conflicts { paths, is_half_done }));
    let after = match now == record.files[0] {
        true => record.files[1].clone(),
        false if begun == Begun::Now => return Ok(None),
        false => match into.merge_trees(&record.files[0], &record.files[1], &now)? {
            Ok(after) => after,
            Err(paths) => return conflicts(paths),
        },
    };
    if after != now {
        let in_the_way = in_the_way(into, &into.with_index(&index), &now, &after)?;
        if !in_the_way.is_empty() {
            if begun == Begun::Now {
                record.undone().write(tree)?;
            }
            return conflicts(in_the_way);
        }
        into.with_index(&index).ask(&["read-tree", "-m", "-u", &now, &after])?;
    }
    if move_head(tree, into, &record)? {
        stage(into, &record)?;
    } else {
        record.as_changes += std::mem::take(&mut record.commits);
        record.head[1] = record.head[0].clone();
    }
    record.state = State::Done;
    record.write(tree)?;
    Ok(Some(outcome(&record)))
}

/// Moves the person's branch to the new commits, unless it has moved on meanwhile; whether they are on
/// it.
fn move_head(tree: &RunTree, into: &Git, record: &Record) -> Result<bool, WorktreeError> {
    let [before, after] = &record.head;
    let now = into.id("HEAD^{commit}")?;
    if now == *before && before != after {
        let why = format!("consort: merge of {}", tree.branch);
        return Ok(into.run(&["update-ref", "-m", &why, "HEAD", after, before], b"")?.is_success);
    }
    into.is_ancestor(after, &now)
}

/// Stages the changes of the new commits, except where the person has staged something since.
fn stage(into: &Git, record: &Record) -> Result<(), WorktreeError> {
    let begun = Instant::now();
    loop {
        let entries = snapshot::entries(into)?;
        let mut input = Vec::new();
        for Difference { path, before, after } in into.differences(&record.staged[0], &record.staged[1])? {
            if entries.get(&path) != before.as_ref() {
                continue;
            }
            let line = match after {
                Some(entry) => format!("{} {} 0\t", entry.mode, entry.id),
                None => format!("0 {} 0\t", "0".repeat(record.staged[0].len())),
            };
            input.extend_from_slice(line.as_bytes());
            input.extend_from_slice(&path);
            input.push(0);
        }
        let words = ["update-index", "-z", "--index-info"];
        let ran = into.run(&words, &input)?;
        if ran.is_success {
            // Git exits with 1 if files have changed.
            into.run(&["update-index", "-q", "--ignore-submodules", "--refresh"], b"")?;
            return Ok(());
        }
        if begun.elapsed() > INDEX_PATIENCE || !text(&ran.stderr).contains("index.lock") {
            return Err(super::git::failed(&words, &ran));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Lists the files that these changes would overwrite although no snapshot has them: ignored, too large,
/// or changed since. Also lists the files that git would not write.
fn in_the_way(into: &Git, ours: &Git, now: &str, after: &str) -> Result<Vec<String>, WorktreeError> {
    let changes = into.differences(now, after)?;
    let gone: BTreeSet<&[u8]> = changes
        .iter()
        .filter(|change| change.before.is_some())
        .map(|change| change.path.as_slice())
        .collect();
    let mut found = BTreeSet::new();
    for change in changes.iter().filter(|change| change.before.is_none()) {
        let new = path(&change.path);
        for above in new.ancestors().filter(|above| !above.as_os_str().is_empty()) {
            let Ok(there) = fs::symlink_metadata(into.worktree.join(above)) else { continue };
            let name = std::os::unix::ffi::OsStrExt::as_bytes(above.as_os_str());
            match there.is_dir() {
                true if above == new => strangers(&into.worktree, above, &gone, &mut found),
                true => {}
                false if gone.contains(name) => {}
                false => drop(found.insert(text(name))),
            }
        }
    }
    // Git does not write files that a sparse checkout leaves out.
    let unseen = snapshot::flagged(ours)?;
    found.extend(
        changes.iter().filter(|change| unseen.contains(&change.path)).map(|change| text(&change.path)),
    );
    if found.is_empty() {
        let ran = ours.run(&["read-tree", "-m", "-u", "-n", now, after], b"")?;
        if !ran.is_success {
            let said = text(&ran.stderr);
            // `error: Entry 'a' not uptodate. Cannot merge.`
            let name = said.split_once('\'').and_then(|(_, rest)| rest.rsplit_once('\''));
            found.insert(name.map_or_else(|| said.trim().to_owned(), |(name, _)| name.to_owned()));
        }
    }
    Ok(found.into_iter().collect())
}

/// Finds the files below a directory that are not among those to be removed.
fn strangers(worktree: &Path, dir: &Path, gone: &BTreeSet<&[u8]>, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(worktree.join(dir)).into_iter().flatten().flatten() {
        let inner = dir.join(entry.file_name());
        let name = std::os::unix::ffi::OsStrExt::as_bytes(inner.as_os_str());
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => strangers(worktree, &inner, gone, found),
            false if gone.contains(name) => {}
            false => drop(found.insert(text(name))),
        }
    }
}

/// Writes again the files that an interrupted merge has written in part, or had just removed to write
/// them: git does not replace files in one step.
fn repair(tree: &RunTree, into: &Git, begun: &Record) -> Result<(), WorktreeError> {
    let index = tree.git_dir.join(INDEX);
    let ours = into.with_index(&index);
    let mut torn = Vec::new();
    for change in into.differences(&begun.files[0], &begun.files[1])? {
        let Some(after) = change.after.filter(|after| after.mode.starts_with("100")) else { continue };
        let name = path(&change.path);
        let is_torn = match snapshot::look(&into.worktree, name) {
            None => change.before.is_some(),
            Some(found) if found.is_file() => {
                let here = into.worktree.join(name);
                let bytes = fs::read(&here).map_err(WorktreeError::file(&here))?;
                let spec = [b"--path=", change.path.as_slice()].concat();
                let mut show = into.command(&["cat-file", "--filters"]);
                show.arg(std::ffi::OsStr::new(path(&spec))).arg(&after.id);
                let shown = crate::run_program::run_with_input(&mut show, PATIENCE, b"");
                let whole = shown.map_err(WorktreeError::file(&here))?.stdout;
                bytes.len() < whole.len()
                    && whole.starts_with(&bytes)
                    && !is_before(into, &change.before, &here)?
            }
            Some(_) => false,
        };
        if is_torn {
            torn.extend_from_slice(&change.path);
            torn.push(0);
        }
    }
    if !torn.is_empty() {
        ours.ask(&["read-tree", &begun.files[1]])?;
        ours.give(&["checkout-index", "-f", "-z", "--stdin"], &torn)?;
    }
    Ok(())
}

/// Whether a file is as it was before the merge.
fn is_before(into: &Git, before: &Option<super::git::Entry>, file: &Path) -> Result<bool, WorktreeError> {
    let Some(before) = before else { return Ok(false) };
    let mut hash = into.command(&["hash-object", "--"]);
    hash.arg(file);
    let ran = crate::run_program::run_with_input(&mut hash, PATIENCE, b"");
    Ok(text(&ran.map_err(WorktreeError::file(file))?.stdout).trim() == before.id)
}

/// Whether no part of a merge that was begun is done.
fn is_untouched(tree: &RunTree, into: &Git, begun: &Record) -> Result<bool, WorktreeError> {
    let index = tree.git_dir.join(INDEX);
    snapshot::take(into, &index, Some(LARGEST))?;
    let entries = snapshot::entries(&into.with_index(&index))?;
    let changes = into.differences(&begun.files[0], &begun.files[1])?;
    let is_done = |change: &Difference| entries.get(&change.path) == change.after.as_ref();
    Ok(into.id("HEAD^{commit}")? == begun.head[0] && !changes.iter().any(is_done))
}

/// Checks that a worktree is still the one that was made, as the repository notes it.
pub(super) fn check_worktree(tree: &RunTree, into: &Git) -> Result<(), WorktreeError> {
    let noted = fs::read(tree.git_dir.join("gitdir")).unwrap_or_default();
    let noted = path(noted.strip_suffix(b"\n").unwrap_or(&noted)).parent().map(fs::canonicalize);
    let here = fs::symlink_metadata(&tree.path).is_ok_and(|found| found.is_dir());
    match (noted, fs::canonicalize(&tree.path)) {
        (Some(Ok(noted)), Ok(own)) if here && noted == own && own != into.worktree => Ok(()),
        _ => Err(WorktreeError::NotTheTree { path: tree.path.clone() }),
    }
}

/// Locks a repository: one merge at a time. The kernel releases the lock when this process ends.
pub(super) fn lock(common: &Path) -> Result<File, WorktreeError> {
    let path = common.join("consort-merge.lock");
    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(WorktreeError::file(&path))?;
    let begun = Instant::now();
    while rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if begun.elapsed() > PATIENCE {
            return Err(WorktreeError::Locked);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(file)
}

/// Checks that no merge or rebase of the person's is under way: in the middle of one the next commit
/// would be somewhere else.
fn nothing_under_way(into: &Git) -> Result<(), WorktreeError> {
    let marks = [
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("rebase-merge", "rebase"),
        ("rebase-apply", "rebase"),
    ];
    for (mark, what) in marks {
        if into.git_path(mark)?.exists() {
            return Err(WorktreeError::UnderWay { path: into.worktree.clone(), what });
        }
    }
    Ok(())
}
