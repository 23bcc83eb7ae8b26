//! The worktree of a run: made before the run starts, and merged back when it is done.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::host::Repositories as _;
use consort_core::text;
use consort_host::Machine;
use consort_host::run_worktree;
use consort_host::run_worktree::Bootstrap;
use consort_host::run_worktree::Merge;
use consort_host::run_worktree::RunTree;
use consort_host::run_worktree::SetUpCommand;
use consort_host::run_worktree::SetUpEnd;
use consort_host::run_worktree::WorktreeError;

use super::RunDir;
use super::Work;
use crate::error::CommandError;

/// Longest time the set-up command may take.
const SET_UP: Duration = Duration::from_secs(600);

/// Most files that are named in a message.
const FEW: usize = 5;

/// A worktree of a run's own.
pub(super) struct Tree {
    tree: RunTree,
    /// The person's worktree, which the changes are merged into.
    into: PathBuf,
    /// The directory of the run's worktree that the run works in.
    pub(super) cwd: PathBuf,
    /// Remarks about the making of the worktree.
    pub(super) notes: Vec<String>,
}

impl Tree {
    pub(super) fn make(
        machine: &Machine,
        dir: &RunDir,
        run: &RunRecord,
        work: &Work,
    ) -> Result<Self, CommandError> {
        let into = machine.place(&run.spec.cwd).worktree;
        let within = run.spec.cwd.strip_prefix(&into).unwrap_or(Path::new("")).to_owned();
        let set_up = work.set_up.clone().map(|command| SetUpCommand {
            command,
            environment: std::env::vars_os().collect(),
            time_limit: SET_UP,
        });
        let bootstrap = Bootstrap { copy: work.copy.clone(), set_up };
        let id = run.id.to_string();
        // Runs of another machine may have the same numbers.
        let branch = format!("consort/run-{}-{}", run.number, &id[id.len() - 4..]);
        let made = run_worktree::make(&into, &dir.path.join("tree"), &branch, &bootstrap)?;
        let mut notes: Vec<String> = made
            .left_out
            .iter()
            .map(|left| format!("not in its worktree: {}", text::foreign(&left.path, 200)))
            .collect();
        if let Some(set_up) = made.set_up.filter(|set_up| set_up.end != SetUpEnd::Done) {
            return Err(CommandError::user(
                format!("the set-up command failed: {}", text::foreign(set_up.output.trim(), 300)),
                format!(
                    "it is the command in `dispatch.set_up`; its worktree is {}",
                    made.tree.path.display()
                ),
            ));
        }
        notes.push(format!("works in {} on {branch}", made.tree.path.display()));
        Ok(Self { cwd: made.tree.path.join(within), tree: made.tree, into, notes })
    }

    /// Returns the changes in the worktree.
    pub(super) fn diff(&self) -> Option<String> {
        run_worktree::diff(&self.tree).ok()
    }

    /// Merges the changes back if the run is done, and removes the worktree; returns a sentence about the
    /// outcome, and whether everything has reached the person's worktree. **Changes that were not merged stay
    /// where they are.**
    pub(super) fn finish(&self, state: RunState) -> (String, bool) {
        if state != RunState::Done {
            return self.remove(None);
        }
        match run_worktree::merge(&self.tree, &self.into) {
            Ok(Merge::Nothing) => self.remove(None),
            Ok(Merge::Merged { commits, as_changes, files }) => {
                let commits = match commits + as_changes {
                    0 => String::new(),
                    all => format!("{}, ", text::counted_noun(all, "commit")),
                };
                self.remove(Some(format!("Merged: {commits}{}", text::counted_noun(files, "file"))))
            }
            Ok(Merge::Conflicts { paths, is_half_done }) => {
                let half = if is_half_done { " An earlier merge was interrupted half way." } else { "" };
                let why = text::first_few(paths, FEW);
                (format!("Not merged, because of {why}.{half} {}", self.kept()), false)
            }
            Err(error) => (format!("Not merged: {error}. {}", self.kept()), false),
        }
    }

    fn kept(&self) -> String {
        let (path, branch) = (self.tree.path.display(), &self.tree.branch);
        match self.tree.path.exists() {
            true => format!("It is kept in {path} on branch {branch}"),
            false => format!("{path} is gone; what was committed is on branch {branch}"),
        }
    }

    /// Removes the worktree if nothing is lost with it; `merged` says what was merged before, if anything
    /// was.
    fn remove(&self, merged: Option<String>) -> (String, bool) {
        match (run_worktree::remove(&self.tree), merged) {
            (Ok(_), merged) => (merged.unwrap_or_else(|| "It changed nothing".into()), true),
            (Err(WorktreeError::Unmerged { what, .. }), merged) => {
                let merged = merged.map(|merged| format!("{merged}. ")).unwrap_or_default();
                let what = text::first_few(what, FEW);
                (format!("{merged}Not merged: {what}. {}", self.kept()), false)
            }
            (Err(error), Some(merged)) => (format!("{merged}; its worktree stays: {error}"), true),
            (Err(error), None) => (format!("Not merged: {error}. {}", self.kept()), false),
        }
    }
}
