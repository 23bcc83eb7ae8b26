//! What agents read about runs.

use super::RunEnd;
use super::RunRecord;
use super::RunState;
use crate::secrets::redacted;
use crate::text;

/// How much of a result its starter is told.
const RESULT: usize = 2_000;

/// What the agent that asked for a run is told of its end.
pub(super) fn ended(run: &RunRecord, end: &RunEnd, result: &str) -> String {
    let (number, name) = (run.number, &run.spec.name);
    let mut told = format!("Run {number} ({name}, {}) {}", run.spec.role, how(end.state));
    if let Some(failure) = &end.failure {
        told.push_str(&format!(": {}", text::quoted(&failure.message, 300)));
    }
    if let Some(merge) = &end.merge {
        told.push_str(&format!(". {merge}"));
    }
    if !result.trim().is_empty() {
        told.push_str(&format!(
            ".\nIts result:\n{}",
            text::printable(&redacted(&result.trim().chars().take(RESULT).collect::<String>()))
        ));
    }
    told
}

fn how(state: RunState) -> &'static str {
    match state {
        RunState::Pending | RunState::Running => "goes on",
        RunState::Done => "is done",
        RunState::Error => "has failed",
        RunState::Timeout => "has timed out",
        RunState::Cancelled => "was stopped",
        RunState::Interrupted => "was interrupted: its supervisor is gone",
        RunState::BudgetExceeded => "was stopped at its budget",
    }
}
