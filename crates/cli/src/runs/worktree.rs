//! The worktree of a run: made before it starts, merged back when it is done.

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

use super::RunDir;
use super::Work;
use crate::error::CommandError;

/// How long the set-up command may take.
const SET_UP: Duration = Duration::from_secs(600);

/// How many files are named.
const FEW: usize = 5;

/// A worktree of a run's own.
pub(super) struct Tree {
    tree: RunTree,
    /// The person's worktree.
    into: PathBuf,
    /// Where in it the run works.
    pub(super) cwd: PathBuf,
    /// What is to be said about how it was made.
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
        // Numbers of another machine's runs may be the same.
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

    /// What has changed in it.
    pub(super) fn diff(&self) -> Option<String> {
        consort_host::diff_since(&self.tree.path, &self.tree.baseline)
    }

    /// Brings back what was done, if it is done; what became of it, in words. **What was not
    /// merged stays where it is.**
    pub(super) fn finish(&self, state: RunState) -> String {
        let kept = format!("It is kept in {} on branch {}", self.tree.path.display(), self.tree.branch);
        if state != RunState::Done {
            return match self.diff().is_some_and(|diff| !diff.is_empty()) {
                true => format!("Nothing was merged. {kept}"),
                false => self.remove("It changed nothing"),
            };
        }
        match run_worktree::merge(&self.tree, &self.into) {
            Ok(Merge::Nothing) => self.remove("It changed nothing"),
            Ok(Merge::Merged { commits, as_changes, files }) => {
                let commits = match commits + as_changes {
                    0 => String::new(),
                    all => format!("{}, ", text::count(all, "commit")),
                };
                self.remove(&format!("Merged: {commits}{}", text::count(files, "file")))
            }
            Ok(Merge::Conflicts { paths, is_half_done }) => {
                let half = if is_half_done { " An earlier merge was interrupted half way." } else { "" };
                format!("Not merged, because of {}.{half} {kept}", text::first_few(paths, FEW))
            }
            Err(error) => format!("Not merged: {error}. {kept}"),
        }
    }

    fn remove(&self, told: &str) -> String {
        match run_worktree::remove(&self.tree) {
            Ok(_) => told.to_owned(),
            Err(error) => format!("{told}; its worktree stays: {error}"),
        }
    }
}
