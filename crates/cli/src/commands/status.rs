//! The command `consort status`: shows you, this project and the store at a glance.

use std::path::PathBuf;

use consort_core::claims::HeldSummary;
use consort_core::claims::HoldView;
use consort_core::journal::Actor;
use consort_core::journal::Seq;
use consort_core::presence::Caller;
use consort_core::presence::WhoOutcome;
use consort_core::tasks::TaskRecord;
use consort_core::text;
use serde::Serialize;

use super::who;
use crate::connect;
use crate::error::CommandResult;
use crate::render::agents;
use crate::world::World;
use crate::world::caller_facts;

#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Status {
    you: Caller,
    project: consort_core::project::Project,
    worktree: PathBuf,
    branch: Option<String>,
    /// Messages you have not read.
    unread: usize,
    /// What you have in hand.
    task: Option<TaskRecord>,
    here: WhoOutcome,
    /// What is held in this project.
    held: HeldSummary,
    store: PathBuf,
    entries: Seq,
    connected: Vec<connect::ConnectionState>,
}

/// How much of what is held is shown.
const SHOWN: usize = 4;

pub(crate) fn run(world: &World, args: &Args) -> CommandResult {
    let mut opened = world.open()?;
    let you = opened.caller()?;
    let unread = match &you {
        Caller::Agent(agent) => opened.app.unread_count(&Actor::Agent(agent.session.clone()))?,
        Caller::Person => opened.app.unread_count(&Actor::Person)?,
        Caller::Anonymous(_) => 0,
    };
    let task = match &you {
        Caller::Agent(agent) => opened.app.claimed_task(&agent.session)?,
        Caller::Person | Caller::Anonymous(_) => None,
    };
    let caller = caller_facts(&opened.app);
    let status = Status {
        you,
        task,
        held: opened.app.held(&caller, &opened.project.id, SHOWN)?,
        unread,
        here: who::look(world, &mut opened, false)?,
        store: world.paths.store(),
        entries: opened.app.journal_last_seq()?,
        connected: connect::standings(world, &opened.place.worktree),
        project: opened.project,
        worktree: opened.place.worktree,
        branch: opened.place.branch,
    };
    if args.json {
        return world.out.one(&mut world.app(), "status", &status);
    }
    let you = match &status.you {
        Caller::Agent(agent) => format!("{} ({}, session {})", agent.name, agent.kind, agent.session),
        Caller::Anonymous(why) => why.to_string(),
        Caller::Person => "the person at the keyboard".to_owned(),
    };
    let branch = status.branch.map_or_else(String::new, |branch| format!(" on {branch}"));
    let mut lines = vec![
        ("You", you),
        ("Project", format!("{}{branch}  ({})", status.project.name, status.project.id)),
        ("Here", agents::summary(&status.here.agents)),
        ("Held", held(&status.held)),
        ("Mail", format!("{} unread", text::count(status.unread, "message"))),
        ("Store", format!("{}, {} entries", status.store.display(), status.entries)),
    ];
    if let Some(record) = &status.task {
        lines.insert(1, ("Task", format!("{} of {}", record.key.id, record.key.spec.path)));
    }
    for standing in &status.connected {
        lines.push((standing.title, standing.sentence()));
    }
    lines.push(("Next", next_step(&status.connected, &status.you, status.unread, status.here.agents.len())));
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

/// `src/auth/ (you), topic:auth (Raven)`
fn held(held: &HeldSummary) -> String {
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

/// What to do now: what waits first, then what is of use to whoever asks.
fn next_step(connected: &[connect::ConnectionState], you: &Caller, unread: usize, here: usize) -> String {
    match you {
        _ if unread > 0 => "`consort inbox` reads your messages".into(),
        Caller::Agent(_) if here < 2 => "no other agent is here; you will be told when one joins".into(),
        Caller::Agent(_) => "`consort who`, `consort send <name> '…'`, `consort reserve <path>`".into(),
        _ if !connected.iter().any(connect::ConnectionState::is_connected) => {
            "`consort init` connects your agent CLIs".into()
        }
        _ if here == 0 => "start an agent here (`claude`, `codex`, …): it joins by itself".into(),
        _ => "`consort` on your terminal shows them live, `consort who` once".into(),
    }
}
