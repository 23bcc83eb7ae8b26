//! Words what an agent reads about other agents: at its start, when agents have come or gone, and when one is
//! stuck. Names of branches, files and tasks are foreign text, so each is put on one line; the texts are kept
//! to a few tokens.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Agent;
use super::AgentView;
use super::SessionId;
use super::Status;
use super::Unfinished;
use crate::Timestamp;
use crate::claims::HoldView;
use crate::claims::HoldsSummary;
use crate::config::ContextMode;
use crate::config::HookSettings;
use crate::messages::OpenThread;
use crate::tasks::TaskKey;
use crate::text;

/// Most agents that are described; the rest are only counted, to save the reader's context.
pub const MOST_DESCRIBED: usize = 8;

/// Most other agents for which topics are shown too.
const FEW: usize = 3;
const TOPICS: usize = 2;
const FORESEEN: usize = 3;

/// Most newcomers, and most departures, that one line names.
const NAMED: usize = 2;

/// Instructions for messages and reservations, for agents that have a shell.
const COMMANDS: &str = "Message one: consort send <name> '<text>' (all: everyone, @me: your user; code: - <<'EOF'). \
     Before larger changes: consort reserve <path>, then release. More: consort who";

/// The facts for the text that a session reads when it starts, or goes on after a compaction or a resume.
pub struct Start<'a> {
    pub me: &'a Agent,
    pub others: &'a [AgentView],
    /// The number of other agents that are not in `others`.
    pub unseen: usize,
    pub topics: &'a BTreeMap<SessionId, Vec<String>>,
    /// The reservations of other agents.
    pub held: &'a HoldsSummary,
    /// The session's own reservations, task and open conversations.
    pub unfinished: &'a Unfinished,
    pub foreseen: &'a [String],
    pub now: Timestamp,
}

/// Words the start text as long as the settings ask for: the session's name, the other agents, and the
/// session's unfinished work.
pub fn start(start: &Start<'_>, settings: HookSettings) -> Option<String> {
    let told = match settings.context {
        ContextMode::Full if settings.registration => full(start),
        ContextMode::Full | ContextMode::None => return None,
        ContextMode::Minimal => minimal(start),
    };
    Some(text::disarm_hook_tags(&told).into_owned())
}

/// Words the notice to an agent that has been idle for long although it has a task.
pub(super) fn stuck_on_task(task: &TaskKey, idle: i64) -> String {
    format!(
        "You have been idle for {} on the task {} of {}. Go on with it, or let others have it: \
         `consort task done`, `consort task drop`.",
        text::age(idle),
        text::foreign(&task.id, 60),
        text::foreign(&task.spec.path, 120)
    )
}

/// Words the notice to an agent that has contested a hold of an idle agent.
pub(super) fn stuck_on_contested(holder: &Agent, what: &str, idle: i64, left: i64) -> String {
    let freed = match text::age(left.max(0)).as_str() {
        "now" => "it is freed now".to_owned(),
        age => format!("it is freed in {age}"),
    };
    format!(
        "{}, which holds {} that you asked for, has been idle for {}: {freed} unless it answers.",
        holder.name,
        text::foreign(what, 120),
        text::age(idle)
    )
}

/// Words the notice to an agent that waits for an idle agent; `what` says in showable words what it waits
/// for.
pub(super) fn stuck_on_awaited(holder: &Agent, what: &str, idle: i64) -> String {
    format!(
        "{}, for which you wait, has been idle for {}: {what}. `consort holds contest` asks it to answer, \
         and frees it if it does not.",
        holder.name,
        text::age(idle)
    )
}

fn minimal(start: &Start<'_>) -> String {
    let company = match start.others.len() + start.unseen {
        0 => "no other agent is here".to_owned(),
        1 => "1 other agent is here".to_owned(),
        n => format!("{n} other agents are here"),
    };
    format!("[consort] You are {}; {company} (`consort who`).", start.me.name)
}

fn full(start: &Start<'_>) -> String {
    let Start { me, others, held, .. } = start;
    let mut told = format!("[consort] You are {} (project {}", me.name, text::foreign(&me.project.name, 60));
    if let Some(branch) = &me.branch {
        let _ = write!(told, ", branch {}", text::foreign(branch, 60));
    }
    let count = others.len() + start.unseen;
    told.push_str(match count {
        0 => "). No other agents are here yet; you will be told here when one joins.",
        1 => "). 1 other agent is here:",
        _ => "). ",
    });
    if count > 1 {
        let _ = write!(told, "{count} other agents are here:");
    }
    for seen in others.iter().take(MOST_DESCRIBED) {
        let _ = write!(told, "\n- {}", describe(seen, start));
    }
    if count > MOST_DESCRIBED {
        let _ = write!(told, "\n- and {} more", count - MOST_DESCRIBED);
    }
    if held.count > 0 {
        let one = |seen: &HoldView| format!("{} ({})", resource(seen), seen.name);
        let shown: Vec<String> = held.first.iter().map(one).collect();
        let _ = write!(told, "\nReserved by others, do not edit: {}", shown.join(", "));
        if held.count > shown.len() {
            let _ = write!(told, " and {} more: `consort holds list`", held.count - shown.len());
        }
    }
    if let Some(own) = unfinished(start.unfinished, start.now) {
        let _ = write!(told, "\n{own}");
    }
    for line in start.foreseen.iter().take(FORESEEN) {
        let _ = write!(told, "\n{line}");
    }
    if !others.is_empty() {
        let _ = write!(told, "\n{COMMANDS}");
    }
    told
}

