//! Draws the radar: the pairs of agents that are likely to collide, and the topics that each agent heads for.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::panel_frame;
use super::paper::Canvas;
use super::paper::fit;
use super::paper::row;
use super::paper::window;
use super::teach;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let pairs = u16::try_from(model.data.pairs.len()).unwrap_or(u16::MAX);
    let height = pairs.saturating_add(2).clamp(4, (area.height / 2).max(4)).min(area.height);
    let inner = panel_frame(model, paper, Rect { height, ..area }, "Likely to collide");
    if model.data.pairs.is_empty() {
        teach(paper, inner, &["Nobody is near anybody else."]);
    }
    let theme = paper.theme;
    for (y, at) in (0..).zip(window(model.data.pairs.len(), model.row(), usize::from(inner.height))) {
        let pair = &model.data.pairs[at];
        let line = row(inner, y);
        let number = pair.number.map_or_else(String::new, |number| format!("#{number} "));
        let style = if pair.number.is_some() { theme.warn } else { theme.plain };
        let spans = [
            (format!(" {} ", bar(pair.confidence)), style),
            (format!("{} ≍ {}  ", pair.one, pair.other), theme.bold),
            (format!("{number}{}, {}  ", pair.kind, pair.trend), theme.dim),
            (text::first_few(pair.about.iter().cloned(), 6), theme.plain),
        ];
        paper.spans(line, &spans);
        paper.target(line, ClickTarget::Row(at));
        if at == model.row() && model.focus == FocusedFrame::Main {
            paper.select(line);
        }
    }
    let rest = Rect { y: area.y + height, height: area.height - height, ..area };
    let inner = paper.frame(rest, "Where they head", false);
    if model.data.headings.is_empty() {
        teach(paper, inner, &["Nothing is known of where agents head: it shows with their prompts."]);
    }
    for (y, heading) in (0..inner.height).zip(&model.data.headings) {
        let line = row(inner, y);
        let mut spans = vec![(format!(" {} ", fit(&heading.name, 16)), theme.bold)];
        for (mark, topics, style) in [
            ("▲ ", &heading.deepening, theme.good),
            ("+ ", &heading.emerging, theme.accent),
            ("= ", &heading.stable, theme.plain),
            ("▽ ", &heading.fading, theme.dim),
        ] {
            if !topics.is_empty() {
                spans.push((format!("{mark}{}  ", text::first_few(topics.iter().cloned(), 4)), style));
            }
        }
        paper.spans(line, &spans);
    }
    if inner.height > 2 && !model.data.headings.is_empty() {
        let line = row(inner, inner.height - 1);
        paper.right(line, " ▲ deepening  + new  = steady  ▽ fading ", theme.dim);
    }
}

/// Returns a confidence as a bar: `▮▮▮▯▯ 0.62`.
fn bar(confidence: f64) -> String {
    let full = (confidence.clamp(0.0, 1.0) * 5.0).round() as usize;
    format!("{}{} {confidence:.2}", "▮".repeat(full), "▯".repeat(5 - full))
}
