//! Formats agents as a table, a summary or details, for the commands `who`, `up` and `status`.

use std::borrow::Cow;

use consort_core::Timestamp;
use consort_core::presence::AgentView;
use consort_core::presence::LeaveReason;
use consort_core::presence::Status;
use consort_core::presence::WhoOutcome;
use consort_core::text;
use unicode_width::UnicodeWidthChar as _;
use unicode_width::UnicodeWidthStr as _;

use crate::output::Style;

/// The columns that give way when the screen is narrow: first these are cut, in this order and down to this
/// width, then those of [`DROPPED`] go, one after the other.
const CUT: &[(&str, usize)] =
    &[("DOING", 12), ("BRANCH", 8), ("WHERE", 8), ("PROJECT", 8), ("AGENT", 12), ("DOING", 6)];
const DROPPED: &[&str] = &["KIND", "WHERE", "PROJECT", "BRANCH", "ACTIVE", "DOING"];

/// Formats a table of agents, no wider than `width` and no longer than `height`.
pub(crate) fn table(outcome: &WhoOutcome, style: Style, width: usize, height: usize) -> String {
    if outcome.agents.is_empty() {
        return "No agents are here.\n".into();
    }
    let with_project = outcome.project.is_none();
    let mut rows = vec![AgentLine::header(with_project)];
    for seen in &outcome.agents {
        rows.push(AgentLine::of(seen, outcome.at, with_project));
        for subagent in &seen.subagents {
            let age = text::age(outcome.at.since(subagent.started_at));
            rows.push(AgentLine::subagent(&text::one_line(&subagent.kind, 30), age, with_project));
        }
    }
    let hidden =
        if rows.len() > height { rows.split_off(height.saturating_sub(1).max(1)) } else { Vec::new() };
    let columns = fit(&rows, width);

    let mut table = String::new();
    for row in &rows {
        for (column, width) in &columns {
            let cell = cut(&row.cells[*column], *width);
            let colour = match (&row.kind, *column) {
                (RowKind::Header | RowKind::Agent(Status::Gone) | RowKind::Subagent, _) => "2",
                (RowKind::Agent(_), 0) => "1",
                (RowKind::Agent(Status::Waiting), 2) => "33",
                (RowKind::Agent(Status::Working), 2) => "32",
                _ => "",
            };
            match colour {
                "" => table.push_str(&cell),
                colour => table.push_str(&style.paint(colour, &cell)),
            }
            let padding = width.saturating_sub(cells(&cell)) + 2;
            table.extend(std::iter::repeat_n(' ', padding));
        }
        table.truncate(table.trim_end_matches(' ').len());
        table.push('\n');
    }
    let hidden = hidden.iter().filter(|row| matches!(row.kind, RowKind::Agent(_))).count();
    if hidden > 0 {
        table.push_str(&format!("and {hidden} more\n"));
    }
    table
}

/// Chooses the columns to show, and the width of each.
fn fit(rows: &[AgentLine], width: usize) -> Vec<(usize, usize)> {
    let header = &rows[0].cells;
    let widest = |column: usize| rows.iter().map(|row| cells(&row.cells[column])).max().unwrap_or(0);
    let mut columns: Vec<(usize, usize)> = (0..header.len()).map(|column| (column, widest(column))).collect();
    let excess = |columns: &[(usize, usize)]| {
        let taken: usize = columns.iter().map(|(_, width)| width + 2).sum();
        taken.saturating_sub(2).saturating_sub(width)
    };
    let cuts = |columns: &mut Vec<(usize, usize)>| {
        for (name, least) in CUT {
            let over = excess(columns);
            let column = columns.iter_mut().find(|(column, _)| header[*column] == *name);
            if let Some((_, width)) = column.filter(|_| over > 0) {
                *width = width.saturating_sub(over).max((*width).min(*least));
            }
        }
    };
    cuts(&mut columns);
    for name in DROPPED {
        if excess(&columns) > 0 {
            columns.retain(|(column, _)| header[*column] != *name);
            cuts(&mut columns);
        }
    }
    columns
}

/// Counts the cells of a screen that a text takes. Nearly all text is ASCII, which need not be looked up.
fn cells(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.len() } else { text.width() }
}

/// Cuts a text to `width` cells at most.
pub(crate) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if cells(text) <= width {
        return text.into();
    }
    let mut cut = String::new();
    for c in text.chars() {
        if cut.width() + c.width().unwrap_or(0) + 1 > width {
            break;
        }
        cut.push(c);
    }
    (cut + "…").into()
}

/// Counts agents by status: `3 agents: 1 waiting for you, 2 idle`.
pub(crate) fn summary(agents: &[AgentView]) -> String {
    let count = |status| agents.iter().filter(|seen| seen.status == status).count();
    let parts: Vec<String> = [
        (count(Status::Waiting), "waiting for you"),
        (count(Status::Stuck), "stuck"),
        (count(Status::Working), "working"),
        (count(Status::Idle), "idle"),
        (count(Status::Away), "away"),
        (count(Status::Gone), "gone"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, what)| format!("{n} {what}"))
    .collect();
    if parts.is_empty() {
        return "no agents".into();
    }
    format!("{}: {}", text::counted_noun(agents.len(), "agent"), parts.join(", "))
}

