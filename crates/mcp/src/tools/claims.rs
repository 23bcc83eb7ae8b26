//! MCP tools of the claims room: reserve, release, restore, explain, holds.

use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use consort_core::Timestamp;
use consort_core::claims;
use consort_core::claims::ClaimError;
use consort_core::claims::Hold;
use consort_core::claims::HoldMode;
use consort_core::claims::HoldOutcome;
use consort_core::claims::HoldRequest;
use consort_core::claims::HoldView;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::RestoreMode;
use consort_core::claims::RestoreOutcome;
use consort_core::claims::Strength;
use consort_core::claims::judgement;
use consort_core::text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "reserve",
        about: "Keep others from writing files (`src/a.rs`), directories (`src/auth/`) or globs while you work on them.",
        properties: || {
            json!({
                "what": { "type": "array", "items": { "type": "string" } },
                "reason": { "type": "string" },
                "advisory": { "type": "boolean", "description": "only say so, also of things that are no paths" },
                "shared": { "type": "boolean", "description": "with others who share it" },
                "ttl_s": { "type": "integer", "description": "seconds until it is released by itself" },
                "wait": { "type": "boolean", "description": "until others have let go of them" },
                "timeout_s": { "type": "integer", "description": "how long, 50 if not said" },
            })
        },
        required: &["what"],
        only_reads: false,
    },
    ToolEntry {
        name: "restore",
        about: "Give a file that you have reserved back as you wrote it last, after another has changed it.",
        properties: || {
            json!({
                "path": { "type": "string" },
                "dry_run": { "type": "boolean" },
            })
        },
        required: &["path"],
        only_reads: false,
    },
    ToolEntry {
        name: "release",
        about: "Give up what you reserved; without `what`, everything.",
        properties: || json!({ "what": { "type": "array", "items": { "type": "string" } } }),
        required: &[],
        only_reads: false,
    },
    ToolEntry {
        name: "explain",
        about: "Who has reserved a path, why, and whether you may write it; or what of a shell command would be refused.",
        properties: || {
            json!({
                "path": { "type": "string" },
                "command": { "type": "string", "description": "it is not run" },
            })
        },
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "holds",
        about: "`list` what is reserved, or `contest` what another has and you need.",
        properties: || {
            json!({
                "action": { "enum": ["list", "contest"] },
                "path": { "type": "string" },
                "reason": { "type": "string" },
            })
        },
        required: &["action"],
        only_reads: false,
    },
];

#[derive(Deserialize)]
pub(super) struct ReserveArgs {
    what: Vec<String>,
    reason: Option<String>,
    advisory: Option<bool>,
    shared: Option<bool>,
    ttl_s: Option<u32>,
    wait: Option<bool>,
    timeout_s: Option<u64>,
}

/// Seconds that `reserve` waits by default: clients give up on an answer after about a minute.
const PATIENCE_S: u64 = 50;
const LONGEST_S: u64 = 600;

/// Pause between two attempts to take a reservation.
const LOOK: Duration = Duration::from_millis(250);

pub(super) fn reserve(context: &mut ToolContext<'_>, reserve: ReserveArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let request = HoldRequest {
        caller: context.facts(),
        cwd: me.location.cwd,
        what: reserve.what,
        strength: if reserve.advisory.unwrap_or_default() { Strength::Advisory } else { Strength::Blocking },
        mode: if reserve.shared.unwrap_or_default() { HoldMode::Shared } else { HoldMode::Exclusive },
        reason: reserve.reason,
        ttl: reserve.ttl_s.map(|seconds| i64::from(seconds) * Timestamp::SECOND),
    };
    let patience = match reserve.wait.unwrap_or_default() {
        true => Duration::from_secs(reserve.timeout_s.unwrap_or(PATIENCE_S).min(LONGEST_S)),
        false => Duration::ZERO,
    };
    let outcome = hold(context, &request, patience)?;
    let names: Vec<String> = outcome.holds.iter().map(|hold| hold.resource.shown()).collect();
    let items: Vec<Value> = outcome.holds.iter().map(item).collect();
    let items = context.app.for_readers(items.into());
    let mut text = format!("Yours: {}.", shown(&names));
    let now = context.app.host().now();
    for hold in &outcome.overrides {
        text.push_str(&format!("\n{}", claims::override_notice(hold, now)));
    }
    Ok(ToolAnswer::new(text, json!({ "items": items })))
}

