//! Draws the windows over the panels: help, pages, questions, lists to choose from.

use ratatui_core::layout::Rect;

use super::paper::Canvas;
use super::paper::Span;
use super::paper::cells;
use super::paper::fit;
use super::paper::row;
use super::paper::wrap;
use crate::ClickTarget;
use crate::Model;
use crate::Overlay;
use crate::keys::KEYS;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, screen: Rect) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help { scroll }) => help(paper, screen, *scroll),
        Some(Overlay::Page { title, lines, scroll }) => page(paper, screen, title, lines, *scroll),
        Some(Overlay::Confirm { what, .. }) => confirm(paper, screen, what),
        Some(Overlay::Choose { title, options, at }) => {
            let labels: Vec<&str> = options.iter().map(|(label, _)| label.as_str()).collect();
            choose(paper, screen, title, &labels, *at);
        }
    }
}

/// Clears and frames an area in the middle of the screen, and returns the area inside.
fn sheet(paper: &mut Canvas<'_>, screen: Rect, width: u16, height: u16, title: &str) -> Rect {
    let (width, height) =
        (width.min(screen.width.saturating_sub(2)), height.min(screen.height.saturating_sub(2)));
    let x = screen.x + (screen.width - width) / 2;
    let y = screen.y + (screen.height - height) / 2;
    let area = Rect { x, y, width, height };
    paper.clear(area);
    // The panels below take no clicks.
    paper.target(screen, ClickTarget::Detail);
    paper.frame(area, title, true)
}

fn help(paper: &mut Canvas<'_>, screen: Rect, scroll: usize) {
    let theme = paper.theme;
    let mut lines: Vec<Span> =
        KEYS.iter().map(|row| (format!(" {} {}", fit(row.shown, 10), row.about), theme.plain)).collect();
    lines.extend(
        [
            "",
            " Letters act only while nothing is typed: Esc leaves an input line.",
            " The mouse works too: click to select, click again to open, the wheel scrolls.",
            " Marks: ◆ waits for you  ● works  ○ idle  ▲ stuck  ? no tool for 10 min",
            "        ◌ away: idle, and nobody looks at its terminal",
            "        * pinned  z muted  »3 three messages that it has not read",
            " Answer: . goes to what needs you, a opens the answer, then a digit or a text.",
            " Whatever you do here is a consort command: `:` runs any of them.",
        ]
        .map(|line| (line.to_owned(), theme.dim)),
    );
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let inner = sheet(paper, screen, 96, height, "Keys (↑ ↓ scroll, Esc closes)");
    paper.lines(inner, &lines, scroll);
}

fn page(paper: &mut Canvas<'_>, screen: Rect, title: &str, lines: &[String], scroll: usize) {
    let theme = paper.theme;
    let widest = lines.iter().map(|line| cells(line)).max().unwrap_or(0).saturating_add(4);
    let width = widest.max(cells(title) + 6).clamp(40, screen.width.saturating_sub(2).max(40));
    let inside = usize::from(width.saturating_sub(4));
    let wrapped: Vec<Span> = lines
        .iter()
        .flat_map(|line| wrap(line, inside))
        .map(|line| (format!(" {line}"), theme.plain))
        .collect();
    let height = u16::try_from(wrapped.len() + 2).unwrap_or(u16::MAX);
    let inner = sheet(paper, screen, width, height, title);
    paper.lines(inner, &wrapped, scroll);
}

fn confirm(paper: &mut Canvas<'_>, screen: Rect, what: &str) {
    let lines = wrap(what, 56);
    let height = u16::try_from(lines.len() + 4).unwrap_or(6);
    let inner = sheet(paper, screen, 62, height, "");
    let theme = paper.theme;
    for (y, line) in (0..inner.height).zip(lines) {
        paper.spans(row(inner, y), &[(format!("  {line}"), theme.bold)]);
    }
    if inner.height > 0 {
        let last = row(inner, inner.height - 1);
        paper.spans(last, &[("  y yes   n no".into(), theme.accent)]);
    }
}

fn choose(paper: &mut Canvas<'_>, screen: Rect, title: &str, labels: &[&str], at: usize) {
    let widest = labels.iter().map(|label| cells(label)).max().unwrap_or(0).max(cells(title)) + 10;
    let height = u16::try_from(labels.len() + 2).unwrap_or(u16::MAX);
    let inner = sheet(paper, screen, widest.max(40), height, title);
    let shown = super::paper::window(labels.len(), at, usize::from(inner.height));
    for (y, index) in (0..).zip(shown) {
        let line = row(inner, y);
        let digit = if index < 9 { format!("{}", index + 1) } else { " ".to_owned() };
        let spans =
            [(format!("  {digit} "), paper.theme.accent), (labels[index].to_owned(), paper.theme.plain)];
        paper.spans(line, &spans);
        paper.target(line, ClickTarget::Choice(index));
        if index == at {
            paper.select(line);
        }
    }
}
