//! The texts about runs that agents read: tasks, ends, reviews and stalls.

use super::RunEnd;
use super::RunRecord;
use super::RunState;
use crate::secrets::redacted;
use crate::tasks::TaskKey;
use crate::text;

/// The most characters of a result that its starter is shown.
const RESULT: usize = 2_000;

/// Returns the message about the end of a run, for the agent that asked for it.
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

/// Returns the prompt of a run that takes a task of a spec; `besides` is added to it.
pub fn task_prompt(key: &TaskKey, title: Option<&str>, besides: &str) -> String {
    let title = title.map_or_else(String::new, |title| format!(": {}", text::foreign(title, 300)));
    let task = format!(
        "Do task {}{title}\n\nIt is in {}: read there what it asks for, and do this task and no other. It is \
         taken in your name, and done when you end well: do not claim, complete or drop tasks yourself.",
        text::foreign(&key.id, 64),
        text::foreign(&key.spec.path, 300)
    );
    match besides.trim() {
        "" => task,
        besides => format!("{task}\n\n{besides}"),
    }
}

/// Returns the message about a review, for the person and for the agent that did the work.
pub(super) fn reviewed(run: &RunRecord, result: &str) -> String {
    let said: String = redacted(result.trim()).chars().take(RESULT).collect();
    format!("Review by {} (run {}):\n{}", run.spec.name, run.number, text::printable(&said))
}

/// Returns the message about a run that has stalled.
pub(super) fn stalled(run: &RunRecord, found: &str) -> String {
    let (number, name) = (run.number, &run.spec.name);
    format!(
        "Run {number} ({name}, {}) stands still: {}. It goes on if it can; `consort runs logs {number}` shows \
         what it did, `consort runs stop {number}` ends it.",
        run.spec.role,
        text::foreign(found, 300)
    )
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