/// Takes the hold, waiting until nobody else has it; an error if that takes too long.
fn hold(
    context: &mut ToolContext<'_>,
    request: &HoldRequest,
    patience: Duration,
) -> Result<HoldOutcome, ClaimError> {
    let (since, until) = (context.app.host().now(), Instant::now() + patience);
    let mut has_waited = false;
    let outcome = loop {
        let held = match context.app.hold(request) {
            Err(ClaimError::Held(held)) if Instant::now() < until => held,
            outcome => break outcome,
        };
        has_waited = true;
        if let Err(error) = context.app.note_waiting(&request.caller, since, &held) {
            break Err(error);
        }
        if context.is_cancelled.load(Ordering::Relaxed) {
            break Err(ClaimError::Held(held));
        }
        std::thread::sleep(LOOK);
    };
    if has_waited {
        let _ = context.app.stop_waiting(&request.caller);
    }
    outcome
}

#[derive(Deserialize)]
pub(super) struct RestoreArgs {
    path: String,
    dry_run: Option<bool>,
}

/// Most characters of a difference that are shown.
const LONGEST_DIFF: usize = 4_000;

pub(super) fn restore(context: &mut ToolContext<'_>, restored: RestoreArgs) -> Result<ToolAnswer, Problem> {
    let (cwd, facts) = (context.me()?.location.cwd, context.facts());
    let mut outcome = context.app.restore(&facts, &cwd, &restored.path, RestoreMode::Look)?;
    let path = text::foreign(&outcome.path, 200);
    let age = text::ago(outcome.at.since(outcome.kept_at));
    if outcome.before.as_deref() == Some(&outcome.after) {
        let said = format!("{path} is as {} wrote it {age}.", outcome.by);
        return Ok(ToolAnswer::new(said, json!({ "restore": { "path": outcome.path, "restored": false } })));
    }
    let diff = difference(&outcome);
    if !restored.dry_run.unwrap_or_default() {
        let over = outcome.checksum_before();
        outcome = context.app.restore(&facts, &cwd, &restored.path, RestoreMode::Do { over })?;
    }
    let shown: String = diff.lines().map(|line| text::printable(line) + "\n").collect();
    let shown: String = shown.chars().take(LONGEST_DIFF).collect();
    let done = if outcome.restored { "Restored" } else { "Not restored yet:" };
    let said = format!("{done} {path} as {} wrote it {age}. What changes:\n{shown}", outcome.by);
    let restore = json!({ "path": outcome.path, "restored": outcome.restored, "replaced": outcome.replaced });
    Ok(ToolAnswer::new(said, json!({ "restore": restore })))
}

/// Returns the changes of a restore as a unified diff.
fn difference(outcome: &RestoreOutcome) -> String {
    let before = outcome.before.as_deref().unwrap_or_default();
    let (Ok(before), Ok(after)) = (str::from_utf8(before), str::from_utf8(&outcome.after)) else {
        return "Binary files differ".into();
    };
    similar::TextDiff::from_lines(before, after)
        .unified_diff()
        .header(&outcome.path, &outcome.path)
        .to_string()
}

#[derive(Deserialize)]
pub(super) struct ReleaseArgs {
    what: Option<Vec<String>>,
}

pub(super) fn release(context: &mut ToolContext<'_>, release: ReleaseArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    let outcome = context.app.release(&ReleaseRequest {
        caller: context.facts(),
        cwd: me.location.cwd,
        what: release.what.map_or(ReleaseTarget::Mine, ReleaseTarget::These),
        strength: None,
        force: false,
    })?;
    let names: Vec<String> = outcome.released.iter().map(|hold| hold.resource.shown()).collect();
    let text = if names.is_empty() {
        "You had reserved nothing.".into()
    } else {
        format!("Released: {}.", shown(&names))
    };
    let items: Vec<Value> = outcome.released.iter().map(item).collect();
    let items = context.app.for_readers(items.into());
    Ok(ToolAnswer::new(text, json!({ "items": items })))
}