fn resource(seen: &HoldView) -> String {
    text::foreign(&seen.hold.resource.shown(), 80)
}

/// Describes an agent on one line: `GoldFalcon (claude), working: Edit src/auth.rs; on feat/x; in ../side`.
fn describe(seen: &AgentView, start: &Start<'_>) -> String {
    let mut line = format!("{} ({}), ", seen.agent.name, text::foreign(&seen.agent.kind, 20));
    line.push_str(match seen.status {
        Status::Waiting => "waiting for your user",
        Status::Working => "working",
        Status::Idle => "idle",
        Status::Away => "idle, nobody at its terminal",
        Status::Stuck => "stuck",
        Status::Gone => "gone",
    });
    if let Some(activity) = &seen.activity {
        let _ = write!(line, ": {}", text::foreign(activity, 60));
    }
    if seen.agent.branch != start.me.branch
        && let Some(branch) = &seen.agent.branch
    {
        let _ = write!(line, "; on {}", text::foreign(branch, 60));
    }
    if seen.agent.location.worktree != start.me.location.worktree {
        let _ = write!(line, "; in {}", text::foreign(&seen.agent.location.worktree.to_string_lossy(), 80));
    }
    let topics = start.topics.get(&seen.agent.session).filter(|topics| !topics.is_empty());
    if let Some(topics) = topics.filter(|_| start.others.len() <= FEW) {
        let few: Vec<&str> = topics.iter().take(TOPICS).map(String::as_str).collect();
        let _ = write!(line, "; about {}", few.join(", "));
    }
    line
}

/// Words a session's unfinished work: `You have reserved src/auth/ (27m left). Your task: TASK-02 in
/// login.md. Unanswered: #15 from VividTiger.`
fn unfinished(own: &Unfinished, now: Timestamp) -> Option<String> {
    let mut parts = Vec::new();
    if own.held.count > 0 {
        let one = |seen: &HoldView| match seen.hold.until {
            Some(until) => format!("{} ({} left)", resource(seen), text::age(until.since(now))),
            None => resource(seen),
        };
        let mut shown: Vec<String> = own.held.first.iter().map(one).collect();
        if own.held.count > shown.len() {
            shown.push(format!("{} more", own.held.count - shown.len()));
        }
        parts.push(format!("You have reserved {}.", shown.join(", ")));
    }
    if let Some(task) = &own.task {
        let file = task.spec.path.rsplit('/').next().unwrap_or_default();
        parts.push(format!("Your task: {} in {}.", text::foreign(&task.id, 40), text::foreign(file, 60)));
    }
    if !own.threads.is_empty() {
        let one = |thread: &OpenThread| match thread.is_mine {
            true => format!("{} to {}", thread.called, text::one_line(&thread.with, 50)),
            false => format!("{} from {}", thread.called, text::one_line(&thread.with, 50)),
        };
        let open: Vec<String> = own.threads.iter().map(one).collect();
        parts.push(format!("Unanswered: {}.", open.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// An agent that has joined, and its reservations that overlap the reader's files.
pub(super) struct Arrival<'a> {
    pub(super) agent: &'a Agent,
    pub(super) in_the_way: Vec<String>,
}

/// Words, in one line, which agents have joined and left since the reader was last told.
pub(super) fn roster(came: &[Arrival<'_>], gone: &[&Agent]) -> Option<String> {
    let mut sentences = Vec::new();
    if let [one] = came {
        sentences.push(format!("{} has joined this project{}.", introduced(one.agent), overlaps(one)));
    } else if !came.is_empty() {
        let one = |one: &Arrival<'_>| format!("{}{}", one.agent.name, overlaps(one));
        let named: Vec<String> = came.iter().take(NAMED).map(one).collect();
        let more = match came.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more (consort who)"),
        };
        sentences.push(format!("Joined this project: {}{more}.", named.join(", ")));
    }
    if !gone.is_empty() {
        let names = text::first_few(gone.iter().map(|agent| agent.name.to_string()), NAMED);
        sentences.push(format!("{names} {} left.", if gone.len() == 1 { "has" } else { "have" }));
    }
    let told = format!("[consort] {}", sentences.join(" "));
    (!sentences.is_empty()).then(|| text::disarm_hook_tags(&told).into_owned())
}

/// Introduces an agent: `Falcon (codex, branch main)`.
fn introduced(agent: &Agent) -> String {
    let branch = agent.branch.as_ref();
    let branch = branch.map_or_else(String::new, |branch| format!(", branch {}", text::foreign(branch, 40)));
    format!("{} ({}{branch})", agent.name, text::foreign(&agent.kind, 20))
}

fn overlaps(one: &Arrival<'_>) -> String {
    match one.in_the_way.split_first() {
        None => String::new(),
        Some((first, [])) => format!(" and reserved {}", text::foreign(first, 60)),
        Some((first, more)) => format!(" and reserved {} and {} more", text::foreign(first, 60), more.len()),
    }
}
