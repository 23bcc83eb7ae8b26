//! Finds runs whose supervisor is gone: records them as interrupted, and ends the processes that their
//! workers have left behind.

use std::time::Duration;

use consort_core::App;
use consort_core::dispatch::RunRecord;
use consort_host::Machine;
use consort_host::Paths;

use crate::error::CommandError;
use crate::output;

/// Time that a process left behind has to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(1);

/// Records runs whose supervisor is gone as interrupted, ends their processes, and returns them.
pub(crate) fn reap(paths: &Paths, app: &mut App) -> Result<Vec<RunRecord>, CommandError> {
    let machine = Machine::new(&paths.data);
    let end = |run: &RunRecord| {
        for process in consort_host::end_orphans(&machine, &run.id.to_string(), PATIENCE) {
            output::note(format_args!(
                "Warning: process {} ({}) of run {} cannot be ended",
                process.pid, process.program, run.number
            ));
        }
    };
    Ok(app.interrupt_dead_runs(&end)?)
}
