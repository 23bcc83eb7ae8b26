//! Handles clicks and the wheel of the mouse.

use crossterm::event::MouseButton;
use crossterm::event::MouseEvent;
use crossterm::event::MouseEventKind;
use ratatui_core::layout::Position;

use super::actions;
use super::moves;
use super::overlays;
use super::typing;
use crate::ChatTab;
use crate::ClickTarget;
use crate::Effect;
use crate::FocusedFrame;
use crate::InputPurpose;
use crate::Model;
use crate::Overlay;
use crate::Panel;

/// The number of rows that a turn of the wheel moves.
const WHEEL: isize = 3;

pub(super) fn on_mouse(model: &mut Model, mouse: &MouseEvent) -> Vec<Effect> {
    let at = Position::new(mouse.column, mouse.row);
    let target =
        model.targets.iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| target.clone());
    match mouse.kind {
        MouseEventKind::Down(MouseButton::Left) => {
            model.came_from = None;
            target.map_or_else(Vec::new, |target| click(model, target))
        }
        MouseEventKind::ScrollUp => wheel(model, target, -WHEEL),
        MouseEventKind::ScrollDown => wheel(model, target, WHEEL),
        _ => Vec::new(),
    }
}

fn click(model: &mut Model, target: ClickTarget) -> Vec<Effect> {
    // A window over the panels takes all clicks.
    if let Some(overlay) = &model.overlay {
        if let (Overlay::Choose { options, .. }, ClickTarget::Choice(at)) = (overlay, &target)
            && let Some((_, choice)) = options.get(*at)
        {
            let choice = choice.clone();
            return overlays::take(model, choice);
        }
        return Vec::new();
    }
    match target {
        ClickTarget::Panel(panel) => {
            model.input = None;
            moves::show(model, panel);
        }
        ClickTarget::Item(at) => {
            let key = model.queue().get(at).map(|item| item.key.clone());
            let is_again = model.focus == FocusedFrame::Queue && model.item == key;
            model.item = key;
            model.focus = FocusedFrame::Queue;
            if is_again {
                return actions::answer(model);
            }
        }
        ClickTarget::Option(at) => return click_option(model, at),
        ClickTarget::Agent(key) => {
            model.focus = FocusedFrame::Main;
            if model.agent.as_ref() == Some(&key) {
                return actions::open(model);
            }
            model.agent = Some(key);
        }
        ClickTarget::Row(at) => {
            model.focus = FocusedFrame::Main;
            if model.row() == at && model.panel != Panel::Messages {
                return actions::open(model);
            }
            model.rows[model.panel.index()] = at;
        }
        ClickTarget::DetailTab(tab) => model.tab = tab,
        ClickTarget::Detail | ClickTarget::Choice(_) => {}
        ClickTarget::Chat(tab) => {
            model.chat = tab;
            model.scroll = 0;
            model.input = None;
        }
        ClickTarget::InputLine => {
            if model.input.is_none() {
                return actions::open(model);
            }
        }
    }
    Vec::new()
}

/// Answers the selected item with the option that was clicked.
fn click_option(model: &mut Model, at: usize) -> Vec<Effect> {
    if !matches!(model.input.as_ref().map(|input| &input.purpose), Some(InputPurpose::Answer { .. })) {
        let effects = actions::answer(model);
        if model.input.is_none() {
            return effects;
        }
    }
    let Some(item) = model.selected_item() else { return Vec::new() };
    let given = match model.input.as_ref().map(|input| &input.purpose) {
        Some(InputPurpose::Answer { given, .. }) => given.clone(),
        _ => return Vec::new(),
    };
    match typing::options(item, &given).get(at).cloned() {
        Some(option) => typing::answer(model, &option),
        None => Vec::new(),
    }
}

fn wheel(model: &mut Model, target: Option<ClickTarget>, by: isize) -> Vec<Effect> {
    if let Some(Overlay::Help { scroll } | Overlay::Page { scroll, .. }) = &mut model.overlay {
        *scroll = scroll.saturating_add_signed(by);
        return Vec::new();
    }
    match target {
        Some(ClickTarget::Item(_) | ClickTarget::Option(_)) => {
            model.focus = FocusedFrame::Queue;
            moves::step(model, by.signum());
        }
        Some(ClickTarget::Detail) if model.panel == Panel::Agents => {
            model.scroll = model.scroll.saturating_add_signed(by);
        }
        _ if model.panel == Panel::Messages && model.chat != ChatTab::Agents => {
            model.scroll = model.scroll.saturating_add_signed(-by);
        }
        _ => (0..by.unsigned_abs()).for_each(|_| {
            if model.focus == FocusedFrame::Main {
                moves::step(model, by.signum());
            }
        }),
    }
    Vec::new()
}
