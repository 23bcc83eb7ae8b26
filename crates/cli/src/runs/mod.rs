//! Starts, supervises and follows runs: each has a directory and a supervisor, which is another process of
//! this program.

mod attempt;
pub(crate) mod directory;
pub(crate) mod environment;
pub(crate) mod flags;
pub(crate) mod follow;
pub(crate) mod orphans;
pub(crate) mod review;
pub(crate) mod role;
pub(crate) mod start;
mod stillness;
pub(crate) mod supervise;
mod worker_output;
mod worktree;

use consort_core::Timestamp;
use consort_core::dispatch::RunHealth;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_host::Paths;

pub(crate) use directory::RunDir;
pub(crate) use directory::Work;

/// Returns the health of a run that is at work; `None` if that cannot be told.
pub(crate) fn health(paths: &Paths, run: &RunRecord, now: Timestamp) -> Option<RunHealth> {
    let is_working = run.state == RunState::Running;
    let sign = RunDir::of(paths, run.id).life_sign().filter(|_| is_working)?;
    Some(RunHealth::of(sign, now))
}
