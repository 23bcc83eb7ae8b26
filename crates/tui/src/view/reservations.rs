//! Draws the reservations as a tree of paths.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::no_match;
use super::panel_frame;
use super::paper::Canvas;
use super::paper::Span;
use super::paper::fit;
use super::paper::row;
use super::paper::window;
use super::teach;
use super::words;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;
use crate::ReservationInfo;
use crate::rows::PathRow;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let rows = model.path_rows();
    let inner = panel_frame(model, paper, area, "Reserved");
    if rows.is_empty() && !model.filter.is_empty() {
        no_match(model, paper, inner, "reservation");
        return;
    }
    if rows.is_empty() {
        teach(
            paper,
            inner,
            &[
                "Nothing is reserved.",
                "",
                "Agents reserve what they work on: `consort reserve src/auth/`.",
                "You can too: `:reserve src/auth/ --reason 'the release'`.",
            ],
        );
        return;
    }
    // Only rows of reservations can be selected, so they are counted without the directories.
    let mut index = 0;
    let indices: Vec<Option<usize>> = rows
        .iter()
        .map(|row| match row {
            PathRow::Directory { .. } => None,
            PathRow::Held { .. } => {
                index += 1;
                Some(index - 1)
            }
        })
        .collect();
    let selected = indices.iter().position(|at| *at == Some(model.row())).unwrap_or(0);
    for (y, shown) in (0..).zip(window(rows.len(), selected, usize::from(inner.height))) {
        let line = row(inner, y);
        match &rows[shown] {
            PathRow::Directory { name, depth } => {
                let text = format!(" {}{name}", "  ".repeat(*depth));
                paper.spans(line, &[(text, paper.theme.dim)]);
            }
            PathRow::Held { name, depth, reservation } => {
                held(model, paper, line, &format!(" {}{name}", "  ".repeat(*depth)), reservation);
                if let Some(at) = indices[shown] {
                    paper.target(line, ClickTarget::Row(at));
                    if at == model.row() && model.focus == FocusedFrame::Main {
                        paper.select(line);
                    }
                }
            }
        }
    }
}

fn held(model: &Model, paper: &mut Canvas<'_>, line: Rect, name: &str, one: &ReservationInfo) {
    let theme = paper.theme;
    let kind = match one {
        ReservationInfo { is_overridden: true, .. } => "open to everyone",
        one if model.find_override(one).is_some() => "open to everyone for now",
        ReservationInfo { is_enforced: true, is_shared: true, .. } => "shared",
        ReservationInfo { is_enforced: true, .. } => "enforced",
        _ => "advisory",
    };
    let mut spans: Vec<Span> = vec![
        (fit(name, usize::from(line.width / 3).max(18)), theme.bold),
        (format!(" {}", one.holder), theme.accent),
        (format!("  {kind}  "), if model.find_override(one).is_some() { theme.warn } else { theme.dim }),
    ];
    if let Some((who, until, reason)) = &one.contest {
        let left = words::took(until.since(model.now));
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        spans.push((format!("⇄ {who} wants it, {left} left{reason}  "), theme.warn));
    }
    spans.extend(one.reason.as_ref().map(|reason| (reason.clone(), theme.plain)));
    paper.spans(line, &spans);
    let left = one.until.map(|until| format!(", {} left", text::age(until.since(model.now).max(0))));
    let when = format!(" {}{} ", text::age(model.now.since(one.since)), left.unwrap_or_default());
    paper.right(line, &when, theme.dim);
}
