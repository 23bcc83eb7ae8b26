//! Draws the queue of items that need the person, at the top, with the selected item's question and options.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::paper::Canvas;
use super::paper::Span;
use super::paper::fit;
use super::paper::row;
use super::paper::window;
use super::paper::wrap;
use crate::About;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::InputPurpose;
use crate::Item;
use crate::ItemKind;
use crate::Model;

/// The margin before each line of a question.
const MARGIN: &str = "   │ ";

/// The most items that are listed together with the selected item's question.
const LISTED: usize = 5;

/// Returns the number of lines that the queue takes.
pub(super) fn height(model: &Model, area: Rect) -> u16 {
    let queue = model.queue();
    let Some(item) = model.selected_item() else { return 0 };
    let most = usize::from(area.height) / if model.focus == FocusedFrame::Queue { 2 } else { 3 };
    let listed = queue.len().min(LISTED);
    let wanted = listed
        + body(model, item, usize::from(area.width).saturating_sub(MARGIN.chars().count() + 2)).len()
        + 2;
    u16::try_from(wanted.min(most.max(5))).unwrap_or(5)
}

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    if area.height < 3 {
        return;
    }
    let queue = model.queue();
    let Some(item) = model.selected_item() else { return };
    let title = format!("Needs you ({})", queue.len());
    let inner = paper.frame(area, &title, model.focus == FocusedFrame::Queue);
    let room = usize::from(inner.height);
    // The question gets its lines before the rest of the list.
    let lines = body(model, item, usize::from(inner.width).saturating_sub(MARGIN.chars().count()));
    let options = lines.last().is_some_and(|(_, is_options)| *is_options);
    let listed = room.saturating_sub(lines.len()).clamp(1, queue.len().clamp(1, LISTED)).min(room);
    let mut y = 0;
    for at in window(queue.len(), model.item_at(), listed) {
        let one = queue[at];
        let line = row(inner, y);
        paper.spans(line, &headline(model, paper, one));
        paper.right(line, &when(model, one), paper.theme.dim);
        paper.target(line, ClickTarget::Item(at));
        let is_selected = one.key == item.key;
        if is_selected && model.focus == FocusedFrame::Queue {
            paper.select(line);
        }
        y += 1;
        if is_selected {
            let below = queue.len().min(listed).saturating_sub(usize::from(y));
            let space = room.saturating_sub(usize::from(y) + below);
            y += draw_body(model, paper, inner, y, space, &lines, options);
        }
        if usize::from(y) >= room {
            break;
        }
    }
}

/// Returns `◆ permission  Falcon (claude)  Bash: rm -rf build`.
fn headline(model: &Model, paper: &Canvas<'_>, item: &Item) -> Vec<Span> {
    let theme = paper.theme;
    let (mark, style) = match item.kind {
        kind if kind.is_asking() => ("◆", theme.warn),
        kind if kind.is_failure() => ("✗", theme.bad),
        ItemKind::Limit => ("◷", theme.bad),
        ItemKind::Contest => ("⇄", theme.warn),
        ItemKind::Mail => ("»", theme.accent),
        ItemKind::Collision => ("≍", theme.warn),
        _ => ("✓", theme.good),
    };
    let cli = item.cli.as_ref().map_or_else(String::new, |cli| format!(" ({cli})"));
    let tool = item.tool.as_ref().map_or_else(String::new, |tool| format!("{tool}: "));
    let muted = model.agent_named(&item.agent).is_some_and(|agent| model.muted.contains(&agent.key));
    let style = if muted { theme.dim } else { style };
    vec![
        (format!(" {mark} {} ", fit(item.kind.words(), 11)), style),
        (format!("{}{cli}  ", item.agent), theme.bold),
        (tool, theme.accent),
        (text::one_line(&item.text, 300), theme.plain),
    ]
}

