//! MCP tools of the claims room: reserve, release, explain.

use consort_core::claims::HoldRequest;
use consort_core::claims::Mode;
use consort_core::claims::ReleaseRequest;
use consort_core::claims::ReleaseTarget;
use consort_core::claims::Strength;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::Entry;
use super::ToolContext;
use crate::answer::Answer;
use crate::answer::Problem;

pub(super) const TOOLS: &[Entry] = &[
    Entry {
        name: "reserve",
        about: "Keep others from writing files (`src/a.rs`), directories (`src/auth/`) or globs while you work on them.",
        properties: || {
            json!({
                "what": { "type": "array", "items": { "type": "string" } },
                "reason": { "type": "string" },
                "advisory": { "type": "boolean", "description": "only say so, also of things that are no paths" },
                "shared": { "type": "boolean" },
            })
        },
        required: &["what"],
        only_reads: false,
    },
    Entry {
        name: "release",
        about: "Let go of what you hold; without `what`, of everything.",
        properties: || json!({ "what": { "type": "array", "items": { "type": "string" } } }),
        required: &[],
        only_reads: false,
    },
    Entry {
        name: "explain",
        about: "Who holds a path, why, and whether you may write it.",
        properties: || json!({ "path": { "type": "string" } }),
        required: &["path"],
        only_reads: true,
    },
];

#[derive(Deserialize)]
pub(super) struct Reserve {
    what: Vec<String>,
    reason: Option<String>,
    advisory: Option<bool>,
    shared: Option<bool>,
}

pub(super) fn reserve(context: &mut ToolContext<'_>, reserve: Reserve) -> Result<Answer, Problem> {
    let me = context.me()?;
    let outcome = context.app.hold(&HoldRequest {
        caller: context.facts(),
        cwd: me.location.cwd,
        what: reserve.what,
        strength: if reserve.advisory.unwrap_or_default() { Strength::Advisory } else { Strength::Blocking },
        mode: if reserve.shared.unwrap_or_default() { Mode::Shared } else { Mode::Exclusive },
        reason: reserve.reason,
        ttl: None,
    })?;
    let names: Vec<String> = outcome.holds.iter().map(|hold| hold.resource.shown()).collect();
    Ok(Answer::new(format!("Yours: {}.", shown(&names)), json!({ "yours": names })))
}

#[derive(Deserialize)]
pub(super) struct Release {
    what: Option<Vec<String>>,
}

pub(super) fn release(context: &mut ToolContext<'_>, release: Release) -> Result<Answer, Problem> {
    let me = context.me()?;
    let outcome = context.app.release(&ReleaseRequest {
        caller: context.facts(),
        cwd: me.location.cwd,
        what: release.what.map_or(ReleaseTarget::Mine, ReleaseTarget::These),
        strength: None,
        force: false,
    })?;
    let names: Vec<String> = outcome.released.iter().map(|hold| hold.resource.shown()).collect();
    let text =
        if names.is_empty() { "You held nothing.".into() } else { format!("Released: {}.", shown(&names)) };
    Ok(Answer::new(text, json!({ "released": names })))
}

#[derive(Deserialize)]
pub(super) struct Path {
    path: String,
}

pub(super) fn explain(context: &mut ToolContext<'_>, path: Path) -> Result<Answer, Problem> {
    let (cwd, facts) = (context.me()?.location.cwd, context.facts());
    let outcome = context.app.explain_path(&facts, &cwd, &path.path)?;
    let mut text = if outcome.writable { "You may write it." } else { "You may not write it." }.to_owned();
    for seen in &outcome.holds {
        let who = if seen.yours { "you" } else { seen.name.as_str() };
        let reason = seen
            .hold
            .reason
            .as_deref()
            .map_or_else(String::new, |reason| format!(": {}", text::quoted(reason, 120)));
        let line = format!("{} is held by {who}{reason}", text::foreign(&seen.hold.resource.shown(), 200));
        text.push_str(&format!("\n{}", text::one_line(&line, 200)));
    }
    let holders: Vec<&str> = outcome.holds.iter().map(|seen| seen.name.as_str()).collect();
    Ok(Answer::new(text.clone(), json!({ "writable": outcome.writable, "holders": holders, "text": text })))
}

fn shown(names: &[String]) -> String {
    text::first_few(names.iter().map(|name| text::foreign(name, 80)), 8)
}
