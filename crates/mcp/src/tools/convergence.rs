//! MCP tools of the convergence room: radar, handoff.

use consort_core::claims::WorktreeOverlap;
use consort_core::convergence::DomainView;
use consort_core::convergence::PairView;
use consort_core::convergence::Prediction;
use consort_core::convergence::recommendation;
use consort_core::envelope::agent_json;
use consort_core::journal::Number;
use consort_core::presence::Agent;
use consort_core::text;
use serde::Deserialize;
use serde_json::json;

use super::ToolContext;
use super::ToolEntry;
use crate::answer::Problem;
use crate::answer::ToolAnswer;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry {
        name: "radar",
        about: "Who is likely to collide with whom, how surely, and why.",
        properties: || {
            json!({
                "show": { "type": "integer", "description": "only the prediction of this number" },
                "of": { "enum": ["history", "topics", "merges"] },
            })
        },
        required: &[],
        only_reads: true,
    },
    ToolEntry {
        name: "handoff",
        about: "What it takes to take over from an agent, here or gone: goal, files, what is unfinished.",
        properties: || json!({ "agent": { "type": "string" } }),
        required: &["agent"],
        only_reads: true,
    },
];

/// Most past predictions that are listed.
const LISTED: usize = 20;

#[derive(Deserialize)]
pub(super) struct RadarArgs {
    show: Option<Number>,
    of: Option<String>,
}

pub(super) fn radar(context: &mut ToolContext<'_>, radar: &RadarArgs) -> Result<ToolAnswer, Problem> {
    let me = context.me()?;
    if let Some(number) = radar.show {
        let prediction = context.app.prediction(number, &me.project.id)?;
        let [one, other] = prediction.pair.each_ref().map(|party| &party.name);
        let ended = prediction.ended.as_ref();
        let ended =
            ended.map_or_else(String::new, |ended| format!(" It ended as {}.", ended.outcome.words()));
        let text = format!("{one} and {other}. {}{ended}", recommendation(&prediction.signal));
        return Ok(ToolAnswer::new(
            text.clone(),
            json!({ "prediction": { "number": number, "text": text } }),
        ));
    }
    if let Some(of) = &radar.of {
        return listed(context, &me, of);
    }
    let calls = context.calls;
    let outcome = context.app.radar(&me.project.id, &|name| calls.variable(name))?;
    let lines: Vec<String> = outcome.pairs.iter().map(line).collect();
    let text =
        if lines.is_empty() { "Nobody is heading for where another is.".into() } else { lines.join("\n") };
    Ok(ToolAnswer::new(text, json!({ "items": lines })))
}

/// Answers with one of the radar's other lists: history, topics or merges.
fn listed(context: &mut ToolContext<'_>, me: &Agent, of: &str) -> Result<ToolAnswer, Problem> {
    let shown = |text: String| text::one_line(&text, 200);
    let lines: Vec<String> = match of {
        "history" => {
            let one = |past: &Prediction| {
                let [one, other] = past.pair.each_ref().map(|party| &party.name);
                let ended = past.ended.as_ref().map_or("open", |ended| ended.outcome.words());
                shown(format!("prediction #{} {one} and {other}: {ended}", past.number))
            };
            let (past, _) = context.app.past_predictions()?;
            past.iter().rev().take(LISTED).map(one).collect()
        }
        "topics" => {
            let domains = context.app.domains(&me.location.worktree)?;
            let groups = domains.chunk_by(|one, other| one.domain == other.domain);
            let topics =
                |group: &[DomainView]| group.iter().map(|seen| seen.topic.clone()).collect::<Vec<_>>();
            groups.map(|group| shown(format!("{}: {}", group[0].domain, topics(group).join(", ")))).collect()
        }
        "merges" => {
            let overlaps = context.app.worktree_overlaps(Some(&me.project.id))?;
            let one = |overlap: &WorktreeOverlap| {
                let [one, other] = overlap.agents.each_ref().map(|agent| &agent.name);
                let files =
                    overlap.files.iter().chain(&overlap.conflicts).map(|path| text::foreign(path, 80));
                shown(format!("{one} and {other}: {}", text::first_few(files, 8)))
            };
            overlaps.iter().map(one).collect()
        }
        _ => return Err(Problem::user("there is no such list", "history, topics or merges")),
    };
    let text = if lines.is_empty() { "Nothing.".into() } else { lines.join("\n") };
    Ok(ToolAnswer::new(text, json!({ "items": lines })))
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
pub(super) struct HandoffArgs {
    agent: String,
}

pub(super) fn handoff(context: &mut ToolContext<'_>, handoff: HandoffArgs) -> Result<ToolAnswer, Problem> {
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
    let mut handoff = agent_json(&outcome.seen.agent);
    handoff["text"] = json!(text);
    Ok(ToolAnswer::new(text, json!({ "handoff": handoff })))
}