/// Returns the time that is left for the item, else its age.
fn when(model: &Model, item: &Item) -> String {
    let left = item.until.map(|until| until.since(model.now).max(0));
    match (left, item.since) {
        (Some(0), _) => " time is up ".to_owned(),
        (Some(left), _) if item.kind == ItemKind::Limit => format!(" resets in {} ", text::age(left)),
        (Some(left), _) => format!(" {} left ", super::words::took(left)),
        (None, Some(since)) => format!(" {} ", text::age(model.now.since(since))),
        (None, None) => String::new(),
    }
}

/// Returns the lines of the full question and its options; the flag tells whether a line is the options.
fn body(model: &Model, item: &Item, width: usize) -> Vec<(String, bool)> {
    let mut lines: Vec<(String, bool)> = Vec::new();
    let given = match model.input.as_ref().map(|input| &input.purpose) {
        Some(InputPurpose::Answer { item: key, given }) if *key == item.key => given.len(),
        _ => 0,
    };
    let is_long = item.text.lines().count() > 1 || item.text.len() > width / 2;
    if is_long {
        lines.extend(wrap(item.text.trim_end(), width).into_iter().map(|line| (line, false)));
    }
    let options = match item.questions.get(given) {
        Some((question, options)) if item.questions.len() > 1 => {
            let count = item.questions.len();
            let asked = format!("{} of {count}: {question}", given + 1);
            lines.extend(wrap(&asked, width).into_iter().map(|line| (line, false)));
            options
        }
        _ => &item.options,
    };
    let told = match (&item.kind, &item.about) {
        (ItemKind::Contest | ItemKind::Collision, _) => "a shows what you can do".to_owned(),
        (_, About::Message(_)) => "a answers it".to_owned(),
        (_, About::Run(_)) => "a shows its result".to_owned(),
        _ if options.is_empty() => "a answers with a text".to_owned(),
        _ => String::new(),
    };
    if options.is_empty() || !told.is_empty() {
        lines.push((told, true));
    } else {
        let shown = options.iter().enumerate().map(|(at, option)| format!("{} {option}", at + 1));
        lines.push((shown.collect::<Vec<_>>().join("\u{1f}"), true));
    }
    lines
}

/// Draws the question, cut if necessary so that the options are always visible. Returns the number of lines
/// drawn.
fn draw_body(
    model: &Model,
    paper: &mut Canvas<'_>,
    inner: Rect,
    top: u16,
    room: usize,
    lines: &[(String, bool)],
    has_options: bool,
) -> u16 {
    if room == 0 {
        return 0;
    }
    let theme = paper.theme;
    let text_lines = lines.len() - usize::from(has_options);
    let shown = text_lines.min(room.saturating_sub(usize::from(has_options)));
    let mut y = top;
    for (at, (line, _)) in lines[..shown].iter().enumerate() {
        let area = row(inner, y);
        let is_cut = at + 1 == shown && shown < text_lines;
        let line = if is_cut { format!("{line} … ({} more)", text_lines - shown) } else { line.clone() };
        paper.spans(area, &[(MARGIN.into(), theme.dim), (line, theme.plain)]);
        y += 1;
    }
    if has_options && usize::from(y - top) < room {
        let area = row(inner, y);
        let is_answering =
            matches!(model.input.as_ref().map(|input| &input.purpose), Some(InputPurpose::Answer { .. }));
        let (line, _) = &lines[lines.len() - 1];
        let mut x = area.x + 3;
        if !is_answering && line.contains('\u{1f}') {
            x = paper.text(x, area.y, area.right().saturating_sub(x), " a, then", theme.accent);
        }
        for (at, option) in line.split('\u{1f}').enumerate() {
            if at > 0 {
                x = paper.text(x, area.y, area.right().saturating_sub(x), "·", theme.dim);
            }
            let from = x;
            let style = if is_answering { theme.accent } else { theme.plain };
            x = paper.text(x, area.y, area.right().saturating_sub(x), &format!(" {option} "), style);
            paper.target(Rect { x: from, width: x - from, height: 1, y: area.y }, ClickTarget::Option(at));
        }
        y += 1;
    }
    y - top
}
