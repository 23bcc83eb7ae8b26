//! The buffer of cells that panels are drawn into, with functions for texts, frames, rows and wrapping.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use unicode_width::UnicodeWidthChar as _;
use unicode_width::UnicodeWidthStr as _;

use super::theme::Theme;
use crate::ClickTarget;

/// A text in a style.
pub(crate) type Span = (String, Style);

/// The screen while it is drawn: its cells, clickable areas and cursor.
pub(crate) struct Canvas<'a> {
    pub(crate) buffer: &'a mut Buffer,
    pub(crate) theme: Theme,
    pub(crate) targets: Vec<(Rect, ClickTarget)>,
    pub(crate) cursor: Option<(u16, u16)>,
}

impl Canvas<'_> {
    /// Writes as much of a text as fits, and returns the column after it.
    pub(crate) fn text(&mut self, x: u16, y: u16, width: u16, text: &str, style: Style) -> u16 {
        let area = self.buffer.area;
        if y >= area.bottom() || x >= area.right() || width == 0 {
            return x;
        }
        let text = cut(text, usize::from(width));
        self.buffer.set_stringn(x, y, &text, usize::from(width.min(area.right() - x)), style).0
    }

    /// Writes several texts one after the other, and returns the column after them.
    pub(crate) fn spans(&mut self, area: Rect, spans: &[Span]) -> u16 {
        let mut x = area.x;
        for (text, style) in spans {
            x = self.text(x, area.y, area.right().saturating_sub(x), text, *style);
        }
        x
    }

    /// Writes a text that ends at the right edge.
    pub(crate) fn right(&mut self, area: Rect, text: &str, style: Style) {
        let width = cells(text).min(area.width);
        self.text(area.right() - width, area.y, width, text, style);
    }

    /// Marks an area as selected, from edge to edge.
    pub(crate) fn select(&mut self, area: Rect) {
        let style = self.theme.selected;
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Draws a frame with a title, and returns the area inside.
    pub(crate) fn frame(&mut self, area: Rect, title: &str, is_focused: bool) -> Rect {
        if area.width < 2 || area.height < 2 {
            return Rect { width: 0, height: 0, ..area };
        }
        let style = if is_focused { self.theme.accent } else { self.theme.dim };
        let line = "─".repeat(usize::from(area.width) - 2);
        self.text(area.x, area.y, area.width, &format!("╭{line}╮"), style);
        self.text(area.x, area.bottom() - 1, area.width, &format!("╰{line}╯"), style);
        for y in area.y + 1..area.bottom() - 1 {
            self.text(area.x, y, 1, "│", style);
            self.text(area.right() - 1, y, 1, "│", style);
        }
        if !title.is_empty() {
            let title = format!(" {title} ");
            self.text(area.x + 2, area.y, area.width.saturating_sub(4), &title, self.theme.bold);
        }
        Rect { x: area.x + 1, y: area.y + 1, width: area.width - 2, height: area.height - 2 }
    }

    /// Clears an area.
    pub(crate) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buffer.cell_mut((x, y)) {
                    cell.reset();
                }
            }
        }
    }

    pub(crate) fn target(&mut self, area: Rect, target: ClickTarget) {
        self.targets.push((area, target));
    }

    /// Draws lines of text from the line `scroll`, and returns that number, limited to the end of the text.
    pub(crate) fn lines(&mut self, area: Rect, lines: &[Span], scroll: usize) -> usize {
        let height = usize::from(area.height);
        let scroll = scroll.min(lines.len().saturating_sub(height));
        for (y, (line, style)) in (area.y..area.bottom()).zip(&lines[scroll..]) {
            self.text(area.x, y, area.width, line, *style);
        }
        if lines.len() > height && area.width > 12 {
            let shown = format!(" {}–{}/{} ", scroll + 1, (scroll + height).min(lines.len()), lines.len());
            let at = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
            self.right(at, &shown, self.theme.dim);
        }
        scroll
    }
}

/// Returns one row of an area.
pub(crate) fn row(area: Rect, y: u16) -> Rect {
    Rect { x: area.x, y: area.y + y, width: area.width, height: 1 }
}

/// Returns the number of terminal cells that a text takes.
pub(crate) fn cells(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// Cuts a text to at most `width` cells, with `…` at the end if something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text: String =
        text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !c.is_control()).collect();
    if text.width() <= width {
        return text;
    }
    let mut shown = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide + 1 > width {
            break;
        }
        taken += wide;
        shown.push(c);
    }
    if width > 0 {
        shown.push('…');
    }
    shown
}

/// Makes a text exactly `width` cells wide: cuts it, or fills it up with spaces.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let mut text = cut(text, width);
    let missing = width.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// Wraps a text into lines of at most `width` cells, between words if possible.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(4);
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let mut word: String = word.chars().map(|c| if c == '\t' { ' ' } else { c }).collect();
            if !line.is_empty() && line.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut line));
            }
            while word.width() > width {
                let mut taken = 0;
                let end = word
                    .char_indices()
                    .find(|(_, c)| {
                        taken += c.width().unwrap_or(0);
                        taken > width
                    })
                    .map_or(word.len(), |(at, _)| at);
                let rest = word.split_off(end);
                lines.push(std::mem::replace(&mut word, rest));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        lines.push(line);
    }
    lines
}

/// Returns the range of rows to show, so that the selected row is among them, in the middle if possible.
pub(crate) fn window(count: usize, selected: usize, height: usize) -> std::ops::Range<usize> {
    let first = selected.saturating_sub(height / 2).min(count.saturating_sub(height));
    first..(first + height).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_and_cut_by_cells() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("日本語日本語", 4), ["日本", "語日", "本語"]);
        assert_eq!(wrap("a\nb", 9), ["a", "b"]);
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("a\x1b[31mb", 9), "a[31mb", "no escape reaches the terminal");
        assert_eq!(fit("ab", 4), "ab  ");
    }

    #[test]
    fn the_selected_row_is_in_the_window() {
        for count in 0..30 {
            for selected in 0..count {
                for height in 1..12 {
                    let shown = window(count, selected, height);
                    assert!(shown.contains(&selected) && shown.end <= count && shown.len() <= height);
                }
            }
        }
    }
}
