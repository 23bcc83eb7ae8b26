//! Draws the screen: a pure function from a model to cells.

mod agents;
mod detail;
mod feed;
mod input;
mod knowledge;
mod messages;
mod overlay;
pub(crate) mod paper;
mod queue;
mod radar;
mod reservations;
mod runs;
mod settings;
mod tasks;
mod theme;
mod words;

use consort_core::presence::Status;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use crate::ClickTarget;
use crate::FocusedFrame;
use crate::Model;
use crate::Panel;
use crate::keys;
use crate::keys::KeyAction;
use paper::Canvas;
use paper::cells;
use paper::row;
use theme::Theme;

pub(crate) use words::status_word;

/// The smallest terminal in which the whole screen can be used.
pub const SMALLEST: (u16, u16) = (60, 20);

/// The areas of a drawn screen that can be clicked, and the place of the cursor.
#[derive(Debug, Default)]
pub struct Drawn {
    pub targets: Vec<(Rect, ClickTarget)>,
    pub cursor: Option<(u16, u16)>,
}

/// Draws the whole screen.
pub fn draw(model: &Model, buffer: &mut Buffer) -> Drawn {
    let area = buffer.area;
    let mut paper = Canvas { buffer, theme: Theme::of(model.colours), targets: Vec::new(), cursor: None };
    if area.width < 30 || area.height < 8 {
        let (columns, rows) = SMALLEST;
        paper.text(0, 0, area.width, &format!("Needs {columns}×{rows}."), paper.theme.plain);
        return Drawn::default();
    }
    title(model, &mut paper, row(area, 0));
    panels(model, &mut paper, row(area, 1));
    let bottom = input::height(model, area.width).min(area.height / 2);
    let middle = Rect { y: area.y + 2, height: area.height - 2 - bottom, ..area };
    let queue_height = queue::height(model, middle).min(middle.height);
    queue::draw(model, &mut paper, Rect { height: queue_height, ..middle });
    let main = Rect { y: middle.y + queue_height, height: middle.height - queue_height, ..middle };
    match model.panel {
        Panel::Agents => agents::draw(model, &mut paper, main),
        Panel::Messages => messages::draw(model, &mut paper, main),
        Panel::Tasks => tasks::draw(model, &mut paper, main),
        Panel::Reservations => reservations::draw(model, &mut paper, main),
        Panel::Radar => radar::draw(model, &mut paper, main),
        Panel::Runs => runs::draw(model, &mut paper, main),
        Panel::Knowledge => knowledge::draw(model, &mut paper, main),
        Panel::Settings => settings::draw(model, &mut paper, main),
        Panel::Feed => feed::draw(model, &mut paper, main),
    }
    input::draw(model, &mut paper, Rect { y: area.bottom() - bottom, height: bottom, ..area });
    overlay::draw(model, &mut paper, area);
    Drawn { targets: paper.targets, cursor: paper.cursor }
}

/// Draws the title line: `consort · shop  ◆ 1 waiting  ● 2 working   » 2 unread`.
fn title(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let theme = paper.theme;
    let scope = model.scope.as_deref().unwrap_or("all projects");
    let x = paper.spans(area, &[("consort".into(), theme.bar), (format!(" · {scope}  "), theme.plain)]);
    let rest = Rect { x, width: area.right() - x, ..area };
    if let Some(trouble) = &model.trouble {
        paper.spans(rest, &[(trouble.clone(), theme.bad)]);
        return;
    }
    // A filter hides rows, and changes nothing about who is here.
    let agents: Vec<_> = model.data.agents.iter().filter(|agent| model.is_in_scope(&agent.project)).collect();
    let mut spans = Vec::new();
    for status in [Status::Waiting, Status::Stuck, Status::Working, Status::Idle, Status::Away] {
        let count = agents.iter().filter(|agent| agent.status == status).count();
        if count > 0 {
            let style = words::status_style(&theme, status);
            let text = format!("{} {count} {}  ", words::status_mark(status), status_word(status));
            spans.push((text, style));
        }
    }
    if spans.is_empty() {
        spans.push(((if model.is_loaded { "no agents" } else { "…" }).into(), theme.dim));
    }
    paper.spans(rest, &spans);
    let unread = model.data.messages.iter().filter(|message| message.is_unread).count();
    let mut told = Vec::new();
    if !model.filter.is_empty() {
        told.push(format!("/{}", model.filter));
    }
    let elsewhere = match &model.scope {
        Some(scope) => model
            .data
            .agents
            .iter()
            .filter(|agent| agent.project != *scope && agent.status != Status::Gone)
            .count(),
        None => 0,
    };
    if elsewhere > 0 {
        told.push(format!("p: {elsewhere} elsewhere"));
    }
    if unread > 0 {
        told.push(format!("» {unread} unread"));
    }
    paper.right(area, &told.join("  "), theme.accent);
}

/// The length in which the panels' names are shown.
#[derive(Clone, Copy)]
enum Form {
    Full,
    Medium,
    Short,
}

