//! Agents as text: shared by `who`, `up` and `status`.

use consort_core::Timestamp;
use consort_core::presence::LeaveReason;
use consort_core::presence::Seen;
use consort_core::presence::Status;
use consort_core::presence::WhoOutcome;
use consort_core::text;

use crate::out::Style;

/// The narrowest `DOING` column worth having.
const NARROWEST: usize = 12;

/// A table of agents, no wider than `width`.
pub(crate) fn agents(outcome: &WhoOutcome, style: Style, width: usize) -> String {
    if outcome.agents.is_empty() {
        return "No agents are here.\n".into();
    }
    let with_project = outcome.project.is_none();
    let mut rows = vec![Row::header(with_project)];
    for seen in &outcome.agents {
        rows.push(Row::of(seen, outcome.at, with_project));
        for subagent in &seen.subagents {
            let age = text::age(outcome.at.since(subagent.started_at));
            rows.push(Row::subagent(&text::one_line(&subagent.kind, 30), age, with_project));
        }
    }
    let columns = rows[0].cells.len();
    let doing = 3;
    let mut widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| row.cells[column].chars().count()).max().unwrap_or(0))
        .collect();
    let rest: usize = widths.iter().enumerate().filter(|(i, _)| *i != doing).map(|(_, w)| w + 2).sum();
    widths[doing] = widths[doing].min(width.saturating_sub(rest).max(NARROWEST));

    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.cells.iter().enumerate() {
            let cell = text::one_line(cell, widths[column]);
            let padding = widths[column].saturating_sub(cell.chars().count()) + 2;
            let painted = match (&row.kind, column) {
                (RowKind::Header, _) => style.dim(&cell),
                (RowKind::Agent(_), 0) => style.bold(&cell),
                (RowKind::Agent(Status::Waiting), 2) => style.paint("33", &cell),
                (RowKind::Agent(Status::Working), 2) => style.paint("32", &cell),
                (RowKind::Agent(Status::Gone), _) | (RowKind::Subagent, _) => style.dim(&cell),
                _ => cell,
            };
            line.push_str(&painted);
            line.push_str(&" ".repeat(padding));
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// `3 agents: 1 waiting for you, 2 idle`.
pub(crate) fn summary(agents: &[Seen]) -> String {
    let count = |status| agents.iter().filter(|seen| seen.status == status).count();
    let parts: Vec<String> = [
        (count(Status::Waiting), "waiting for you"),
        (count(Status::Working), "working"),
        (count(Status::Idle), "idle"),
        (count(Status::Gone), "gone"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    if parts.is_empty() {
        return "no agents".into();
    }
    format!("{}: {}", text::count(agents.len(), "agent"), parts.join(", "))
}

enum RowKind {
    Header,
    Agent(Status),
    Subagent,
}

struct Row {
    kind: RowKind,
    cells: Vec<String>,
}

impl Row {
    fn header(with_project: bool) -> Self {
        let mut cells = vec!["AGENT", "KIND", "STATUS", "DOING", "BRANCH", "WHERE", "ACTIVE"];
        if with_project {
            cells.insert(4, "PROJECT");
        }
        Self { kind: RowKind::Header, cells: cells.into_iter().map(str::to_owned).collect() }
    }

    fn of(seen: &Seen, now: Timestamp, with_project: bool) -> Self {
        let agent = &seen.agent;
        let you = if seen.you { " (you)" } else { "" };
        let mut cells = vec![
            format!("{}{you}", agent.name),
            text::one_line(&agent.kind, 12),
            status(seen.status).to_owned(),
            doing(seen),
            agent.branch.clone().unwrap_or_default(),
            place(seen),
            text::age(now.since(seen.last_active)),
        ];
        if with_project {
            cells.insert(4, agent.project.name.clone());
        }
        Self { kind: RowKind::Agent(seen.status), cells }
    }

    fn subagent(kind: &str, age: String, with_project: bool) -> Self {
        let mut cells = vec![format!("└ {kind}"), "subagent".into(), "working".into()];
        cells.resize(if with_project { 7 } else { 6 }, String::new());
        cells.push(age);
        Self { kind: RowKind::Subagent, cells }
    }
}

fn doing(seen: &Seen) -> String {
    match (seen.left, &seen.waiting_for, &seen.activity) {
        (Some(left), ..) => match left.reason {
            LeaveReason::Ended => "session ended",
            LeaveReason::Asked => "left",
            LeaveReason::Died => "process ended",
            LeaveReason::Silent => "not heard from",
        }
        .to_owned(),
        (None, Some(what), _) => what.clone(),
        (None, None, Some(activity)) => activity.clone(),
        (None, None, None) => String::new(),
    }
}

/// The pane or terminal, and where on the screen that is.
fn place(seen: &Seen) -> String {
    let terminal = &seen.agent.terminal;
    let tty = seen.agent.process.tty.as_deref().map(|tty| tty.trim_start_matches("/dev/"));
    let mut place = terminal.pane.as_deref().or(tty).unwrap_or_default().to_owned();
    if let Some(quadrant) = seen.quadrant {
        place.push_str(&format!(" {}", quadrant.as_str()));
    }
    place
}

pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Waiting => "waiting",
        Status::Working => "working",
        Status::Idle => "idle",
        Status::Gone => "gone",
    }
}
