//! Draws the bottom of the screen: the input line, a notice, or the keys that are useful here.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::hints;
use super::paper::Canvas;
use super::paper::cells;
use super::paper::row;
use super::paper::wrap;
use crate::Input;
use crate::InputPurpose;
use crate::Model;
use crate::WeakeningChange;
use crate::data::shown_number;

/// The most lines of a message that are shown while it is written.
const MOST_LINES: usize = 6;

/// The most lines of the label above the input line, which may contain a long path.
const MOST_LABEL_LINES: usize = 6;

/// The lines that stay at the end of a label that is too long: they say for how long, or what is less protected.
const LAST_LABEL_LINES: usize = 3;

/// Returns the number of lines that the bottom takes.
pub(super) fn height(model: &Model, width: u16) -> u16 {
    match (&model.input, &model.toast) {
        (Some(input), _) => {
            let lines = typed(input, width).len().clamp(1, MOST_LINES);
            u16::try_from(lines + label(model, input, width).len()).unwrap_or(2)
        }
        (None, Some(toast)) if toast.is_error => {
            u16::try_from(wrap(&toast.text, usize::from(width)).len().clamp(1, 3)).unwrap_or(1)
        }
        (None, _) => 1,
    }
}

/// Returns the lines of the label above the input line, which says what to type. A label that is too long is cut
/// in the middle.
fn label(model: &Model, input: &Input, width: u16) -> Vec<String> {
    let text = asked_for(model, input);
    let mut lines = if text.is_empty() { Vec::new() } else { wrap(&text, usize::from(width)) };
    if lines.len() > MOST_LABEL_LINES {
        let cut = MOST_LABEL_LINES - LAST_LABEL_LINES - 1..lines.len() - LAST_LABEL_LINES;
        lines.splice(cut, ["…".to_owned()]);
    }
    lines
}

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let theme = paper.theme;
    let toast_style = |is_error: bool| if is_error { theme.bad } else { theme.accent };
    if let Some(input) = &model.input {
        // The notice goes above the input line, so that nothing moves.
        if let Some(toast) = model.toast.as_ref().filter(|_| area.y > 0) {
            let above = Rect { y: area.y - 1, height: 1, ..area };
            let text = format!(" {} ", text::one_line(&toast.text, 300));
            paper.spans(above, &[(text, toast_style(toast.is_error))]);
        }
        draw_input(model, paper, area, input);
        return;
    }
    if let Some(toast) = &model.toast {
        let style = toast_style(toast.is_error);
        for (y, line) in (0..area.height).zip(wrap(&toast.text, usize::from(area.width))) {
            paper.spans(row(area, y), &[(line, style)]);
        }
        return;
    }
    let always = "? help  q quit";
    paper.right(area, always, paper.theme.accent);
    let mut x = area.x;
    for (key, about) in hints(model) {
        let width = cells(key) + cells(about) + 3;
        if x + width > area.right().saturating_sub(cells(always)) {
            break;
        }
        x = paper.text(x, area.y, width, key, paper.theme.accent);
        x = paper.text(x, area.y, width, &format!(" {about}  "), paper.theme.plain);
    }
}