/// Draws the names of the panels, `1 Agents  2 Messages (3)  3 Tasks …`, in the longest form that fits.
fn panels(model: &Model, paper: &mut Canvas<'_>, area: Rect) {
    let theme = paper.theme;
    let unread = model.data.messages.iter().filter(|message| message.is_unread).count();
    let count = |panel: Panel| match panel {
        Panel::Messages => unread,
        Panel::Tasks => model.data.tasks.iter().filter(|task| task.state != crate::TaskColumn::Done).count(),
        Panel::Reservations => model.data.reservations.len(),
        Panel::Radar => model.data.pairs.iter().filter(|pair| pair.number.is_some()).count(),
        Panel::Runs => model.data.runs.iter().filter(|run| !run.has_ended).count(),
        _ => 0,
    };
    let name = |panel: Panel, form: Form| {
        let (at, title) = (panel.index() + 1, panel.title());
        let count = match (count(panel), form) {
            (0, _) | (_, Form::Medium | Form::Short) => String::new(),
            (count, Form::Full) => format!(" ({count})"),
        };
        match form {
            Form::Full => format!(" {at} {title}{count} "),
            Form::Medium => format!("{at} {} ", if title.len() > 8 { panel.short_title() } else { title }),
            Form::Short => format!("{at}{} ", panel.short_title()),
        }
    };
    let names = |form: Form| Panel::ALL.map(|panel| name(panel, form));
    let fits = |names: &[String; 9]| names.iter().map(|name| cells(name)).sum::<u16>() <= area.width;
    let forms = [Form::Full, Form::Medium].map(names);
    let shown = forms.into_iter().find(fits).unwrap_or_else(|| names(Form::Short));
    let mut x = area.x;
    for (panel, name) in Panel::ALL.into_iter().zip(shown) {
        let style = if panel == model.panel { theme.selected } else { theme.plain };
        let from = x;
        x = paper.text(x, area.y, area.right().saturating_sub(x), &name, style);
        paper.target(Rect { x: from, width: x - from, ..area }, ClickTarget::Panel(panel));
    }
}

/// Draws the frame of a panel, and returns the area inside.
fn panel_frame(model: &Model, paper: &mut Canvas<'_>, area: Rect, title: &str) -> Rect {
    paper.frame(area, title, model.focus == FocusedFrame::Main && model.input.is_none())
}

/// Draws lines that say what to do in a panel with nothing to show.
fn teach(paper: &mut Canvas<'_>, area: Rect, lines: &[&str]) {
    let style = paper.theme.dim;
    let height = u16::try_from(lines.len()).unwrap_or(0);
    let top = area.height.saturating_sub(height) / 3;
    for (y, line) in (area.y + top..area.bottom()).zip(lines) {
        let x = area.x + area.width.saturating_sub(cells(line)) / 2;
        paper.text(x, y, area.right() - x, line, style);
    }
}

/// Says that no row here passes the filter, and in which panels some do.
fn no_match(model: &Model, paper: &mut Canvas<'_>, area: Rect, what: &str) {
    let none = format!("No {what} matches /{}. Esc clears it.", model.filter);
    let found: Vec<String> = model
        .matching_panels()
        .into_iter()
        .map(|(panel, count)| format!("{} {} ({count})", panel.index() + 1, panel.title()))
        .collect();
    match found.is_empty() {
        true => teach(paper, area, &[&none]),
        false => teach(paper, area, &[&none, "", &format!("It is found in {}.", found.join(", "))]),
    }
}

/// Returns the keys that are useful here, each with its label, such as `m` and `message`.
fn hints(model: &Model) -> Vec<(&'static str, &'static str)> {
    let key = keys::key_spelling;
    let mut hints = Vec::new();
    if !model.filter.is_empty() && model.focus == FocusedFrame::Main && !model.is_detail_open {
        hints.push((key(KeyAction::Back), "clear the filter"));
    }
    if !model.queue().is_empty() {
        hints.push((key(KeyAction::NextItem), "next"));
        hints.push((key(KeyAction::Answer), "answer"));
    }
    let of_panel: &[(KeyAction, &str)] = match model.panel {
        _ if model.focus == FocusedFrame::Queue => {
            &[(KeyAction::Message, "message"), (KeyAction::Focus, "its pane"), (KeyAction::Back, "back")]
        }
        Panel::Agents if model.is_detail_open => &[
            (KeyAction::Right, "tab"),
            (KeyAction::Down, "scroll"),
            (KeyAction::Message, "message"),
            (KeyAction::Back, "back"),
        ],
        Panel::Agents => &[
            (KeyAction::Open, "details"),
            (KeyAction::Right, "tab"),
            (KeyAction::Message, "message"),
            (KeyAction::Broadcast, "to all"),
            (KeyAction::Focus, "its pane"),
            (KeyAction::Interrupt, "interrupt"),
            (KeyAction::HandOver, "hand over"),
            (KeyAction::New, "new"),
            (KeyAction::Sort, "sort"),
        ],
        Panel::Messages => &[
            (KeyAction::Open, "write"),
            (KeyAction::Right, "next tab"),
            (KeyAction::Reply, "reply"),
            (KeyAction::Broadcast, "to all"),
        ],
        Panel::Tasks => &[(KeyAction::Task, "propose"), (KeyAction::Message, "message")],
        Panel::Reservations => &[
            (KeyAction::Open, "explain"),
            (KeyAction::Override, "override"),
            (KeyAction::Message, "message"),
        ],
        Panel::Radar => &[(KeyAction::Open, "why"), (KeyAction::Message, "message")],
        Panel::Runs => {
            &[(KeyAction::Open, "result"), (KeyAction::New, "new"), (KeyAction::Interrupt, "stop")]
        }
        Panel::Knowledge => &[(KeyAction::Open, "search")],
        Panel::Settings => &[(KeyAction::Open, "change")],
        Panel::Feed => &[(KeyAction::Right, "next agent"), (KeyAction::Open, "whole entry")],
    };
    hints.extend(of_panel.iter().map(|(action, about)| (key(*action), *about)));
    hints.extend([(key(KeyAction::Filter), "filter"), (key(KeyAction::Command), "command")]);
    hints
}
