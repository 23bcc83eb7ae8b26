//! Draws the tasks of all specs, as a board by state or as a list.

use consort_core::text;
use ratatui_core::layout::Rect;

use super::no_match;
use super::panel_frame;
use super::paper::Canvas;
use super::paper::row;
use super::paper::window;
use super::teach;
use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;
use crate::TaskColumn;
use crate::TaskInfo;

pub(super) fn draw(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let tasks = model.tasks();
    if tasks.is_empty() {
        let inner = panel_frame(model, paper, area, "Tasks");
        if !model.filter.is_empty() {
            no_match(model, paper, inner, "task");
            return;
        }
        teach(
            paper,
            inner,
            &[
                "No agent works from a spec.",
                "",
                "A spec is a file with tasks: `- [ ] TASK-01: the login page`.",
                "An agent takes its tasks from one with `consort agent join --spec login.md`.",
            ],
        );
        return;
    }
    match area.width >= 100 {
        true => board(model, paper, area),
        false => list(model, paper, area, &tasks),
    }
}

/// Draws a column for each state.
fn board(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let width = area.width / 4;
    for (at, state) in (0..).zip(TaskColumn::ALL) {
        let x = area.x + at * width;
        let width = if at == 3 { area.right() - x } else { width };
        let tasks = model.tasks_in(state);
        let has_selected = tasks.iter().any(|(index, _)| *index == model.row());
        let title = format!("{} ({})", state.words(), tasks.len());
        let is_focused = has_selected && model.focus == FocusedFrame::Main;
        let inner = paper.frame(Rect { x, width, ..area }, &title, is_focused);
        let selected = tasks.iter().position(|(index, _)| *index == model.row()).unwrap_or(0);
        let cards = usize::from(inner.height / 3).max(1);
        for (slot, card) in (0..).zip(window(tasks.len(), selected, cards)) {
            let (index, task) = tasks[card];
            let area = Rect { y: inner.y + slot * 3, height: 3.min(inner.height), ..inner };
            draw_card(model, paper, area, task);
            paper.target(area, ClickTarget::Row(index));
            if index == model.row() && model.focus == FocusedFrame::Main {
                paper.select(Rect { height: 2.min(area.height), ..area });
            }
        }
    }
}

fn draw_card(model: &Model, paper: &mut Canvas<'_>, area: Rect, task: &TaskInfo) {
    let theme = paper.theme;
    paper.spans(row(area, 0), &[(format!("{} ", task.id), theme.bold), (task.title.clone(), theme.plain)]);
    if area.height > 1 {
        paper.spans(row(area, 1), &[(format!("  {}", standing(model, task)), theme.dim)]);
    }
}

/// Returns the spec of a task that is ready, the agent that has or has done it, or the tasks that it waits
/// for.
fn standing(model: &Model, task: &TaskInfo) -> String {
    let who = task.who.as_deref().unwrap_or("somebody");
    let at = task.at.map_or_else(String::new, |at| format!(", {}", text::ago(model.now.since(at))));
    let words = task.words.as_ref().map_or_else(String::new, |words| format!(": {words}"));
    match task.state {
        TaskColumn::Ready => task.spec.clone(),
        TaskColumn::Done if task.who.is_none() => format!("ticked in {}", task.spec),
        TaskColumn::Claimed | TaskColumn::Done => format!("{who}{at}{words}"),
        TaskColumn::Blocked => format!("after {}", text::first_few(task.waits_for.iter().cloned(), 3)),
    }
}

/// Draws one list with a heading for each state, for terminals too narrow for four columns.
fn list(model: &Model, paper: &mut Canvas<'_>, area: Rect, tasks: &[&TaskInfo]) {
    let done = tasks.iter().filter(|task| task.state == TaskColumn::Done).count();
    let inner = panel_frame(model, paper, area, &format!("Tasks, {done} of {} done", tasks.len()));
    let mut rows: Vec<(Option<usize>, TaskColumn)> = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        if at == 0 || tasks[at - 1].state != task.state {
            rows.push((None, task.state));
        }
        rows.push((Some(at), task.state));
    }
    let selected = rows.iter().position(|(at, _)| *at == Some(model.row())).unwrap_or(0);
    let theme = paper.theme;
    for (y, shown) in (0..).zip(window(rows.len(), selected, usize::from(inner.height))) {
        let line = row(inner, y);
        match rows[shown] {
            (None, state) => {
                paper.spans(line, &[(state.words().to_owned(), theme.dim)]);
            }
            (Some(at), _) => {
                let task = tasks[at];
                let spans = [
                    (format!("  {} ", task.id), theme.bold),
                    (format!("{}  ", task.title), theme.plain),
                    (standing(model, task), theme.dim),
                ];
                paper.spans(line, &spans);
                paper.target(line, ClickTarget::Row(at));
                if at == model.row() && model.focus == FocusedFrame::Main {
                    paper.select(line);
                }
            }
        }
    }
}