fn asked_for(model: &Model, input: &Input) -> String {
    match &input.purpose {
        InputPurpose::Answer { item, given } => {
            let Some(item) = model.data.queue.iter().find(|one| one.key == *item) else {
                return String::new();
            };
            let options = crate::update::options(item, given);
            let digits = match options.len() {
                0 => String::new(),
                1 => "1 chooses, or type ".to_owned(),
                count => format!("1–{count} chooses, or type "),
            };
            let text = match item.kind {
                crate::ItemKind::Permission | crate::ItemKind::Plan => "deny and why",
                crate::ItemKind::Question | crate::ItemKind::Mail => "an answer",
                _ => "one of these words",
            };
            format!("Answer {}: {digits}{text}. Esc leaves it.", item.agent)
        }
        InputPurpose::Word { confirmed, word } => {
            let what = match confirmed {
                WeakeningChange::Override { path, .. } => format!("let everyone write {path} for 10 minutes"),
                WeakeningChange::Release { path, .. } => format!("take {path} away from its holder"),
                WeakeningChange::Set { key, value: Some(value) } => {
                    format!("set {key} to {value}, which protects less")
                }
                WeakeningChange::Set { key, value: None } => format!("unset {key}, which protects less"),
            };
            format!("Type {word} to {what}. Esc leaves it.")
        }
        InputPurpose::Message(name) => {
            format!("To {name}  (Enter sends, Ctrl+J breaks the line, Esc leaves)")
        }
        InputPurpose::Reply { to, called } => {
            format!("Reply to {} of {to}  (Enter sends)", shown_number(called))
        }
        InputPurpose::Broadcast => format!("To all agents of {}  (Enter sends)", model.project),
        InputPurpose::Run => "What is to be done, without a terminal?  (Enter starts it)".to_owned(),
        InputPurpose::Open(cli) => format!("First prompt for {cli}, or nothing  (Enter opens it)"),
        InputPurpose::Set { key, now } => {
            format!("New value of {key}, now {now}  (Enter sets it, Tab edits the old one)")
        }
        InputPurpose::Ask => "Words to search for, or an expression: (overview)".to_owned(),
        InputPurpose::Filter | InputPurpose::Command => String::new(),
    }
}

fn prompt(purpose: &InputPurpose) -> &'static str {
    match purpose {
        InputPurpose::Filter => "/",
        InputPurpose::Command => ":",
        _ => "> ",
    }
}

fn placeholder(purpose: &InputPurpose) -> &'static str {
    match purpose {
        InputPurpose::Filter => "only what contains this",
        InputPurpose::Command => "who, holds list, know search retry: any consort command",
        InputPurpose::Message(_) | InputPurpose::Reply { .. } | InputPurpose::Broadcast => "Type a message",
        _ => "",
    }
}

fn typed(input: &Input, width: u16) -> Vec<String> {
    let width = usize::from(width.saturating_sub(3)).max(4);
    // Lines are broken by cells, not between words, so that the cursor's place is found by counting.
    let mut lines = Vec::new();
    for line in input.line.text().split('\n') {
        let mut part = String::new();
        for c in line.chars() {
            if usize::from(cells(&part)) + 2 > width {
                lines.push(std::mem::take(&mut part));
            }
            part.push(c);
        }
        lines.push(part);
    }
    lines
}

fn draw_input(model: &Model, paper: &mut Canvas<'_>, area: Rect, input: &Input) {
    let theme = paper.theme;
    let style = if matches!(input.purpose, InputPurpose::Word { .. }) { theme.warn } else { theme.accent };
    let mut top = 0;
    for line in label(model, input, area.width) {
        paper.spans(row(area, top), &[(line, style)]);
        top += 1;
    }
    let prompt = prompt(&input.purpose);
    let lines = typed(input, area.width);
    let shown = usize::from(area.height.saturating_sub(top)).max(1);
    let first = lines.len().saturating_sub(shown);
    for (y, line) in (top..area.height).zip(&lines[first..]) {
        let at = row(area, y);
        let before = if y == top && first == 0 { prompt } else { "  " };
        let x = paper.spans(at, &[(before.to_owned(), theme.bold), (line.clone(), theme.plain)]);
        if input.line.is_empty() {
            let hint = placeholder(&input.purpose);
            paper.text(x + 1, at.y, at.right().saturating_sub(x + 1), hint, theme.dim);
        }
    }
    // In a single line the cursor is shown at its place, in several lines at their end.
    let last = lines.last().map_or(0, |line| cells(line));
    let is_single = lines.len() == 1;
    let column = if is_single { u16::try_from(input.line.cursor_column()).unwrap_or(last) } else { last };
    let y = area.y + top + u16::try_from(lines.len() - 1 - first).unwrap_or(0);
    let x = area.x + cells(if is_single { prompt } else { "  " }) + column;
    paper.cursor = Some((x.min(area.right().saturating_sub(1)), y.min(area.bottom().saturating_sub(1))));
}
