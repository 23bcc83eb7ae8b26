//! Draws every setting with its value, its tier and the source of the value.

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
    let settings = model.settings();
    let inner = panel_frame(model, paper, area, "Settings");
    if settings.is_empty() {
        teach(paper, inner, &["No setting matches."]);
        return;
    }
    let theme = paper.theme;
    let list = Rect { height: inner.height.saturating_sub(2), ..inner };
    let widest = settings.iter().map(|one| one.key.len()).max().unwrap_or(0).min(34);
    for (y, at) in (0..).zip(window(settings.len(), model.row(), usize::from(list.height))) {
        let (one, line) = (settings[at], row(list, y));
        let is_default = one.tier == "default";
        let spans = [
            (format!(" {} ", fit(&one.key, widest)), theme.plain),
            (format!("{} ", fit(&one.value, 22)), if is_default { theme.dim } else { theme.bold }),
            (format!("{} ", fit(&one.tier, 12)), if is_default { theme.dim } else { theme.accent }),
            (if is_default { one.about.clone() } else { one.source.clone() }, theme.dim),
        ];
        paper.spans(line, &spans);
        paper.target(line, ClickTarget::Row(at));
        if at == model.row() && model.focus == FocusedFrame::Main {
            paper.select(line);
        }
    }
    if let Some(one) = settings.get(model.row()).filter(|_| inner.height > 4) {
        let line = row(inner, inner.height - 1);
        paper.spans(line, &[(format!(" {}", one.about), theme.plain)]);
    }
}
