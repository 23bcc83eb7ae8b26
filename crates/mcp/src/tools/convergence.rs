//! MCP tools of the convergence room: radar, handoff.

use consort_core::convergence::PairView;
use consort_core::convergence::recommendation;
use consort_core::journal::Number;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::Entry;
use super::ToolContext;
use crate::answer::Answer;
use crate::answer::Problem;

pub(super) const TOOLS: &[Entry] = &[
    Entry {
        name: "radar",
        about: "Who is likely to collide with whom, how surely, and why.",
        properties: || json!({ "show": { "type": "integer", "description": "only the prediction of this number" } }),
        required: &[],
        only_reads: true,
    },
    Entry {
        name: "handoff",
        about: "What it takes to take over from an agent, here or gone: goal, files, what is unfinished.",
        properties: || json!({ "agent": { "type": "string" } }),
        required: &["agent"],
        only_reads: true,
    },
];

#[derive(Deserialize)]
pub(super) struct Radar {
    show: Option<Number>,
}

pub(super) fn radar(context: &mut ToolContext<'_>, radar: &Radar) -> Result<Answer, Problem> {
    let me = context.me()?;
    if let Some(number) = radar.show {
        let prediction = context.app.prediction(number, &me.project.id)?;
        let [one, other] = prediction.pair.each_ref().map(|party| &party.name);
        let ended = prediction.ended.as_ref();
        let ended =
            ended.map_or_else(String::new, |ended| format!(" It ended as {}.", ended.outcome.as_str()));
        let text = format!("{one} and {other}. {}{ended}", recommendation(&prediction.signal));
        return Ok(Answer::new(text.clone(), json!({ "text": text })));
    }
    let calls = context.calls;
    let outcome = context.app.radar(&me.project.id, &|name| calls.variable(name))?;
    let lines: Vec<String> = outcome.pairs.iter().map(line).collect();
    let text =
        if lines.is_empty() { "Nobody is heading for where another is.".into() } else { lines.join("\n") };
    Ok(Answer::new(text, json!({ "pairs": lines })))
}

fn line(seen: &PairView) -> String {
    let [one, other] = seen.pair.each_ref().map(|party| &party.name);
    match seen.signals.first() {
        Some(signal) => {
            let (kind, advice) = (signal.kind.as_str(), recommendation(signal));
            format!("{one} and {other}: {kind}, {:.2}. {advice}", signal.confidence)
        }
        None => format!("{one} and {other}: out of sight"),
    }
}

#[derive(Deserialize)]
pub(super) struct Handoff {
    agent: String,
}

pub(super) fn handoff(context: &mut ToolContext<'_>, handoff: Handoff) -> Result<Answer, Problem> {
    context.me()?;
    let outcome = context.app.handoff(&handoff.agent)?;
    let few = |names: &[String]| text::first_few(names.iter().map(|name| text::foreign(name, 80)), 8);
    let mut lines =
        vec![format!("{} in {}", outcome.seen.agent.name, outcome.seen.agent.location.worktree.display())];
    lines.extend(outcome.goal.iter().map(|goal| format!("Asked last: {goal}")));
    for (what, names) in [
        ("Unfinished", &outcome.unfinished),
        ("Wrote", &outcome.written),
        ("Not committed", &outcome.changes),
    ] {
        if !names.is_empty() {
            lines.push(format!("{what}: {}", few(names)));
        }
    }
    let text = lines.join("\n");
    Ok(Answer::new(text.clone(), json!({ "text": text })))
}
