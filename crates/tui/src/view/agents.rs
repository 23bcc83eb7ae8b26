//! Draws the panel of agents, by project and spec.

use consort_core::presence::Status;
use consort_core::text;
use ratatui_core::layout::Rect;

use super::detail;
use super::no_match;
use super::panel_frame;
use super::paper::Canvas;
use super::paper::Span;
use super::paper::cells;
use super::paper::fit;
use super::paper::row;
use super::paper::window;
use super::teach;
use super::words;
use crate::AgentInfo;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;
use crate::rows::AgentRow;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    if model.is_detail_open {
        detail::draw(model, paper, area);
        return;
    }
    let list = match model.is_wide() && model.selected_agent().is_some() {
        true => {
            let width = (area.width * 9 / 20).max(56);
            detail::draw(model, paper, Rect { x: area.x + width, width: area.width - width, ..area });
            Rect { width, ..area }
        }
        false => area,
    };
    let title = match model.sort {
        crate::Sort::Attention => "Agents".to_owned(),
        sort => format!("Agents by {}", sort.words()),
    };
    let inner = panel_frame(model, paper, list, &title);
    list_agents(model, paper, inner);
}

/// Draws the list of agents, which is also the first tab of the messages.
pub(super) fn list_agents(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let rows = model.agent_rows();
    if rows.is_empty() {
        nobody(model, paper, area);
        return;
    }
    let selected = model.selected_agent().map(|agent| agent.key.as_str());
    let is_selected =
        |row: &AgentRow<'_>| matches!(row, AgentRow::Agent(agent) if Some(agent.key.as_str()) == selected);
    let at = rows.iter().position(is_selected).unwrap_or(0);
    let names = rows.iter().filter_map(|row| match row {
        AgentRow::Agent(agent) => Some(usize::from(cells(&agent.name)) + if agent.is_you { 6 } else { 0 }),
        _ => None,
    });
    let name_width = names.max().unwrap_or(0).clamp(6, 20);
    let shown = window(rows.len(), at, usize::from(area.height));
    for (y, one) in (0..).zip(&rows[shown]) {
        let line = row(area, y);
        match one {
            AgentRow::Project(project, count) => {
                let style = paper.theme.bold;
                paper.spans(line, &[(format!("{project} "), style), (format!("({count})"), paper.theme.dim)]);
            }
            AgentRow::Spec(spec) => {
                let spec = spec.map_or_else(|| "No spec".to_owned(), |spec| format!("{spec}:"));
                paper.spans(line, &[(format!(" {spec}"), paper.theme.dim)]);
            }
            AgentRow::Agent(agent) => {
                draw_agent(model, paper, line, agent, name_width);
                paper.target(line, ClickTarget::Agent(agent.key.clone()));
                let is_focused = model.focus == FocusedFrame::Main;
                if is_selected(one) && is_focused {
                    paper.select(line);
                }
            }
        }
    }
}

/// Draws `  ● Falcon  working  Edit src/auth.rs   [TASK-02]  +12 −3  $0.12  »2  3m`.
fn draw_agent(model: &Model, paper: &mut Canvas<'_>, line: Rect, agent: &AgentInfo, name_width: usize) {
    let theme = paper.theme;
    let is_muted = model.muted.contains(&agent.key);
    let style = if is_muted { theme.dim } else { words::status_style(&theme, agent.status) };
    let mark = match (agent.seems_stalled(model.now), model.pinned.contains(&agent.key)) {
        (true, _) => "?",
        (false, true) => "*",
        (false, false) if is_muted => "z",
        (false, false) => " ",
    };
    let you = if agent.is_you { " (you)" } else { "" };
    let name_style = if is_muted || agent.status == Status::Gone { theme.dim } else { theme.bold };
    let left: Vec<Span> = vec![
        (format!(" {mark}{} ", words::status_mark(agent.status)), style),
        (fit(&format!("{}{you}", agent.name), name_width), name_style),
        (format!(" {} ", fit(words::status_word(agent.status), 7)), style),
    ];
    let right = right_side(model, agent, line.width);
    let right_width = cells(&right);
    let x = paper.spans(line, &left);
    let space = line.right().saturating_sub(x + right_width + 1);
    let doing = match agent.seems_stalled(model.now) {
        true => {
            let quiet = text::age(model.now.since(agent.last_active));
            format!("no tool for {quiet} · {}", agent.doing)
        }
        false => agent.doing.clone(),
    };
    let style = if agent.seems_stalled(model.now) { theme.warn } else { theme.plain };
    paper.text(x, line.y, space, &text::one_line(&doing, 300), style);
    paper.right(line, &right, if is_muted { theme.dim } else { theme.plain });
    // The task and the subagents are shown only if the agent's activity leaves room.
    let used = cells(&doing).min(space);
    let more = [agent.task.clone().map(|task| format!("[{task}]")), subagents(agent)];
    let more: Vec<String> = more.into_iter().flatten().collect();
    let more = more.join(" ");
    if !more.is_empty() && used + cells(&more) + 2 <= space {
        let x = x + space - cells(&more);
        paper.text(x, line.y, cells(&more), &more, theme.accent);
    }
}

fn subagents(agent: &AgentInfo) -> Option<String> {
    (!agent.subagents.is_empty()).then(|| format!("└{}", agent.subagents.len()))
}

/// Returns the text at the right edge, with as many facts as the width allows.
fn right_side(model: &Model, agent: &AgentInfo, width: u16) -> String {
    let mut parts = Vec::new();
    if width >= 100 {
        parts.push(fit(&agent.cli, 8));
    }
    if let Some(machine) = &agent.machine {
        parts.push(format!("@{machine}"));
    }
    if let Some((added, removed)) = agent.lines.filter(|(added, removed)| added + removed > 0 && width >= 50)
    {
        parts.push(format!("+{added} −{removed}"));
    }
    if let Some(cost) = agent.cost.filter(|_| width >= 60) {
        parts.push(words::money(cost));
    }
    if agent.unread > 0 {
        parts.push(format!("»{}", agent.unread));
    }
    parts.push(format!("{:>4} ", text::age(model.now.since(agent.last_active))));
    parts.join(" ")
}

/// Explains an empty list: not loaded, nothing matches, or how to start an agent.
fn nobody(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    if !model.is_loaded {
        teach(paper, area, &["…"]);
        return;
    }
    if !model.filter.is_empty() {
        no_match(model, paper, area, "agent");
        return;
    }
    let elsewhere = model.data.agents.iter().any(|agent| agent.status != Status::Gone);
    let mut lines = vec!["No agents are here."];
    if elsewhere && model.scope.is_some() {
        lines.push("Press p to see those of your other projects.");
    }
    lines.extend(["", model.hint.as_str(), "", "n opens one from here; ? shows all keys."]);
    teach(paper, area, &lines);
}
