//! Draws the messages: a tab for each agent, with messages as bubbles, and a line to write in.

use consort_core::presence::Status;
use consort_core::text;
use ratatui_core::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::agents;
use super::no_match;
use super::panel_frame;
use super::paper::Canvas;
use super::paper::Span;
use super::paper::cells;
use super::paper::cut;
use super::paper::row;
use super::paper::wrap;
use super::teach;
use super::words;
use crate::ChatTab;
use crate::ClickTarget;
use crate::MessageInfo;
use crate::Model;

/// The greatest width of a bubble, in cells.
const WIDEST: u16 = 76;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let peers = model.agents().iter().filter(|agent| agent.status != Status::Gone && !agent.is_you).count();
    let title = format!("Messages ── you ── {}", text::counted_noun(peers, "peer"));
    let inner = panel_frame(model, paper, area, &title);
    if inner.height < 5 {
        return;
    }
    tabs(model, paper, row(inner, 0));
    let line = "─".repeat(usize::from(inner.width));
    paper.text(inner.x, inner.y + 1, inner.width, &line, paper.theme.dim);
    let body = Rect { y: inner.y + 2, height: inner.height - 4, ..inner };
    match &model.chat {
        ChatTab::Agents => agents::list_agents(model, paper, body),
        tab => bubbles(model, paper, body, &model.chat(tab)),
    }
    paper.text(inner.x, inner.bottom() - 2, inner.width, &line, paper.theme.dim);
    let last = row(inner, inner.height - 1);
    let told = match &model.chat {
        _ if model.input.is_some() => String::new(),
        ChatTab::Agents => "> Enter opens the chat with an agent".to_owned(),
        ChatTab::With(name) => format!("> Enter to write to {name}"),
        ChatTab::All => format!("> Enter to write to all agents of {}", model.project),
    };
    paper.spans(last, &[(told, paper.theme.dim)]);
    let keys = if model.input.is_some() { "[Tab]" } else { "[← →] [Enter]" };
    paper.right(last, keys, paper.theme.dim);
    paper.target(last, ClickTarget::InputLine);
}

/// Draws `▸ Agents │ ● Falcon (3) │ + All`, scrolled so that the open tab is visible.
fn tabs(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let theme = paper.theme;
    let tabs = model.chat_tabs();
    let label = |tab: &ChatTab| -> Vec<Span> {
        let open = if *tab == model.chat { "▸ " } else { "" };
        let style = if *tab == model.chat { theme.bold } else { theme.plain };
        match tab {
            ChatTab::Agents => vec![(format!("{open}Agents"), style)],
            ChatTab::All => vec![(format!("{open}+ All"), style)],
            ChatTab::With(name) => {
                let status = model.agent_named(name).map_or(Status::Gone, |agent| agent.status);
                let unread = match model.unread_from(name) {
                    0 => String::new(),
                    count => format!(" ({count})"),
                };
                vec![
                    (open.to_owned(), style),
                    (format!("{} ", words::status_mark(status)), words::status_style(&theme, status)),
                    (name.clone(), style),
                    (unread, theme.warn),
                ]
            }
        }
    };
    let width = |spans: &[Span]| -> u16 { spans.iter().map(|(text, _)| cells(text)).sum::<u16>() + 3 };
    let at = tabs.iter().position(|tab| *tab == model.chat).unwrap_or(0);
    let labels: Vec<Vec<Span>> = tabs.iter().map(label).collect();
    let mut first = 0;
    while labels[first..=at].iter().map(|spans| width(spans)).sum::<u16>() > area.width && first < at {
        first += 1;
    }
    let mut x = area.x + 1;
    for (tab, spans) in tabs.iter().zip(&labels).skip(first) {
        let from = x;
        x = paper.spans(Rect { x, width: area.right().saturating_sub(x), ..area }, spans);
        paper.target(Rect { x: from, width: x.saturating_sub(from), ..area }, ClickTarget::Chat(tab.clone()));
        if tab != tabs.last().unwrap_or(tab) {
            x = paper.text(x, area.y, area.right().saturating_sub(x), " │ ", theme.dim);
        }
    }
}

/// Draws the messages of a chat, from the last upwards.
fn bubbles(model: &Model, paper: &mut Canvas<'_>, area: Rect, messages: &[&MessageInfo]) {
    if messages.is_empty() && !model.filter.is_empty() {
        no_match(model, paper, area, "message here");
        return;
    }
    if messages.is_empty() {
        let told = match &model.chat {
            ChatTab::All => "Nothing was said to all. Enter or b writes to every agent here.".to_owned(),
            ChatTab::With(name) => format!("You and {name} have not written to each other yet."),
            ChatTab::Agents => String::new(),
        };
        teach(paper, area, &[&told]);
        return;
    }
    let width = area.width.saturating_sub(4).min(WIDEST);
    let (height, mut lines) = (usize::from(area.height), Vec::new());
    // Only the visible messages are laid out, because a chat may be long.
    let mut scroll = model.scroll;
    for message in messages.iter().rev() {
        let bubble = bubble(model, paper, message, width);
        lines.extend(bubble.into_iter().rev());
        if lines.len() > height + scroll {
            break;
        }
    }
    scroll = scroll.min(lines.len().saturating_sub(height));
    let shown = lines.iter().skip(scroll).take(height);
    for (y, (is_mine, spans)) in (area.y..area.bottom()).rev().zip(shown) {
        let x = if *is_mine { area.right().saturating_sub(width + 1) } else { area.x + 1 };
        paper.spans(Rect { x, y, width, height: 1 }, spans);
    }
}

/// Returns the lines of a bubble: `┌─ Falcon ── question #41 ───── 10m ago ─┐`, the text, and the lower edge.
fn bubble(model: &Model, paper: &Canvas<'_>, message: &MessageInfo, width: u16) -> Vec<(bool, Vec<Span>)> {
    let theme = paper.theme;
    let frame = if message.is_unread { theme.warn } else { theme.dim };
    let to = match (message.is_mine, message.is_broadcast()) {
        (true, true) => format!(" to {}", text::first_few(message.to.iter().cloned(), 3)),
        _ => String::new(),
    };
    let who = if message.is_mine { format!("You{to}") } else { message.from.clone() };
    let kind = message.kind.as_ref().map_or_else(String::new, |kind| format!("{kind} "));
    let ago = text::ago(model.now.since(message.at));
    let receipt = message.receipt.as_ref().map_or_else(String::new, |receipt| format!("{receipt} · "));
    let (left, right) = (format!("─ {who} ── {kind}{} ", message.shown()), format!(" {receipt}{ago} ─"));
    let inner = usize::from(width).saturating_sub(2);
    let left = cut(&left, inner.saturating_sub(right.width()));
    let gap = inner.saturating_sub(left.width() + right.width());
    let mut lines = vec![(message.is_mine, vec![(format!("┌{left}{}{right}┐", "─".repeat(gap)), frame)])];
    for line in wrap(message.text.trim_end(), inner.saturating_sub(2)) {
        let space = " ".repeat(inner.saturating_sub(line.width() + 1));
        let parts = vec![("│ ".to_owned(), frame), (line, theme.plain), (format!("{space}│"), frame)];
        lines.push((message.is_mine, parts));
    }
    lines.push((message.is_mine, vec![(format!("└{}┘", "─".repeat(inner)), frame)]));
    lines
}