enum RowKind {
    Header,
    Agent(Status),
    Subagent,
}

struct AgentLine {
    kind: RowKind,
    cells: Vec<String>,
}

impl AgentLine {
    fn new(kind: RowKind, cells: Vec<String>) -> Self {
        Self { kind, cells: cells.iter().map(|cell| text::one_line(cell, 200)).collect() }
    }

    fn header(with_project: bool) -> Self {
        let mut cells = vec!["AGENT", "KIND", "STATUS", "DOING", "BRANCH", "WHERE", "ACTIVE"];
        if with_project {
            cells.insert(4, "PROJECT");
        }
        Self::new(RowKind::Header, cells.into_iter().map(str::to_owned).collect())
    }

    fn of(seen: &AgentView, now: Timestamp, with_project: bool) -> Self {
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
        Self::new(RowKind::Agent(seen.status), cells)
    }

    fn subagent(kind: &str, age: String, with_project: bool) -> Self {
        let mut cells = vec![format!("└ {kind}"), "subagent".into(), "working".into()];
        cells.resize(if with_project { 7 } else { 6 }, String::new());
        cells.push(age);
        Self::new(RowKind::Subagent, cells)
    }
}

/// Describes one agent, with a line for each thing that is known of it.
pub(crate) fn detail(seen: &AgentView, now: Timestamp) -> Vec<String> {
    let (agent, you) = (&seen.agent, if seen.you { ", you" } else { "" });
    let active = text::ago(now.since(seen.last_active));
    let mut lines =
        vec![format!("{} ({}{you}): {}, active {active}", agent.name, agent.kind, status(seen.status))];
    let known = [
        ("Doing", doing(seen)),
        ("Project", agent.project.name.clone()),
        ("Branch", agent.branch.clone().unwrap_or_default()),
        ("Worktree", agent.location.worktree.display().to_string()),
        ("Model", agent.model.clone().unwrap_or_default()),
        ("Where", place(seen)),
        ("Session", agent.session.to_string()),
    ];
    let known = known.into_iter().filter(|(_, value)| !value.is_empty());
    lines.extend(known.map(|(label, value)| format!("{label:8}  {}", text::one_line(&value, 300))));
    lines
}

fn doing(seen: &AgentView) -> String {
    let doing = activity(seen);
    let unread = match seen.unread {
        0 => return doing,
        n => format!("{n} unread"),
    };
    if doing.is_empty() { unread } else { format!("{doing} · {unread}") }
}

pub(crate) fn activity(seen: &AgentView) -> String {
    match (seen.left, &seen.waiting_for, &seen.activity) {
        (Some(left), ..) => match left.reason {
            LeaveReason::Ended => "session ended",
            LeaveReason::Asked => "left",
            LeaveReason::Died => "process ended",
            LeaveReason::Silent => "not heard from",
            LeaveReason::Replaced => "replaced",
        }
        .to_owned(),
        (None, Some(what), _) => what.clone(),
        (None, None, Some(activity)) => activity.clone(),
        (None, None, None) => String::new(),
    }
}

/// Returns the pane or terminal of an agent, and its place on the screen.
pub(crate) fn place(seen: &AgentView) -> String {
    let terminal = &seen.agent.location.terminal;
    let tty = seen.agent.location.process.tty.as_deref().map(|tty| tty.trim_start_matches("/dev/"));
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
        Status::Away => "away",
        Status::Stuck => "stuck",
        Status::Gone => "gone",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> AgentLine {
        let cells = cells.iter().map(|cell| (*cell).to_owned()).collect();
        AgentLine::new(RowKind::Agent(Status::Idle), cells)
    }

    #[test]
    fn a_table_fits_its_screen_and_keeps_what_matters() {
        let long = "a very long thing that somebody does somewhere";
        let wide = "日本語の長い名前";
        for with_project in [false, true] {
            let header = AgentLine::header(with_project);
            let names = header.cells.clone();
            let cells: Vec<&str> =
                names.iter().map(|name| if name == "DOING" { long } else { wide }).collect();
            let rows = [header, row(&cells)];
            for width in 16..200 {
                let columns = fit(&rows, width);
                let taken: usize = columns.iter().map(|(_, width)| width + 2).sum::<usize>() - 2;
                let shown: Vec<&str> = columns.iter().map(|(column, _)| names[*column].as_str()).collect();
                assert!(taken <= width.max(34), "{taken} of {width}: {shown:?}");
                assert_eq!(shown[..1], ["AGENT"]);
                assert!(shown.contains(&"STATUS"));
            }
        }
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("abc", 2), "a…");
    }
}
