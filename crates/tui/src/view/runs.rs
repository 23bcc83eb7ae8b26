//! Draws the runs: a card for each that is running or has ended just now, and a line for each earlier run.

use consort_core::Timestamp;
use consort_core::text;
use ratatui_core::layout::Rect;

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
use crate::RunInfo;

/// The height of a card, in lines.
const CARD: u16 = 4;

/// The time without output after which a run may hang.
const SILENT: i64 = 60 * Timestamp::SECOND;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let runs = model.runs();
    let inner = panel_frame(model, paper, area, "Runs");
    if runs.is_empty() {
        teach(
            paper,
            inner,
            &[
                "No runs.",
                "",
                "n starts one: a task that an agent does without a terminal.",
                "Or `:run --detach 'explain how the tests are started'`.",
            ],
        );
        return;
    }
    let cards = runs.iter().take_while(|run| model.has_card(run)).count();
    let is_selected = |at: usize| at == model.row() && model.focus == FocusedFrame::Main;
    // Cards are side by side if the panel is wide enough.
    let per_row = (inner.width / 50).max(1);
    let width = inner.width / per_row;
    let room = (inner.height.saturating_sub(2) / CARD).max(1);
    let first =
        (u16::try_from(model.row().min(cards)).unwrap_or(0) / per_row).saturating_sub(room.saturating_sub(1));
    let mut bottom = inner.y;
    for (at, run) in runs.iter().enumerate().take(cards) {
        let slot = u16::try_from(at).unwrap_or(u16::MAX);
        let Some(line) = (slot / per_row).checked_sub(first).filter(|line| *line < room) else { continue };
        let area =
            Rect { x: inner.x + slot % per_row * width, y: inner.y + line * CARD, width, height: CARD };
        let area = area.intersection(inner);
        draw_card(model, paper, area, run, is_selected(at));
        paper.target(area, ClickTarget::Row(at));
        bottom = area.bottom();
    }
    let rest = Rect { y: bottom, height: inner.bottom() - bottom, ..inner };
    let selected = model.row().saturating_sub(cards);
    for (y, at) in (0..).zip(window(runs.len() - cards, selected, usize::from(rest.height))) {
        let (line, at) = (row(rest, y), at + cards);
        paper.spans(line, &ended(model, paper, runs[at]));
        paper.target(line, ClickTarget::Row(at));
        if is_selected(at) {
            paper.select(line);
        }
    }
}

/// Draws the card of a run: its mark, state, CLI, model, duration, tokens and turns, and its present work.
fn draw_card(model: &Model, paper: &mut Canvas<'_>, area: Rect, run: &RunInfo, is_selected: bool) {
    let title = format!("{} {} {}", run.mark, run.number, run.name);
    let inner = paper.frame(area, &title, is_selected);
    let theme = paper.theme;
    let of = run.model.as_ref().map_or_else(|| run.cli.clone(), |model| format!("{} {model}", run.cli));
    let took = run.started_at.map_or_else(
        || "not started".to_owned(),
        |started| words::took(run.ended_at.unwrap_or(model.now).since(started)),
    );
    let mut parts = vec![format!("{of} · {}", run.role), took];
    parts.extend(run.tokens.map(|tokens| format!("{} tokens", words::short_number(tokens))));
    parts.extend(run.turns.map(|turns| text::counted_noun(turns as usize, "turn")));
    parts.extend(run.cost.map(words::money));
    if inner.height > 0 {
        let (health, style) = health(model, run);
        let style = match style {
            HealthColour::Good => theme.good,
            HealthColour::Doubtful => theme.warn,
            HealthColour::Bad => theme.bad,
        };
        paper.spans(row(inner, 0), &[(format!("{health} "), style), (parts.join(" · "), theme.plain)]);
    }
    if inner.height > 1 {
        let doing =
            if run.doing.is_empty() { run.title.clone() } else { format!("{} — {}", run.title, run.doing) };
        paper.spans(row(inner, 1), &[(text::one_line(&doing, 300), theme.dim)]);
    }
}

enum HealthColour {
    Good,
    Doubtful,
    Bad,
}

fn health(model: &Model, run: &RunInfo) -> (String, HealthColour) {
    match run.heard_at.map(|at| model.now.since(at)) {
        _ if run.has_ended && run.is_well => (run.state.clone(), HealthColour::Good),
        _ if run.has_ended => (run.state.clone(), HealthColour::Bad),
        Some(silence) if silence > SILENT => {
            (format!("silent {}", text::age(silence)), HealthColour::Doubtful)
        }
        _ => (run.state.clone(), HealthColour::Good),
    }
}

/// Returns the line of a run that has ended.
fn ended(model: &Model, paper: &Canvas<'_>, run: &RunInfo) -> Vec<Span> {
    let theme = paper.theme;
    let style = if run.is_well { theme.good } else { theme.bad };
    let took = run.started_at.zip(run.ended_at).map(|(started, ended)| words::took(ended.since(started)));
    let ago = run.ended_at.map_or_else(String::new, |at| text::ago(model.now.since(at)));
    let cost = run.cost.map_or_else(String::new, words::money);
    vec![
        (format!(" {} ", run.mark), style),
        (format!("{:>3} {} ", run.number, fit(&run.name, 14)), theme.bold),
        (format!("{} {} ", fit(&run.cli, 8), fit(&run.state, 11)), style),
        (format!("{:>7} {:>7} {} ", took.unwrap_or_default(), cost, fit(&ago, 8)), theme.dim),
        (text::one_line(&run.title, 200), theme.plain),
    ]
}