#[derive(Deserialize)]
pub(super) struct ExplainArgs {
    path: Option<String>,
    command: Option<String>,
}

pub(super) fn explain(context: &mut ToolContext<'_>, explain: ExplainArgs) -> Result<ToolAnswer, Problem> {
    let (cwd, facts) = (context.me()?.location.cwd, context.facts());
    if let Some(command) = explain.command {
        let judged = context.calls.judge_command(&mut context.app, &facts, &cwd, &command)?;
        return Ok(ToolAnswer::new(judgement(&judged).join("\n"), json!({ "command": judged })));
    }
    let missing = || Problem::user("neither `path` nor `command` is given", "say one of them");
    let outcome = context.app.explain_path(&facts, &cwd, &explain.path.ok_or_else(missing)?)?;
    let mut text = if outcome.writable { "You may write it." } else { "You may not write it." }.to_owned();
    outcome.holds.iter().for_each(|seen| text.push_str(&format!("\n{}", line(seen))));
    let path = json!({
        "path": outcome.path, "writable": outcome.writable, "reserved": outcome.reserved,
        "holds": items(context, &outcome.holds),
    });
    Ok(ToolAnswer::new(text, json!({ "path": path })))
}

#[derive(Deserialize)]
pub(super) struct HoldsArgs {
    action: String,
    path: Option<String>,
    reason: Option<String>,
}

pub(super) fn holds(context: &mut ToolContext<'_>, holds: HoldsArgs) -> Result<ToolAnswer, Problem> {
    let (me, facts) = (context.me()?, context.facts());
    match holds.action.as_str() {
        "list" => {
            let outcome = context.app.holds(&facts, Some(&me.project.id), 0)?;
            let lines: Vec<String> = outcome.holds.iter().map(line).collect();
            let text = if lines.is_empty() { "Nothing is reserved.".into() } else { lines.join("\n") };
            let items = items(context, &outcome.holds);
            Ok(ToolAnswer::new(text, json!({ "items": items })))
        }
        "contest" => {
            let missing = || Problem::user("`path` is missing", "name what another has reserved");
            let path = holds.path.ok_or_else(missing)?;
            let hold = context.app.contest(&facts, &me.location.cwd, &path, holds.reason.as_deref())?;
            let now = context.app.host().now();
            let left =
                hold.contest.as_ref().map_or(0, |contest| contest.until.since(now) / Timestamp::SECOND);
            let text = format!(
                "Contested {}; {} was asked. Without an answer, in {left} s, run: consort release --force {}",
                text::foreign(&hold.resource.shown(), 200),
                text::foreign(&hold.label, 80),
                text::shell_quoted(&hold.resource.shown())
            );
            Ok(ToolAnswer::new(text, context.app.wrap_one("reservation", &hold)))
        }
        _ => Err(Problem::user("there is no such action", "list or contest")),
    }
}

/// Says what is reserved, by whom and why.
fn line(seen: &HoldView) -> String {
    if seen.hold.strength == Strength::Overridden {
        let path = text::foreign(&seen.hold.resource.shown(), 200);
        return text::one_line(&format!("{path} is overridden by your user: everyone may write it"), 200);
    }
    let who = if seen.yours { "you" } else { seen.name.as_str() };
    let reason = seen.hold.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 120)));
    let line = format!("{} is reserved by {who}{reason}", text::foreign(&seen.hold.resource.shown(), 200));
    text::one_line(&line, 200)
}

/// Returns the holds as data: path, holder, and whether the hold keeps others from writing.
fn items(context: &mut ToolContext<'_>, holds: &[HoldView]) -> Value {
    let items: Vec<Value> = holds.iter().map(|seen| item(&seen.hold)).collect();
    context.app.for_readers(items.into())
}

fn item(hold: &Hold) -> Value {
    let mut item = json!({ "path": hold.resource.shown(), "holder": hold.holder, "strength": hold.strength });
    if let Some(until) = hold.until {
        item["until"] = json!(until);
    }
    item
}

fn shown(names: &[String]) -> String {
    text::first_few(names.iter().map(|name| text::foreign(name, 80)), 8)
}
