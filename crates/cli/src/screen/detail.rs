//! Gathers the tabs about one agent: only the open one.

use std::collections::VecDeque;

use consort_core::Timestamp;
use consort_core::journal::Actor;
use consort_core::monitor::PaneAddress;
use consort_core::monitor::PaneViewer as _;
use consort_core::presence::Agent;
use consort_core::presence::SessionId;
use consort_core::secrets::redacted;
use consort_core::tasks::TaskState;
use consort_core::text;
use consort_host::Tmux;
use consort_tui::AgentTabText;
use consort_tui::DetailTab;
use consort_tui::Interest;

use super::gather::AgentAction;
use super::messages;
use super::runs;
use super::runs::RunList;
use crate::commands::agent::handoff;
use crate::error::CommandError;
use crate::time;
use crate::world::OpenWorld;
use crate::world::World;

/// Most lines of a diff that are shown.
const MOST: usize = 5_000;

/// Most messages that are shown.
const MESSAGES: usize = 60;

/// Gathers the open tab, if there is one. A tab that takes a process of its own is gathered only when it is
/// due.
pub(super) fn read(
    world: &World,
    opened: &mut OpenWorld,
    interest: &Interest,
    (runs, done): (&RunList, &VecDeque<AgentAction>),
    is_due: bool,
) -> Result<Option<AgentTabText>, CommandError> {
    let Some(key) = &interest.agent else { return Ok(None) };
    let is_slow = matches!(interest.tab, DetailTab::Diff | DetailTab::Handoff);
    if is_slow && !is_due {
        return Ok(None);
    }
    let session = SessionId::from(key.as_str());
    let name = opened.app.name_of(&session)?.map(|name| name.to_string()).unwrap_or_default();
    let agent = opened.app.present_session(&session)?.map(|(agent, _)| agent);
    let now = opened.app.host().now();
    let lines = match (interest.tab, agent) {
        (DetailTab::Activity, _) => activity(opened, &session, done, now),
        (DetailTab::Pane, Some(agent)) => pane(world, &agent, interest.lines),
        (DetailTab::Messages, _) => letters(opened, &session, now)?,
        (DetailTab::Diff, Some(agent)) => diff(&agent),
        (DetailTab::Work, Some(agent)) => work(opened, &agent, now)?,
        (DetailTab::Run, _) => runs.record_of(&name).map_or_else(Vec::new, |run| runs::lines(world, run)),
        (DetailTab::Handoff, _) => {
            opened.app.handoff(&name).map_or_else(|_| Vec::new(), |handoff| handoff::all_lines(&handoff, now))
        }
        (DetailTab::Pane | DetailTab::Diff | DetailTab::Work, None) => Vec::new(),
    };
    Ok(Some(AgentTabText { agent: key.clone(), tab: interest.tab.index(), lines }))
}

/// Lists the agent's prompts, files, entries and pane states, newest first.
fn activity(
    opened: &OpenWorld,
    session: &SessionId,
    done: &VecDeque<AgentAction>,
    now: Timestamp,
) -> Vec<String> {
    let app = &opened.app;
    let own = done.iter().filter(|done| done.who == *session);
    let mut seen: Vec<(Timestamp, String)> = own.map(|done| (done.at, done.what.clone())).collect();
    if let Some(activity) = app.activity_of(session) {
        let doing = activity.waiting_for.or(activity.doing);
        seen.extend(doing.map(|doing| (activity.last_active, text::one_line(&doing, 300))));
    }
    for glance in app.published_glances().unwrap_or_default().panes {
        if glance.session.as_ref() == Some(session) {
            seen.extend(glance.history.iter().map(|(at, state)| (*at, format!("its pane: {state}"))));
            seen.push((glance.since, format!("its pane: {}", glance.state)));
        }
    }
    for step in app.trail_of(session).map(|trail| trail.steps).unwrap_or_default() {
        let prompt = step.prompt.as_deref().map(|prompt| text::one_line(prompt, 300));
        let asked = prompt.unwrap_or_else(|| format!("about {}", step.topics.join(", ")));
        seen.push((step.at, format!("was asked: {asked}")));
        let visits = step.read.iter().map(|visit| (visit, "read"));
        let visits = visits.chain(step.written.iter().map(|visit| (visit, "wrote")));
        seen.extend(
            visits.map(|(visit, did)| (visit.at, format!("{did} {}", text::one_line(&visit.path, 200)))),
        );
    }
    seen.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    seen.dedup();
    let line = |(at, what): (Timestamp, String)| format!("  {:>5}  {what}", text::age(now.since(at)));
    seen.into_iter().map(line).collect()
}

