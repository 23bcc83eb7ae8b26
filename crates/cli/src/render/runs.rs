//! Formats runs as text and as JSON, for the commands `run` and `runs` and for agents.

use consort_core::App;
use consort_core::Timestamp;
use consort_core::dispatch::Cost;
use consort_core::dispatch::ReviewOf;
use consort_core::dispatch::RunHealth;
use consort_core::dispatch::RunRecord;
use consort_core::dispatch::RunState;
use consort_core::dispatch::Usage;
use consort_core::dispatch::WorkerEvent;
use consort_core::secrets::redacted;
use consort_core::text;
use serde_json::Value;
use serde_json::json;

use crate::runs::directory::RunNote;

/// Formats a run as JSON.
pub(crate) fn item(app: &App, run: &RunRecord) -> Value {
    let (spec, end) = (&run.spec, run.end.as_ref());
    let usage = end.map(|end| end.usage).unwrap_or_default();
    let until = run.ended_at.unwrap_or_else(|| app.host().now());
    json!({
        "number": run.number,
        "id": run.id.to_string(),
        "state": run.state.as_str(),
        "task": redacted(&spec.title),
        "agent": { "name": spec.name.as_str(), "cli": spec.cli, "session": end.and_then(|end| end.session.as_deref()), "machine": run.owner.machine },
        "role": spec.role,
        "model": end.and_then(|end| end.model.as_deref()).or(spec.model.as_deref()),
        "safety": spec.safety.as_str(),
        "cwd": spec.cwd,
        "worktree": spec.has_worktree,
        "by": run.by.to_string(),
        "batch": spec.batch,
        "takes": spec.takes.as_ref().map(|key| json!({ "spec": key.spec.path, "id": key.id })),
        "reviews": match &spec.reviews {
            Some(ReviewOf::Run(run)) => json!({ "run": run.to_string() }),
            Some(ReviewOf::Agent(session)) => json!({ "session": session.as_str() }),
            None => Value::Null,
        },
        "follows": spec.follows.map(|id| id.to_string()),
        "asked_at": run.at.rfc3339(),
        "started_at": run.started_at.map(Timestamp::rfc3339),
        "ended_at": run.ended_at.map(Timestamp::rfc3339),
        "parked_until_at": run.parked_until.map(Timestamp::rfc3339),
        "duration_s": run.started_at.map(|started| until.since(started) / 1_000),
        "turns": usage.turns,
        "tools": end.map(|end| end.tools),
        "tools_failed": end.map(|end| end.tools_failed),
        "tokens": tokens(&usage),
        // An unknown cost is null, not 0.
        "cost_usd": usage.cost.map(Cost::dollars),
        "budget_usd": spec.cap.map(Cost::dollars),
        "error": end.and_then(|end| end.failure.as_ref()).map(|failure| redacted(&failure.message)),
        "merge": end.and_then(|end| end.merge.as_deref()),
        "unmerged": end.is_some_and(|end| end.is_unmerged),
    })
}

fn tokens(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "output": usage.output,
        "cache_read": usage.cache_read, "cache_write": usage.cache_write,
    })
}

/// Formats a run on one line: `✓  12  SwiftRaven  dev  claude  done  3 min 5 s  $0.12  fix the tests`.
pub(crate) fn line(run: &RunRecord, health: Option<RunHealth>, now: Timestamp) -> String {
    let spec = &run.spec;
    let until = run.ended_at.unwrap_or(now);
    let took = run.started_at.map_or_else(|| "-".to_owned(), |started| took(until.since(started)));
    let state = match (run.state, run.parked_until) {
        (RunState::Pending, Some(until)) => format!("waits until {}", crate::time::local(until)),
        (state, _) => match health.filter(|health| *health != RunHealth::Well) {
            Some(health) => format!("{} ({})", state.words(), health.as_str()),
            None => state.words().to_owned(),
        },
    };
    let cost = run.end.as_ref().map_or_else(|| "-".to_owned(), |end| shown_cost(end.usage.cost));
    format!(
        "{} {:>4}  {:<14} {:<12} {:<9} {:<12} {:>10} {:>8}  {}",
        run.state.mark(),
        run.number,
        spec.name,
        spec.role,
        spec.cli,
        state,
        took,
        cost,
        redacted(&text::one_line(&spec.title, 80)),
    )
}

/// Formats a duration: `12 s`, `3 min 5 s`, `2 h 10 min`.
fn took(milliseconds: i64) -> String {
    let seconds = milliseconds / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Formats a cost: `$0.12`, `<$0.01`, `unknown`.
pub(crate) fn shown_cost(cost: Option<Cost>) -> String {
    match cost {
        None => "unknown".to_owned(),
        Some(Cost(0)) => "$0".to_owned(),
        Some(Cost(millionths)) if millionths < 10_000 => "<$0.01".to_owned(),
        Some(cost) => format!("${:.2}", cost.dollars()),
    }
}

/// Formats a line of a run's log; `None` for lines that people do not want to see.
pub(crate) fn told(told: &RunNote) -> Option<String> {
    let line = |text: &str| redacted(&text::one_line(text, 200));
    match told {
        RunNote::Event(event) => match event {
            WorkerEvent::ToolBegins { tool, about, .. } => Some(format!("  {tool} {}", line(about))),
            WorkerEvent::ToolEnds { is_ok: false, why, .. } => {
                Some(format!("    failed: {}", line(why.as_deref().unwrap_or("it does not say why"))))
            }
            WorkerEvent::Said(said) => Some(format!("  {}", line(said))),
            WorkerEvent::Retries { attempt, why, .. } => {
                Some(format!("  tries again ({attempt}): {}", line(why)))
            }
            WorkerEvent::Failed(failure) => Some(format!("  failed: {}", line(&failure.message))),
            WorkerEvent::Session(_)
            | WorkerEvent::Model(_)
            | WorkerEvent::Turn
            | WorkerEvent::ToolEnds { is_ok: true, .. }
            | WorkerEvent::Used(_)
            | WorkerEvent::UsedInAll(_)
            | WorkerEvent::Result(_) => None,
        },
        RunNote::Heartbeat { .. } => None,
        RunNote::Note(note) => Some(format!("  {}", line(note))),
    }
}

/// Describes the outcome of a run in a sentence.
pub(crate) fn summary(run: &RunRecord) -> String {
    let mut told = format!("Run {} {}", run.number, run.state.predicate());
    let Some(end) = &run.end else { return told };
    if end.is_unmerged {
        told.push_str(", and not as asked: its work was not merged");
    }
    if let Some(failure) = &end.failure {
        told.push_str(&format!(": {}", redacted(&text::one_line(&failure.message, 300))));
    }
    let took = run.started_at.zip(run.ended_at).map(|(started, ended)| took(ended.since(started)));
    let tokens =
        end.usage.tokens().map_or_else(|| "tokens unknown".to_owned(), |all| format!("{all} tokens"));
    let cost = match end.usage.cost {
        None => "cost unknown".to_owned(),
        cost => shown_cost(cost),
    };
    told.push_str(&format!(" ({}, {tokens}, {cost})", took.unwrap_or_else(|| "not started".into())));
    if let Some(merge) = &end.merge {
        told.push_str(&format!(". {merge}"));
    }
    told
}
