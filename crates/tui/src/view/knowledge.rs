//! Draws the results of a search or query in the project's knowledge.

use ratatui_core::layout::Rect;

use super::panel_frame;
use super::paper::Canvas;
use super::paper::row;
use super::paper::window;
use super::teach;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let (asked, lines) = &model.data.found;
    let title = if asked.is_empty() { "Knowledge".to_owned() } else { format!("Knowledge: {asked}") };
    let inner = panel_frame(model, paper, area, &title);
    if asked.is_empty() {
        teach(
            paper,
            inner,
            &[
                "What agents have learned of this project.",
                "",
                "Enter, then words to search for: cookie session",
                "or an expression: (get-principles)  (overview)",
            ],
        );
        return;
    }
    let theme = paper.theme;
    for (y, at) in (0..).zip(window(lines.len(), model.row(), usize::from(inner.height))) {
        let line = row(inner, y);
        paper.spans(line, &[(format!(" {}", lines[at]), theme.plain)]);
        paper.target(line, ClickTarget::Row(at));
        if at == model.row() && model.focus == FocusedFrame::Main {
            paper.select(line);
        }
    }
}
