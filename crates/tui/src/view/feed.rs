//! Draws the feed of journal entries, newest first.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::panel_frame;
use super::paper::Canvas;
use super::paper::row;
use super::teach;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let of = model.feed_of.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    let title = match model.filter.as_str() {
        "" => format!("Feed{of}"),
        filter => format!("Feed{of}: /{filter}"),
    };
    let inner = panel_frame(model, paper, area, &title);
    let height = usize::from(inner.height);
    // Only the shown lines are collected, not all ten thousand.
    let first = model.row().saturating_sub(height / 2);
    let shown: Vec<_> = model.feed().skip(first).take(height).collect();
    if shown.is_empty() {
        teach(
            paper,
            inner,
            &[if model.filter.is_empty() { "Nothing has happened yet." } else { "Nothing matches." }],
        );
        return;
    }
    let theme = paper.theme;
    for (y, (at, entry)) in (0..).zip((first..).zip(shown)) {
        let line = row(inner, y);
        let age = text::age(model.now.since(entry.at));
        paper.spans(line, &[(format!(" {age:>4}  "), theme.dim), (entry.text.clone(), theme.plain)]);
        paper.target(line, ClickTarget::Row(at));
        if at == model.row() && model.focus == FocusedFrame::Main {
            paper.select(line);
        }
    }
}