/// Reads what the agent's terminal shows now.
fn pane(world: &World, agent: &Agent, lines: usize) -> Vec<String> {
    let terminal = &agent.location.terminal;
    let Some((server, id)) = terminal.tmux.clone().zip(terminal.pane.clone()) else { return Vec::new() };
    let shown = Tmux::new(&world.paths.data).history(&PaneAddress { server, id }, lines.max(50));
    let shown = text::printable(&redacted(&shown.unwrap_or_default()));
    shown.trim_end().lines().map(str::to_owned).collect()
}

/// Lists the messages that the agent has sent and received, newest first.
fn letters(opened: &mut OpenWorld, session: &SessionId, now: Timestamp) -> Result<Vec<String>, CommandError> {
    let who = Actor::Agent(session.clone());
    let mut all = opened.app.sent(&who, MESSAGES)?;
    all.extend(opened.app.received(&who, MESSAGES)?);
    all.sort_by_key(|sent| std::cmp::Reverse((sent.message.at, sent.message.id.to_string())));
    all.dedup_by(|one, other| one.message.id == other.message.id);
    let mut lines = Vec::new();
    for sent in all.iter().take(MESSAGES) {
        let shown = messages::message(sent, false, &opened.project.id);
        let (called, to) = (shown.shown(), text::first_few(shown.to, 4));
        let kind = shown.kind.map_or_else(String::new, |kind| format!(", {kind}"));
        let ago = text::ago(now.since(shown.at));
        lines.push(format!("{} to {to} ({called}{kind}), {ago}", shown.from));
        lines.extend(shown.text.lines().map(|line| format!("  {line}")));
    }
    Ok(lines)
}

/// Returns the diff of the agent's worktree to its last commit.
fn diff(agent: &Agent) -> Vec<String> {
    let diff = consort_host::diff_since(&agent.location.worktree, "HEAD").unwrap_or_default();
    let diff = text::printable(&redacted(&diff));
    let mut lines: Vec<String> = diff.lines().take(MOST).map(str::to_owned).collect();
    let more = diff.lines().count().saturating_sub(MOST);
    if more > 0 {
        lines.push(format!(
            "and {} more: git -C {} diff HEAD",
            text::counted_noun(more, "line"),
            agent.location.worktree.display()
        ));
    }
    lines
}

/// Lists the agent's task and its holds.
fn work(opened: &mut OpenWorld, agent: &Agent, now: Timestamp) -> Result<Vec<String>, CommandError> {
    let mut lines = Vec::new();
    if let Some(task) = opened.app.claimed_task(&agent.session)? {
        lines.push(format!("Task {} of {}", task.key.id, task.key.spec.path));
        if let TaskState::Claimed(worker) = &task.state {
            lines.push(format!("  claimed {}", text::ago(now.since(worker.at))));
            lines.extend(worker.words.as_ref().map(|why| format!("  because: {}", text::one_line(why, 300))));
        }
    }
    let caller = consort_core::presence::CallerFacts::default();
    let holder = Actor::Agent(agent.session.clone());
    for view in opened.app.holds(&caller, Some(&agent.project.id), 0)?.holds {
        if view.hold.holder != holder {
            continue;
        }
        lines.push(format!("Reserved {}", text::one_line(&view.hold.resource.shown(), 200)));
        lines.push(format!("  since {}", time::local(view.hold.since)));
        lines.extend(view.hold.reason.as_ref().map(|why| format!("  because: {}", text::one_line(why, 300))));
        lines.extend(
            view.hold.contest.as_ref().map(|contest| {
                format!("  {} wants it; decided {}", contest.label, time::local(contest.until))
            }),
        );
    }
    Ok(lines)
}
