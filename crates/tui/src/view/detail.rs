//! Draws the detail about one agent, in tabs.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::panel_frame;
use super::paper::Canvas;
use super::paper::Span;
use super::paper::row;
use super::paper::wrap;
use super::teach;
use super::words;
use crate::AgentInfo;
use crate::ClickTarget;
use crate::DetailTab;
use crate::Model;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let Some(agent) = model.selected_agent() else {
        panel_frame(model, paper, area, "");
        return;
    };
    let cli =
        agent.model.as_ref().map_or_else(|| agent.cli.clone(), |model| format!("{} {model}", agent.cli));
    let inner = paper.frame(area, &format!("{} ({cli})", agent.name), model.is_detail_open);
    if inner.height < 4 {
        return;
    }
    paper.spans(row(inner, 0), &about(model, paper, agent));
    tabs(model, paper, row(inner, 1));
    let body = Rect { y: inner.y + 2, height: inner.height - 2, ..inner };
    paper.target(body, ClickTarget::Detail);
    let detail = &model.data.detail;
    if detail.agent != agent.key || detail.tab != model.tab.index() {
        teach(paper, body, &["…"]);
        return;
    }
    if detail.lines.is_empty() {
        let told = match model.tab {
            DetailTab::Pane if agent.has_pane => "Its pane shows nothing.",
            tab => nothing(tab),
        };
        teach(paper, body, &[told]);
        return;
    }
    let lines = styled(model.tab, &detail.lines, paper, body.width);
    match model.tab {
        // A pane is scrolled from its end.
        DetailTab::Pane => {
            let height = usize::from(body.height);
            let from_end = lines.len().saturating_sub(height).saturating_sub(model.scroll);
            paper.lines(body, &lines, from_end);
        }
        _ => {
            paper.lines(body, &lines, model.scroll);
        }
    }
}

/// Returns `● working · 40s ago · feat/login · TASK-02: why · +12 −3`.
fn about(model: &Model, paper: &Canvas<'_>, agent: &AgentInfo) -> Vec<Span> {
    let theme = paper.theme;
    let status = format!("{} {}", words::status_mark(agent.status), words::status_word(agent.status));
    let mut parts = vec![text::ago(model.now.since(agent.last_active))];
    parts.extend(agent.branch.clone());
    parts.extend(agent.task.as_ref().map(|task| match &agent.task_why {
        Some(why) => format!("{task}: {why}"),
        None => task.clone(),
    }));
    let changed = agent.lines.filter(|(added, removed)| added + removed > 0);
    parts.extend(changed.map(|(added, removed)| format!("+{added} −{removed}")));
    parts.extend(agent.cost.map(words::money));
    parts.extend(Some(agent.place.clone()).filter(|place| !place.is_empty()));
    vec![
        (status, words::status_style(&theme, agent.status)),
        (format!(" · {}", parts.join(" · ")), theme.plain),
    ]
}

fn tabs(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let theme = paper.theme;
    let mut x = area.x;
    for tab in DetailTab::ALL {
        let style = if tab == model.tab { theme.selected } else { theme.dim };
        let from = x;
        x = paper.text(x, area.y, area.right().saturating_sub(x), &format!(" {} ", tab.title()), style);
        paper.target(Rect { x: from, width: x - from, ..area }, ClickTarget::DetailTab(tab));
    }
}

/// Gives lines the style of their kind, and wraps them except in panes and diffs.
fn styled(tab: DetailTab, lines: &[String], paper: &Canvas<'_>, width: u16) -> Vec<Span> {
    let theme = paper.theme;
    let style = |line: &str| match tab {
        DetailTab::Diff => match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => theme.bold,
            [b'+', ..] => theme.good,
            [b'-', ..] => theme.bad,
            [b'@', ..] => theme.accent,
            [b'd', b'i', b'f', b'f', ..] => theme.bold,
            _ => theme.plain,
        },
        DetailTab::Pane => theme.plain,
        _ if line.starts_with("  ") => theme.plain,
        _ => theme.bold,
    };
    let is_wrapped = !matches!(tab, DetailTab::Pane | DetailTab::Diff);
    let mut all = Vec::new();
    for line in lines {
        match is_wrapped {
            true => {
                let indent = line.len() - line.trim_start().len();
                let wide = usize::from(width).saturating_sub(indent + 1);
                for part in wrap(line.trim_start(), wide) {
                    all.push((format!("{}{part}", " ".repeat(indent)), style(line)));
                }
            }
            false => all.push((line.clone(), style(line))),
        }
    }
    all
}

fn nothing(tab: DetailTab) -> &'static str {
    match tab {
        DetailTab::Activity => "Nothing is known of what it has done.",
        DetailTab::Pane => "It runs in no pane that Consort can see.",
        DetailTab::Messages => "No messages. m writes one.",
        DetailTab::Diff => "Nothing differs from its last commit.",
        DetailTab::Work => "It has reserved nothing, and has no task.",
        DetailTab::Run => "It was not started by `consort run`. n starts a run.",
        DetailTab::Handoff => "Nothing to hand over.",
    }
}
