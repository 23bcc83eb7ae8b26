//! Reads and writes the record of a run's last merge, in the git directory of its worktree.
//!
//! A merge is recorded before the first file of the person's changes, and again when it is done.

use std::fs;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use super::RunTree;
use super::error::WorktreeError;

/// The progress of a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The merge was begun; part of it may be done.
    Begun,
    Done,
    /// The merge is done, and the run's worktree is being removed.
    Removing,
}

const STATES: [(State, &str); 3] =
    [(State::Begun, "begun"), (State::Done, "done"), (State::Removing, "removing")];

/// One merge, in ids of git's; a pair is a state before the merge and after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) state: State,
    /// The commit and the files of the run as of the merge before this one, or as it began.
    pub(super) since: [String; 2],
    /// The person's commit.
    pub(super) head: [String; 2],
    /// The person's files.
    pub(super) files: [String; 2],
    /// The files that the person has staged.
    pub(super) staged: [String; 2],
    /// The commit and the files of the run that this merge brings.
    pub(super) worker_head: String,
    pub(super) worker_files: String,
    /// Number of commits that were brought as commits, of commits that were brought as changes, and of
    /// files that changed.
    pub(super) commits: usize,
    pub(super) as_changes: usize,
    pub(super) changed: usize,
}

impl Record {
    /// Reads the record of the last merge, if there is one.
    pub(super) fn read(tree: &RunTree) -> Result<Option<Self>, WorktreeError> {
        let path = file(tree);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(WorktreeError::file(&path))?,
        };
        let damaged = || std::io::Error::new(std::io::ErrorKind::InvalidData, "it is damaged");
        match Self::parse(&text) {
            Some(record) => Ok(Some(record)),
            None => Err(WorktreeError::File { path, source: damaged() }),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().map(str::to_owned);
        let state = words.next()?;
        let mut two = || Some([words.next()?, words.next()?]);
        let (since, head, files, staged) = (two()?, two()?, two()?, two()?);
        let [worker_head, worker_files] = two()?;
        let mut number = || words.next()?.parse().ok();
        Some(Self {
            state: STATES.into_iter().find(|(_, name)| *name == state)?.0,
            since,
            head,
            files,
            staged,
            worker_head,
            worker_files,
            commits: number()?,
            as_changes: number()?,
            changed: number()?,
        })
    }

    /// Writes the record, in one step.
    pub(super) fn write(&self, tree: &RunTree) -> Result<(), WorktreeError> {
        #[cfg(test)]
        super::tests::fault::step()?;
        let state = STATES.into_iter().find(|(state, _)| *state == self.state).map_or("", |(_, name)| name);
        let ids = [&self.since, &self.head, &self.files, &self.staged].into_iter().flatten();
        let ids = ids.chain([&self.worker_head, &self.worker_files]);
        let mut text = state.to_owned();
        for id in ids {
            text.push('\n');
            text.push_str(id);
        }
        text.push_str(&format!("\n{} {} {}\n", self.commits, self.as_changes, self.changed));
        let path = file(tree);
        let new = path.with_extension("new");
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(WorktreeError::file(&path))
    }

    /// Returns the record as if the merge had not been planned.
    pub(super) fn undone(self) -> Self {
        let [worker_head, worker_files] = self.since.clone();
        let stays = |[before, _]: [String; 2]| [before.clone(), before];
        Self {
            state: State::Done,
            head: stays(self.head),
            files: stays(self.files),
            staged: stays(self.staged),
            worker_head,
            worker_files,
            commits: 0,
            as_changes: 0,
            changed: 0,
            since: self.since,
        }
    }
}

fn file(tree: &RunTree) -> PathBuf {
    tree.git_dir.join("consort-merge")
}
