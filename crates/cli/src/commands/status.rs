//! The command `consort status`: shows you, this project and the store at a glance.

use std::path::PathBuf;

use consort_core::claims::HoldView;
use consort_core::claims::HoldsSummary;
use consort_core::presence::Caller;
use consort_core::presence::Status;
use consort_core::status::StatusOutcome;
use consort_core::text;
use serde::Serialize;

use crate::connect;
use crate::error::CommandResult;
use crate::observe;
use crate::render::agents;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print one short line, for a status line: who you are, who else is here, ● unread, your task
    #[arg(long, conflicts_with = "json")]
    line: bool,
}

#[derive(Serialize)]
struct Overview {
    #[serde(flatten)]
    seen: StatusOutcome,
    worktree: PathBuf,
    branch: Option<String>,
    store: PathBuf,
    connected: Vec<connect::ConnectionState>,
}

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let caller = caller_facts(&opened.app);
    let seen =
        opened.app.status(&caller, &opened.project, |agents| observe::look(&world.paths.home, agents))?;
    if args.line {
        return world.out.line(short_line(&seen));
    }
    let status = Overview {
        seen,
        store: world.paths.store(),
        connected: connect::connection_states(world, &opened.place.worktree),
        worktree: opened.place.worktree,
        branch: opened.place.branch,
    };
    if args.json {
        return world.out.one(&mut world.app(), "status", &status);
    }
    let you = match &status.seen.you {
        Caller::Agent(agent) => format!("{} ({}, session {})", agent.name, agent.kind, agent.session),
        Caller::Anonymous(why) => why.to_string(),
        Caller::Person => "the person at the keyboard".to_owned(),
    };
    let seen = &status.seen;
    let branch = status.branch.as_ref().map_or_else(String::new, |branch| format!(" on {branch}"));
    let mut lines = vec![
        ("You", you),
        ("Project", format!("{}{branch}  ({})", seen.project.name, seen.project.id.in_words())),
        ("Here", agents::summary(&seen.here.agents)),
        ("Held", held(&seen.held)),
        ("Mail", format!("{} unread", text::counted_noun(seen.unread, "message"))),
        (
            "Store",
            format!("{}, {}", status.store.display(), text::counted_noun(seen.entries as usize, "entry")),
        ),
    ];
    if let Some(record) = &seen.task {
        lines.insert(1, ("Task", format!("{} of {}", record.key.id, record.key.spec.path)));
    }
    for standing in &status.connected {
        lines.push((standing.title, standing.sentence()));
    }
    lines.push(("Next", next_step(&status.connected, &seen.you, seen.unread, seen.here.agents.len())));
    let width = lines.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    let text: String = lines
        .iter()
        .map(|(label, value)| {
            let label = world.out.style.dim(&format!("{label:width$}"));
            format!("{label}  {}\n", text::one_line(value, 300))
        })
        .collect();
    world.out.text(text)
}

/// Formats the short line: `Falcon · 2 peers · ● 3 · TASK-02`. Callers that are no agent also see how many
/// agents wait for them.
fn short_line(seen: &StatusOutcome) -> String {
    let agents = &seen.here.agents;
    let (name, peers) = match &seen.you {
        Caller::Agent(agent) => (agent.name.as_str(), agents.iter().filter(|one| !one.you).count()),
        Caller::Person => ("you", agents.len()),
        Caller::Anonymous(_) => ("consort", agents.len()),
    };
    let mut parts = vec![text::one_line(name, 30), text::counted_noun(peers, "peer")];
    let waiting = agents.iter().filter(|one| one.status == Status::Waiting && !one.you).count();
    if waiting > 0 && !matches!(seen.you, Caller::Agent(_)) {
        parts.push(format!("◆ {waiting}"));
    }
    if seen.unread > 0 {
        parts.push(format!("● {}", seen.unread));
    }
    parts.extend(seen.task.as_ref().map(|task| text::one_line(&task.key.id, 30)));
    parts.join(" · ")
}

/// Formats the first holds: `src/auth/ (you), topic:auth (Raven)`.
fn held(held: &HoldsSummary) -> String {
    let one = |seen: &HoldView| {
        let who = if seen.yours { "you" } else { seen.name.as_str() };
        format!("{} ({who})", text::one_line(&seen.hold.resource.shown(), 80))
    };
    let first: Vec<String> = held.first.iter().map(one).collect();
    match held.count - first.len() {
        _ if held.count == 0 => "nothing".to_owned(),
        0 => first.join(", "),
        more => format!("{}, {more} more", first.join(", ")),
    }
}

/// Suggests what to do now: what waits first, then what is of use to the caller.
fn next_step(connected: &[connect::ConnectionState], you: &Caller, unread: usize, here: usize) -> String {
    match you {
        _ if unread > 0 => "`consort inbox` reads your messages".into(),
        Caller::Agent(_) if here < 2 => "no other agent is here; you will be told when one joins".into(),
        Caller::Agent(_) => "`consort who`, `consort send <name> '…'`, `consort reserve <path>`".into(),
        _ if connected.iter().all(connect::ConnectionState::is_missing) => connect::NEXT_WITHOUT_ANY.into(),
        _ if !connected.iter().any(connect::ConnectionState::is_connected) => {
            "`consort init` connects your agent CLIs".into()
        }
        _ if here == 0 => "start an agent here (`claude`, `codex`, …): it joins by itself".into(),
        _ => "`consort` on your terminal shows them live, `consort who` once".into(),
    }
}
